// Page "Rules and story": a small board on which a capture is forced.

import { Board } from "/static/board.js";
import { byId, showError } from "/static/dom.js";
import { createBoard } from "/static/game.js";

const LESSON = "B:W17,25,28:B14,12";
const HINT = byId("lesson").textContent;

const board = new Board(byId("board"), { label: "Board with a forced capture", onMove: play, onIllegal: explain });

function show(moves, text) {
  const lesson = createBoard(LESSON, moves);
  board.show({ fen: lesson.fen, last: moves[0], legal: moves.length ? [] : lesson.legalMoves, flipped: true });
  byId("lesson").textContent = text;
  showError(null);
}

function play(move) {
  show([move], `Well done: ${move.text} captures two men, and the man becomes a king.`);
}

function explain() {
  show([], HINT);
  showError(new Error("That is not legal: the man on 14 must capture, and go on until it can jump no more."));
}

byId("again").addEventListener("click", () => show([], HINT));
show([], HINT);
