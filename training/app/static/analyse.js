// Page "Analyse": both sides are free, positions can be edited, and agents give their opinions.

import { Board } from "/static/board.js";
import { agentChooser } from "/static/chooser.js";
import { byId, createElement, onSubmit, showError } from "/static/dom.js";
import { framesOf, rowOf, SIDES, START } from "/static/engine/rules.js";
import { ExplanationPanel } from "/static/explanation.js";
import { createBoard, questionOf } from "/static/game.js";
import { askJudge, askLines, describeView, lowerFirst, toBlack } from "/static/opinion.js";
import { formatSigned, moveNodes, showBar } from "/static/panels.js";
import { readPdn, writePdn } from "/static/pdn.js";
import { pieceName, readFen, writeFen } from "/static/position.js";
import { Replay } from "/static/replay.js";
import { request } from "/static/server.js";
import { boardResult, explainForcedCapture, texts } from "/static/words.js";

const LINES = 3;
const REST = 150; // milliseconds that a position stays on the board before the judge is asked
const OPENINGS = JSON.parse(byId("opening").dataset.names);

const address = Object.fromEntries(new URLSearchParams(location.search)); // {fen, agent, other} from another page
[address.agent, address.other].forEach((name, index) => {
  const choice = document.querySelectorAll("[data-field=agent]")[index];
  if ([...choice.options].some(({ value }) => value === name)) choice.value = name;
});

let frames = [{ fen: START, move: null }]; // the moves so far
let cells = null; // of the editor, or null
let asking = new AbortController(); // of the questions about the position that is shown

const say = (text) => { byId("live").textContent = text; };
const board = new Board(byId("board"), {
  label: "Analysis board", onMove: play, onSquare: put, onSay: say,
  onIllegal: (squares) => showError(new Error(`${squares.join("-")} is not a legal move here.`)),
});
const replay = new Replay({ board, controls: byId("controls"), score: byId("score"), onShow: showFrame });
const opinions = [...document.querySelectorAll("[data-opinion]")].map((form, index) => {
  const small = new Board(form.querySelector("[data-board]"), { label: `Board of player ${index + 1}` });
  const choose = (name) => opinions.forEach(({ inside }) => inside.choose(name)); // the same on both boards
  form.querySelector("[data-field=agent]").addEventListener("change", () => showInside());
  return {
    read: agentChooser(form), view: form.querySelector("[data-view]"), small,
    inside: new ExplanationPanel(small, form, { say, onChoice: choose }),
  };
});

const boardAt = (ply) => createBoard(frames[0].fen, frames.slice(1, ply + 1).map(({ move }) => move));

// Show the positions of a game, and put the last one on the board. Return false if there is no such game.
function load(start, moves = []) {
  showError(null);
  try {
    const game = createBoard(start, moves);
    const [, reason] = boardResult(game);
    frames = framesOf(start, game.moves);
    frames.at(-1).legal = reason ? [] : game.legalMoves;
    leaveEditor();
    byId("record").hidden = frames.length < 2;
    byId("opening").textContent = frames[0].fen === START ? OPENINGS[texts(game.moves.slice(0, 3)).join(" ")] ?? "" : "";
    byId("status").textContent = reason || explainForcedCapture(game) || `${SIDES[game.turn]} to move.`;
    replay.open(frames, { at: frames.length - 1 });
    return true;
  } catch (error) {
    showError(error);
    if (cells) showEditor();
    else replay.go(replay.ply); // clears the chosen squares
    return false;
  }
}

function play(move) {
  return load(frames[0].fen, [...boardAt(replay.ply).moves, move]);
}

// Any position of the game can be played on.
function showFrame({ fen, move }, ply) {
  byId("back").disabled = ply === 0 || cells !== null;
  for (const { view } of opinions) view.textContent = "";
  showPlayLink();
  if (cells) {
    showEditor();
    return;
  }
  if (ply < frames.length - 1) board.show({ fen, last: move, legal: boardAt(ply).legalMoves, flipped: replay.flipped });
  showInside();
  showLines(fen, ply);
}

// The position on the board, or the one in the editor.
const currentFen = () => (cells ? writeFen(document.querySelector("[name=turn]:checked").value, cells) : frames[replay.ply].fen);

function showPlayLink() {
  byId("play").href = `/?fen=${encodeURIComponent(currentFen())}`;
}

// The judge's best moves, and the bar. The judge is not asked for positions that are only stepped over.
async function showLines(fen, ply) {
  const control = askAnew();
  const list = byId("lines");
  list.style.minHeight = `${list.offsetHeight}px`; // so that nothing moves below it
  list.replaceChildren();
  byId("verdict").textContent = "…";
  await new Promise((done) => { setTimeout(done, REST); });
  if (control.signal.aborted) return;
  let black = null;
  try {
    const [view, lines] = await Promise.all([askJudge(frames, ply, null, control.signal), askLines(frames[0].fen, boardAt(ply), control.signal)]);
    if (control.signal.aborted) return;
    black = view.black;
    byId("verdict").textContent = describeView(fen, view);
    list.replaceChildren(...lines.slice(0, LINES).map((line) => lineItem(fen, line)));
  } catch (error) {
    if (control.signal.aborted) return;
    byId("verdict").textContent = error.message;
  }
  list.style.minHeight = "";
  showBar(byId("bar"), black, "black", "Black by Strong's view", replay.flipped);
}

