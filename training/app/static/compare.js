// Two agents play each other: the moves are asked for one by one, and shown as they come.

import { Board } from "/static/board.js";
import { agentChooser, openingChooser } from "/static/chooser.js";
import { draw, element } from "/static/dom.js";
import { Replay } from "/static/replay.js";
import { ask, download } from "/static/server.js";
import { showBar, showPlate, showThought, signed } from "/static/told.js";

const SIDES = ["black", "white"];

const players = Object.fromEntries(SIDES.map((side) =>
  [side, agentChooser(document.querySelector(`[data-side="${side}"]`))]));
const openingWanted = openingChooser(element("setup"));

let game = null; // {black, white, seed, opening, frames, players, result}
let running = false;
let asking = false;
let starts = 0; // how often they were told to go on: only the last time counts
let ongoing = Promise.resolve(); // the move that was asked for last

const board = new Board(element("board"));
const replay = new Replay({
  board, controls: element("controls"), score: element("score"), onShow: showFrame,
});

const moverOf = (fen) => (fen.startsWith("B") ? "black" : "white");
const other = (side) => (side === "black" ? "white" : "black");

function complain(error) {
  element("error").hidden = !error;
  element("error").textContent = error?.message ?? "";
}

async function begin(event) {
  event.preventDefault();
  complain(null);
  try {
    const wanted = Object.fromEntries(SIDES.map((side) => [side, players[side]().player]));
    const told = await ask("/api/compare", { ...wanted, ...openingWanted() });
    game = { ...told, players: wanted, result: "*" };
    element("new").open = false;
    for (const id of ["thoughts", "evaluations", "record", "save"]) element(id).hidden = false;
    replay.open(game.frames, { at: game.frames.length - 1 });
    element("status").textContent = "";
    run();
  } catch (error) {
    complain(error);
  }
}

// Moves until somebody pauses, the game is over or another one begins.
async function run() {
  starts += 1;
  const mine = starts;
  running = true;
  showActions();
  await ongoing;
  while (running && mine === starts && game.result === "*") {
    ongoing = step();
    if (!await ongoing) break;
    await new Promise((resolve) => setTimeout(resolve, Number(element("pause").value) * 1000));
  }
  if (mine === starts) running = false;
  showActions();
}

// One move; false if there was none.
async function step() {
  if (asking || game.result !== "*") return false;
  const mine = game;
  const { frames, seed } = game;
  asking = true;
  showActions();
  complain(null);
  try {
    const told = await ask("/api/compare/move", {
      player: game.players[moverOf(frames.at(-1).fen)],
      start: frames[0].fen,
      moves: frames.slice(1).map(({ move }) => move.text),
      seed,
    });
    if (game !== mine) return false;
    frames.push(told.frame);
    game.result = told.result;
    replay.add(told.frame);
    element("status").textContent = told.message;
    return true;
  } catch (error) {
    complain(error);
    return false;
  } finally {
    asking = false;
    showActions();
  }
}

function showActions() {
  const goesOn = game !== null && game.result === "*";
  element("run").hidden = element("step").hidden = element("speed").hidden = !goesOn;
  element("run").textContent = running ? "Pause" : "Go on";
  element("step").disabled = running || asking;
  element("start").hidden = goesOn && running;
  element("start").textContent = game ? "New game" : "Let them play";
}

function showFrame(frame, ply) {
  const frames = game?.frames ?? [frame];
  const { flipped } = replay;
  const turn = moverOf(frame.fen);
  const over = game !== null && game.result !== "*" && ply === frames.length - 1;
  for (const side of SIDES) {
    const value = lastValue(frames, ply, side);
    const label = game ? game[side] : players[side]().label;
    showBar(element(`bar-${side}`), value, side, label, flipped);
    const plate = element((side === "black") === flipped ? "below" : "above");
    showPlate(plate, side, label, value === null ? "" : signed(value), { turn: !over && side === turn });
  }
  const mover = other(turn);
  showThought(frame.thought ?? null, game?.[mover], ply ? "This move is of the opening." : "");
  drawChart(frames, ply);
}

// What a side's agent said of its last move, by the position of that ply.
function lastValue(frames, ply, side) {
  for (let at = ply; at > 0; at -= 1) {
    if (moverOf(frames[at].fen) === other(side) && frames[at].thought) return frames[at].thought.value;
  }
  return null;
}

function drawChart(frames, ply) {
  const chart = element("chart");
  const most = Math.max(frames.length - 1, 1);
  const lines = SIDES.map((side) => {
    const points = frames.flatMap(({ fen, thought }, at) => {
      if (moverOf(fen) !== other(side) || !thought || thought.value === null) return [];
      const worth = side === "black" ? thought.value : -thought.value;
      return [`${(100 * at) / most},${50 - 48 * worth}`];
    });
    return draw("polyline", { points: points.join(" "), class: side });
  });
  const at = (100 * ply) / most;
  chart.replaceChildren(
    draw("line", { x1: 0, x2: 100, y1: 50, y2: 50, "vector-effect": "non-scaling-stroke" }),
    draw("line", { x1: at, x2: at, y1: 0, y2: 100, class: "now" }),
    ...lines);
  const told = SIDES.map((side) => lastValue(frames, ply, side));
  const words = told.map((value) => (value === null ? "none" : signed(value)));
  chart.setAttribute("aria-label",
    `Evaluations after ${ply} moves: ${words[0]} for Black by Black's agent, ${words[1]} for White by White's`);
}

async function savePdn() {
  complain(null);
  try {
    const { black, white, frames } = game;
    const moves = frames.slice(1).map(({ move }) => move.text);
    const { pdn } = await ask("/api/compare/pdn", { black, white, start: frames[0].fen, moves });
    download("game.pdn", pdn);
  } catch (error) {
    complain(error);
  }
}

element("setup").addEventListener("submit", begin);
element("setup").addEventListener("change", () => { if (!game) replay.go(0); });
element("run").addEventListener("click", () => {
  if (running) running = false;
  else run();
  showActions();
});
element("step").addEventListener("click", () => { ongoing = step(); });
element("pdn").addEventListener("click", savePdn);
for (const id of ["record", "board"]) element(id).addEventListener("keydown", replay.onKey);

replay.open([{ fen: element("board").dataset.start, move: null }], { flipped: true });
element("status").textContent = "Choose two agents, and let them play.";
