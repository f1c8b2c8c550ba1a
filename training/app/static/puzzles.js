// Page "Puzzles": positions in which only one move wins, found by training/app/puzzle_finder.py.

import { Board } from "/static/board.js";
import { byId, createElement, showError } from "/static/dom.js";
import { framesOf, START } from "/static/engine/rules.js";
import { createBoard } from "/static/game.js";
import { moverOf } from "/static/opinion.js";
import { describePosition } from "/static/position.js";
import { Replay } from "/static/replay.js";
import { playMove } from "/static/sound.js";
import { readStored, store } from "/static/storage.js";

const FILE = "/static/puzzles.json";
const SOLVED = "puzzles-solved"; // key in the browser's storage
const REPLY = 700; // milliseconds before the opponent's reply
const LEVELS = [["Easy", 10], ["Medium", 30], ["Hard", Infinity]]; // positions of Strong's search, at most

let puzzles = [];
let number = 0; // of the puzzle on the board
let frames = []; // the positions of its solution and of the moves behind it
let isOver = false; // it is solved, or its solution is shown
let hints = 0; // for the present move
let opened = 0; // puzzles so far: a later one drops the answers for an earlier one

const say = (text) => { byId("live").textContent = text; };
const board = new Board(byId("board"), { label: "Puzzle", onMove: play, onIllegal: explain, onSay: say });
const replay = new Replay({ board, controls: byId("controls"), score: byId("score"), onShow: showFrame });

// `kind` is "right", "wrong" or nothing.
function showStatus(text, kind = "") {
  byId("status").textContent = text;
  byId("status").dataset.kind = kind;
}

const stored = readStored(SOLVED);
const solved = new Set(Array.isArray(stored) ? stored : []); // FENs

const isMoves = (list) => Array.isArray(list) && list.every((move) => typeof move === "string");

const isPuzzle = ({ fen, line, rest, players, move, nodes } = {}) => typeof fen === "string" && isMoves(line)
  && line.length % 2 === 1 && isMoves(rest) && isMoves(players) && players.length === 2 && move > 0 && nodes > 0;

async function loadPuzzles() {
  let response;
  try {
    response = await fetch(FILE);
  } catch {
    throw new Error("The puzzles cannot be loaded: there is no connection.");
  }
  if (!response.ok) throw new Error(`The puzzles cannot be loaded: status ${response.status}.`);
  const list = await response.json().catch(() => null);
  if (!Array.isArray(list) || !list.length || !list.every((each) => each && isPuzzle(each))) {
    throw new Error("The file of the puzzles is damaged. Load the page again, or install it again.");
  }
  return list;
}

const levelOf = ({ nodes }) => LEVELS.find(([, most]) => nodes <= most)[0];
const mover = () => (moverOf(puzzles[number].fen) === "black" ? "Black" : "White");
const opponent = () => (mover() === "Black" ? "White" : "Black");

const legalAfter = (ply) => {
  const { fen, line } = puzzles[number];
  return createBoard(fen, line.slice(0, ply)).legalMoves;
};

function open(index) {
  begin();
  number = index;
  const { fen, line, rest } = puzzles[number];
  history.replaceState(null, "", `#${number + 1}`);
  isOver = false;
  try {
    frames = framesOf(fen, [...line, ...rest]);
    replay.open([{ ...frames[0], legal: legalAfter(0) }], { flipped: mover() === "Black" });
    showStatus(`${mover()} to move. Only one move wins: find it.`);
    showPuzzle();
  } catch (error) {
    showError(error);
  }
}

// Count an action that ends what was going on; return whether it is still the last one.
function begin() {
  opened += 1;
  const own = opened;
  hints = 0;
  showError(null);
  return () => own === opened;
}

async function play(move) {
  const { line } = puzzles[number];
  const ply = replay.frames.length - 1;
  if (move.text !== line[ply]) {
    replay.go(ply); // puts the piece back
    showStatus(`${move.text} does not win. Try again.`, "wrong");
    return;
  }
  const isCurrent = begin();
  replay.add(frames[ply + 1], { animate: false });
  playMove(move, ply + 1 === line.length);
  if (ply + 1 === line.length) return finish();
  showStatus(`Right: ${move.text}.`, "right");
  await new Promise((done) => { setTimeout(done, REPLY); });
  if (!isCurrent()) return;
  replay.add({ ...frames[ply + 2], legal: legalAfter(ply + 2) });
  playMove(frames[ply + 2].move);
  showStatus(`Right: ${move.text}. ${opponent()} answers ${line[ply + 1]}. And now?`, "right");
}

