// Page "Rules and story": a small board on which a capture is forced.

import { Board } from "/static/board.js";
import { byId } from "/static/dom.js";
import { request } from "/static/server.js";

const LESSON = "B:W17,25,28:B14,12";
const HINT = byId("lesson").textContent;

const board = new Board(byId("board"), { label: "Board with a forced capture", onMove: play, onIllegal: explain });

const showError = (text) => {
  byId("error").hidden = !text;
  byId("error").textContent = text;
};

async function show(moves, text) {
  try {
    const { frames, forced_capture: forced } = await request("/api/position", { start: LESSON, moves });
    const { fen, move, legal } = frames.at(-1);
    board.show({ fen, last: move, legal: moves.length ? [] : legal, flipped: true });
    byId("lesson").textContent = text;
    showError("");
    return forced;
  } catch (error) {
    return showError(error.message);
  }
}

function play({ text }) {
  show([text], `Well done: ${text} captures two men, and the man becomes a king.`);
}

async function explain() {
  await show([], HINT);
  showError("That is not legal: the man on 14 must capture, and go on until it can jump no more.");
}

byId("again").addEventListener("click", () => show([], HINT));
show([], HINT);