// Drop the questions about the position before.
function askAnew() {
  asking.abort();
  asking = new AbortController();
  return asking;
}

const lineItem = (fen, { move, score, pv }) => {
  const button = createElement("button", { type: "button", title: "Play this move" },
    createElement("b", {}, `${formatSigned(toBlack(fen, score))} `, ...moveNodes(pv.slice(0, 1))), " ", ...moveNodes(pv.slice(1)));
  button.addEventListener("click", () => play(move));
  for (const name of ["pointerenter", "focus"]) button.addEventListener(name, () => board.point(move));
  for (const name of ["pointerleave", "blur"]) button.addEventListener(name, () => board.point(null));
  return createElement("li", {}, button);
};

function showInside() {
  const { fen, move } = frames[replay.ply];
  for (const { read, small, inside } of opinions) {
    small.show({ fen, last: move, flipped: replay.flipped });
    inside.show(read().player.agent, fen);
  }
}

async function askOthers() {
  const { fen } = frames[replay.ply];
  const question = questionOf(frames[0].fen, boardAt(replay.ply), 0);
  const { signal } = asking;
  await Promise.all(opinions.map(async ({ read, view }) => {
    view.textContent = "…";
    try {
      const { label, score, pv } = await request("/api/analysis", { ...read().player, ...question }, signal);
      if (signal.aborted) return;
      const words = score === null ? "gives no evaluation"
        : `${formatSigned(toBlack(fen, score))} for Black, ${lowerFirst(describeView(fen, { black: toBlack(fen, score), exact: null }))}`;
      view.replaceChildren(`${label}: ${words}. It would play `, ...moveNodes(pv), ".");
    } catch (error) {
      if (!signal.aborted) view.textContent = error.message;
    }
  }));
}

// Editor

function showEditor() {
  board.show({ fen: currentFen(), flipped: replay.flipped, editing: true });
  showPlayLink();
}

// A man on its last row is a king.
const crown = (piece, square) => (rowOf(square) === { b: 7, w: 0 }[piece] ? piece.toUpperCase() : piece);

function put(square) {
  const piece = crown(document.querySelector("[name=piece]:checked").value, square);
  cells[square] = cells[square] === piece ? "" : piece;
  showEditor();
  say(`${square}: ${pieceName(cells[square])}`);
}

function enterEditor() {
  const { turn, cells: present } = readFen(frames[replay.ply].fen);
  cells = present;
  document.querySelector(`[name=turn][value=${turn.toUpperCase()}]`).checked = true;
  byId("editor").hidden = false;
  byId("edit").setAttribute("aria-pressed", "true");
  askAnew(); // nothing is known yet of a position that is edited
  byId("lines").replaceChildren();
  byId("verdict").textContent = "";
  showBar(byId("bar"), null, "black", "Strong", replay.flipped);
  for (const { view } of opinions) view.textContent = "";
  byId("ask").disabled = byId("back").disabled = true;
  byId("status").textContent = "Click on squares to put pieces there, or to take them away.";
  showEditor();
}

function leaveEditor() {
  cells = null;
  byId("ask").disabled = false;
  byId("editor").hidden = true;
  byId("edit").setAttribute("aria-pressed", "false");
}

byId("edit").addEventListener("click", () => {
  if (!cells) return enterEditor();
  leaveEditor();
  return replay.go(replay.ply);
});
byId("clear").addEventListener("click", () => {
  cells.fill("");
  showEditor();
});
onSubmit(byId("editor"), () => load(currentFen()));
for (const field of document.querySelectorAll("[name=turn]")) field.addEventListener("change", showEditor);

// Other controls

byId("back").addEventListener("click", () => load(frames[0].fen, boardAt(replay.ply - 1).moves));
byId("start").addEventListener("click", () => load(START));
byId("ask").addEventListener("click", askOthers);
onSubmit(byId("load"), () => {
  const text = byId("text").value.trim();
  try {
    if (!text) throw new Error("Give a position (FEN) or a game (PDN).");
    const { start, moves } = /^[BW]:/i.test(text) ? { start: text } : readPdn(text);
    load(start, moves);
  } catch (error) {
    showError(error);
  }
});
byId("show-fen").addEventListener("click", () => { byId("text").value = currentFen(); });
byId("show-pdn").addEventListener("click", () => {
  const game = boardAt(frames.length - 1);
  byId("text").value = writePdn({ Event: "Analysis", Site: "checkers-play" }, frames[0].fen, texts(game.moves), boardResult(game)[0]);
});
for (const id of ["record", "board"]) byId(id).addEventListener("keydown", replay.onKey);

replay.open(frames, { flipped: true });
load(address.fen ?? START);