function explain(squares) {
  showStatus(`${squares.join("-")} is not a legal move here.`, "wrong");
  replay.go(replay.frames.length - 1);
}

function finish() {
  const { fen, rest } = puzzles[number];
  isOver = true;
  solved.add(fen);
  store(SOLVED, [...solved]);
  replay.open(frames, { at: replay.ply });
  showStatus(`Solved!${rest.length ? " Step on to see how the game could end." : ""}`, "right");
  showPuzzle();
}

function showSolution() {
  const { line } = puzzles[number];
  const ply = isOver ? 0 : replay.frames.length - 1;
  begin();
  isOver = true;
  replay.open(frames, { at: ply });
  replay.play();
  showStatus(`The solution: ${line.join(" ")}.`);
  showPuzzle();
}

// First the piece, then the move.
function showHint() {
  const ply = replay.frames.length - 1;
  replay.go(ply);
  const { move } = frames[ply + 1];
  hints += 1;
  if (hints === 1) board.outline([move.squares[0]]);
  else board.point(move);
  showStatus(hints === 1 ? `Hint: move the piece on ${move.squares[0]}.` : `Hint: the move is ${move.text}.`);
}

// Display

function showFrame({ fen }) {
  byId("answer").textContent = "";
  board.outline([]);
  byId("hint").disabled = replay.frames.length % 2 === 0; // the opponent is about to move
  byId("analyse").href = `/analyse?fen=${encodeURIComponent(fen)}`;
  byId("record").hidden = replay.frames.length < 2;
}

function showPuzzle() {
  const { players, move, verified } = puzzles[number];
  byId("title").textContent = `Puzzle ${number + 1}`;
  byId("level").textContent = `${levelOf(puzzles[number]).toLowerCase()}${solved.has(puzzles[number].fen) ? ", solved" : ""}`;
  byId("game").textContent = `${players[0]}, Black, against ${players[1]}; move ${move}`;
  byId("verified").textContent = verified === "tables" ? "by the endgame tables"
    : `by a search of 200,000 positions for every move, at least ${verified} plies deep`;
  byId("actions").hidden = byId("details").hidden = false;
  byId("hint").hidden = byId("solution").hidden = isOver;
  byId("again").hidden = !isOver;
  byId("next").classList.toggle("primary", isOver);
  showCount();
}

function showCount() {
  const count = puzzles.filter(({ fen }) => solved.has(fen)).length;
  byId("count").textContent = `Solved ${count} of ${puzzles.length}`;
  [byId("progress").max, byId("progress").value] = [puzzles.length, count];
  const items = puzzles.map((puzzle, index) => [levelOf(puzzle), createElement("option",
    { value: index, textContent: `${index + 1}${solved.has(puzzle.fen) ? " ✓" : ""}`, selected: index === number })]);
  byId("choice").replaceChildren(...LEVELS.map(([label]) =>
    createElement("optgroup", { label }, ...items.filter(([level]) => level === label).map(([, option]) => option))));
}

// The next puzzle that is not solved, or else the next one.
const nextNumber = (from) => {
  const order = puzzles.map((_, index) => (from + index) % puzzles.length);
  return order.find((index) => !solved.has(puzzles[index].fen)) ?? order[0];
};

const openChosen = () => {
  const wanted = Number(location.hash.slice(1)) - 1;
  open(puzzles[wanted] ? wanted : nextNumber(0));
};

byId("next").addEventListener("click", () => open(nextNumber(number + 1)));
byId("again").addEventListener("click", () => open(number));
byId("hint").addEventListener("click", showHint);
byId("solution").addEventListener("click", showSolution);
byId("choice").addEventListener("change", ({ target }) => open(Number(target.value)));
byId("read").addEventListener("click", () => {
  byId("answer").textContent = describePosition(replay.frames[replay.ply].fen);
  say(byId("answer").textContent);
});
byId("record").addEventListener("keydown", replay.onKey);
addEventListener("hashchange", openChosen);

board.show({ fen: START, flipped: true });
try {
  puzzles = await loadPuzzles();
  openChosen();
} catch (error) {
  showStatus("");
  showError(error);
}
