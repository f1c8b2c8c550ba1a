// Page "Analyse": both sides are free, positions can be edited, and agents give their opinions.

import { Board } from "/static/board.js";
import { agentChooser } from "/static/chooser.js";
import { byId, createElement, onSubmit, showError } from "/static/dom.js";
import { ExplanationPanel } from "/static/explanation.js";
import { describeView, lowerFirst, moverOf, toBlack } from "/static/opinion.js";
import { formatSigned, moveNodes, showBar } from "/static/panels.js";
import { pieceName, readFen, rowOf, writeFen } from "/static/position.js";
import { Replay } from "/static/replay.js";
import { request } from "/static/server.js";

const LINES = 3;
const REST = 150; // milliseconds that a position stays on the board before the judge is asked
const START = byId("board").dataset.start;

const address = Object.fromEntries(new URLSearchParams(location.search)); // {fen, agent, other} from another page
[address.agent, address.other].forEach((name, index) => {
  const choice = document.querySelectorAll("[data-field=agent]")[index];
  if ([...choice.options].some(({ value }) => value === name)) choice.value = name;
});

let frames = [{ fen: START, move: null }]; // the moves so far, as the server's last answer
let cells = null; // of the editor, or null
let asked = 0; // positions shown: a later one drops the answers for an earlier one

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

const movesTo = (ply) => frames.slice(1, ply + 1).map(({ move }) => move.text);

// Show the positions that the server makes of {start, moves} or {pdn}, and put `at` on the board.
async function load(body, at = null) {
  showError(null);
  try {
    const game = await request("/api/position", body);
    frames = game.frames;
    leaveEditor();
    byId("record").hidden = frames.length < 2;
    byId("opening").textContent = game.opening;
    byId("status").textContent = game.reason || game.forced_capture || `${moverOf(frames.at(-1).fen) === "black" ? "Black" : "White"} to move.`;
    replay.open(frames, { at: at ?? frames.length - 1 });
    return true;
  } catch (error) {
    showError(error);
    if (cells) showEditor();
    else replay.go(replay.ply); // clears the chosen squares
    return false;
  }
}

function play({ text }) {
  return load({ start: frames[0].fen, moves: [...movesTo(replay.ply), text] });
}

// Any position of the game can be played on: its legal moves come with the first look at it.
async function showFrame({ fen, legal }, ply) {
  byId("back").disabled = ply === 0 || cells !== null;
  for (const { view } of opinions) view.textContent = "";
  showPlayLink();
  if (cells) {
    showEditor();
    return;
  }
  showInside();
  showLines(fen, ply);
  if (legal || ply === frames.length - 1) return;
  const { frames: before } = await request("/api/position", { start: frames[0].fen, moves: movesTo(ply) }).catch(() => ({ frames: [{}] }));
  const here = frames[ply];
  if (replay.ply !== ply || here?.fen !== fen || !before.at(-1).legal) return;
  board.show({ fen, last: here.move, legal: before.at(-1).legal, flipped: replay.flipped });
}

// The position on the board, or the one in the editor.
const currentFen = () => (cells ? writeFen(document.querySelector("[name=turn]:checked").value, cells) : frames[replay.ply].fen);

function showPlayLink() {
  byId("play").href = `/?fen=${encodeURIComponent(currentFen())}`;
}

// The judge's best moves, and the bar. The judge is not asked for positions that are only stepped over.
async function showLines(fen, ply) {
  asked += 1;
  const number = asked;
  const list = byId("lines");
  list.style.minHeight = `${list.offsetHeight}px`; // so that nothing moves below it
  list.replaceChildren();
  byId("verdict").textContent = "…";
  await new Promise((done) => { setTimeout(done, REST); });
  if (number !== asked) return;
  try {
    const { lines, exact } = await request("/api/analysis", { start: frames[0].fen, moves: movesTo(ply), lines: LINES, nodes: 100_000 });
    if (number !== asked) return;
    const black = toBlack(fen, exact ? exact.value : lines[0].score);
    byId("verdict").textContent = describeView(fen, { black, exact });
    showBar(byId("bar"), black, "black", "Black by Strong's view", replay.flipped);
    list.style.minHeight = "";
    list.replaceChildren(...lines.map((line) => lineItem(fen, line)));
  } catch (error) {
    if (number !== asked) return;
    byId("verdict").textContent = error.message;
    list.style.minHeight = "";
    showBar(byId("bar"), null, "black", "Strong", replay.flipped);
  }
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
  const { ply } = replay;
  const { fen } = frames[ply];
  const number = asked;
  await Promise.all(opinions.map(async ({ read, view }) => {
    view.textContent = "…";
    try {
      const { label, lines: [{ score, pv }] } = await request("/api/analysis", { start: frames[0].fen, moves: movesTo(ply), ...read().player });
      if (number !== asked) return;
      const words = score === null ? "gives no evaluation"
        : `${formatSigned(toBlack(fen, score))} for Black, ${lowerFirst(describeView(fen, { black: toBlack(fen, score), exact: null }))}`;
      view.replaceChildren(`${label}: ${words}. It would play `, ...moveNodes(pv), ".");
    } catch (error) {
      if (number === asked) view.textContent = error.message;
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
  forgetAnswers();
  byId("ask").disabled = byId("back").disabled = true;
  byId("status").textContent = "Click on squares to put pieces there, or to take them away.";
  showEditor();
}

// Of a position that is edited nothing is known yet.
function forgetAnswers() {
  asked += 1;
  byId("lines").replaceChildren();
  byId("verdict").textContent = "";
  showBar(byId("bar"), null, "black", "Strong", replay.flipped);
  for (const { view } of opinions) view.textContent = "";
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
onSubmit(byId("editor"), () => {
  load({ start: currentFen() });
});
for (const field of document.querySelectorAll("[name=turn]")) field.addEventListener("change", showEditor);

// Other controls

byId("back").addEventListener("click", () => load({ start: frames[0].fen, moves: movesTo(replay.ply - 1) }));
byId("start").addEventListener("click", () => load({}));
byId("ask").addEventListener("click", askOthers);
onSubmit(byId("load"), () => {
  const text = byId("text").value.trim();
  if (!text) showError(new Error("Give a position (FEN) or a game (PDN)."));
  else load(/^[BW]:/i.test(text) ? { start: text } : { pdn: text });
});
byId("show-fen").addEventListener("click", () => { byId("text").value = currentFen(); });
byId("show-pdn").addEventListener("click", async () => {
  try {
    const { pdn } = await request("/api/compare/pdn", { black: "?", white: "?", start: frames[0].fen, moves: movesTo(frames.length - 1) });
    byId("text").value = pdn;
  } catch (error) {
    showError(error);
  }
});
for (const id of ["record", "board"]) byId(id).addEventListener("keydown", replay.onKey);

replay.open(frames, { flipped: true });
load(address.fen ? { start: address.fen } : {});
