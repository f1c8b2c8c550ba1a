// Page "Compare": two agents play each other, one request a move.

import { Board } from "/static/board.js";
import { agentChooser, openingChooser } from "/static/chooser.js";
import { byId, createSvg, download, onSubmit, showError } from "/static/dom.js";
import { framesOf, START } from "/static/engine/rules.js";
import { createBoard, questionOf, randomBelow } from "/static/game.js";
import { moverOf } from "/static/opinion.js";
import { formatSigned, showAnalysis, showBar, showPlate } from "/static/panels.js";
import { writePdn } from "/static/pdn.js";
import { Replay } from "/static/replay.js";
import { request } from "/static/server.js";
import { boardResult, describeMove, texts, UNFINISHED } from "/static/words.js";

const SIDES = ["black", "white"];

const agentReaders = Object.fromEntries(SIDES.map((side) =>
  [side, agentChooser(document.querySelector(`[data-side="${side}"]`))]));
const readOpening = openingChooser(byId("setup"));

let game = null; // {board, frames, players, black, white, seed, result}; `black` and `white` are labels
let running = false;
let waiting = false; // for the server's move
let runs = 0; // calls of run(): an earlier one stops when a later one begins
let lastStep = Promise.resolve();

const board = new Board(byId("board"));
const replay = new Replay({
  board, controls: byId("controls"), score: byId("score"), onShow: showFrame,
});

const other = (side) => (side === "black" ? "white" : "black");

async function start() {
  showError(null);
  try {
    const [black, white] = SIDES.map((side) => agentReaders[side]().player);
    const opening = readOpening();
    const [{ label: one }, { label: other }] = [await request("/api/player", black), await request("/api/player", white)];
    const begun = createBoard(opening.start, opening.moves);
    game = {
      board: begun, frames: framesOf(opening.start, begun.moves), players: { black, white }, black: one, white: other,
      seed: randomBelow(2 ** 32), result: UNFINISHED,
    };
    byId("new").open = false;
    for (const id of ["analysis", "evaluations", "record", "save"]) byId(id).hidden = false;
    replay.open(game.frames, { at: game.frames.length - 1 });
    byId("status").textContent = "";
    run();
  } catch (error) {
    showError(error);
  }
}

// Play until the user pauses, the game is over or another game begins.
async function run() {
  runs += 1;
  const number = runs;
  running = true;
  showActions();
  await lastStep;
  while (running && number === runs && game.result === UNFINISHED) {
    lastStep = step();
    if (!await lastStep) break;
    await new Promise((resolve) => setTimeout(resolve, Number(byId("pause").value) * 1000));
  }
  if (number === runs) running = false;
  showActions();
}

// Play one move; return false if there was none.
async function step() {
  if (waiting || game.result !== UNFINISHED) return false;
  const before = game;
  const { frames, seed } = game;
  waiting = true;
  showActions();
  showError(null);
  try {
    const question = questionOf(frames[0].fen, game.board, seed);
    const analysis = await request("/api/analysis", { ...game.players[moverOf(frames.at(-1).fen)], ...question });
    if (game !== before) return false;
    const move = game.board.parseMove(analysis.move);
    const sentence = describeMove(game.board, move);
    game.board.push(move);
    const [result, reason] = boardResult(game.board);
    const frame = { fen: game.board.fen, move, analysis };
    frames.push(frame);
    game.result = result;
    replay.add(frame);
    byId("status").textContent = `${sentence} ${reason}`.trim();
    return true;
  } catch (error) {
    showError(error);
    return false;
  } finally {
    waiting = false;
    showActions();
  }
}

function showActions() {
  const isUnfinished = game !== null && game.result === UNFINISHED;
  byId("run").hidden = byId("step").hidden = byId("speed").hidden = !isUnfinished;
  byId("run").textContent = running ? "Pause" : "Go on";
  byId("step").disabled = running || waiting;
  byId("start").hidden = isUnfinished && running;
  byId("start").classList.toggle("primary", !isUnfinished);
  byId("run").classList.toggle("primary", isUnfinished && !running);
  byId("start").textContent = game && !byId("new").open ? "Play again" : "Let them play";
}

function showFrame(frame, ply) {
  const frames = game?.frames ?? [frame];
  const { flipped } = replay;
  const turn = moverOf(frame.fen);
  const isOver = game !== null && game.result !== UNFINISHED && ply === frames.length - 1;
  for (const side of SIDES) {
    const score = lastScore(frames, ply, side);
    const label = game ? game[side] : agentReaders[side]().label;
    showBar(byId(`bar-${side}`), score, side, label, flipped);
    const plate = byId((side === "black") === flipped ? "below" : "above");
    const about = score === null ? "" : formatSigned(score);
    showPlate(plate, side, label, about, { turn: !isOver && side === turn });
  }
  const mover = other(turn);
  showAnalysis(frame.analysis ?? null, game?.[mover], ply ? "This move is of the opening." : "");
  plotScores(frames, ply);
  const [agent, rival] = SIDES.map((side) => (game?.players[side] ?? agentReaders[side]().player).agent);
  byId("inside").href = `/analyse?${new URLSearchParams({ fen: frame.fen, agent, other: rival })}`;
}

// The score of the last analysis by a side's agent, up to a ply; null if there is none.
function lastScore(frames, ply, side) {
  const played = frames.slice(0, ply + 1).filter(({ analysis }) => analysis);
  return played.findLast(({ fen }) => moverOf(fen) === other(side))?.analysis.score ?? null;
}

function plotScores(frames, ply) {
  const chart = byId("chart");
  const last = Math.max(frames.length - 1, 1);
  const lines = SIDES.map((side) => {
    const points = frames.flatMap(({ fen, analysis }, at) => {
      if (moverOf(fen) !== other(side) || !analysis || analysis.score === null) return [];
      const blackScore = side === "black" ? analysis.score : -analysis.score;
      return [`${(100 * at) / last},${50 - 48 * blackScore}`];
    });
    return createSvg("polyline", { points: points.join(" "), class: side });
  });
  const x = (100 * ply) / last;
  chart.replaceChildren(
    createSvg("line", { x1: 0, x2: 100, y1: 50, y2: 50, "vector-effect": "non-scaling-stroke" }),
    createSvg("line", { x1: x, x2: x, y1: 0, y2: 100, class: "now" }),
    ...lines);
  const scores = SIDES.map((side) => lastScore(frames, ply, side));
  const texts = scores.map((score) => (score === null ? "none" : formatSigned(score)));
  chart.setAttribute("aria-label",
    `Evaluations after ${ply} moves: ${texts[0]} for Black by Black's agent, ${texts[1]} for White by White's`);
}

function savePdn() {
  const { black, white, frames } = game;
  const [result, reason] = boardResult(game.board);
  const tags = { Event: "Two agents", Site: "checkers-play", Round: "-", Black: black, White: white, ...(reason && { Termination: reason }) };
  download("game.pdn", writePdn(tags, frames[0].fen, texts(game.board.moves), result));
}

onSubmit(byId("setup"), start);
byId("setup").addEventListener("change", () => { if (!game) replay.go(0); });
byId("run").addEventListener("click", () => {
  if (running) running = false;
  else run();
  showActions();
});
byId("new").addEventListener("toggle", showActions);
byId("step").addEventListener("click", () => { lastStep = step(); });
byId("pdn").addEventListener("click", savePdn);
for (const id of ["record", "board"]) byId(id).addEventListener("keydown", replay.onKey);

replay.open([{ fen: START, move: null }], { flipped: true });
byId("status").textContent = "Choose two agents, and let them play.";
