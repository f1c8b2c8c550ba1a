// Moves and results in words, for the eye and for screen readers.

import { BLACK, SIDES, WHITE } from "/static/engine/rules.js";
import { joinWords } from "/static/position.js";

export const UNFINISHED = "*";
export const DRAW = "1/2-1/2";
export const WIN = ["1-0", "0-1"]; // by Black, by White
const REASONS = {
  "no pieces": (loser) => `${loser} has no pieces left`,
  "no legal move": (loser) => `${loser} cannot move`,
  repetition: () => "the same position has come up for the third time",
  "no progress": () => "40 moves by each side without a capture or a man's advance",
  "max moves": () => "the game has reached its number of moves",
};

export const texts = (moves) => moves.map(({ text }) => text);
const isKing = ({ kings }, square) => (kings >>> (square - 1) & 1) === 1;

const sideAt = ({ black, white }, square) => {
  if (black >>> (square - 1) & 1) return BLACK;
  return white >>> (square - 1) & 1 ? WHITE : null;
};

// A sentence about a move, before the board makes it.
export const describeMove = (board, { squares, captured, row }) => {
  const [start, ...path] = squares;
  const piece = isKing(board, start) ? "king" : "man";
  const promotes = piece === "man" && isKing({ kings: row[2] }, path.at(-1));
  const verb = `${captured.length ? "jumps" : "moves"} from ${start} to ${joinWords(path, "then")}`;
  const capture = captured.length ? `, capturing on ${joinWords(captured)}` : "";
  return `${SIDES[board.turn]}'s ${piece} ${verb}${capture}${promotes ? ", and becomes a king" : ""}.`;
};

// A sentence about the captures of the side to move; an empty text without a capture.
export const explainForcedCapture = (board) => {
  const moves = board.legalMoves;
  if (!moves[0]?.captured.length) return "";
  const isMultiple = moves.some(({ squares }) => squares.length > 2);
  const rest = isMultiple ? " A capture goes on as long as the same piece can jump." : "";
  return `${SIDES[board.turn]} must capture: ${joinWords(texts(moves), "or")}.${rest}`;
};

// Why these squares are not a whole legal move.
export const explainIllegalMove = (board, squares) => {
  const [side, start, end] = [SIDES[board.turn], squares[0], squares.at(-1)];
  const owner = sideAt(board, start);
  if (owner === null) return `There is no piece on ${start}.`;
  if (owner !== board.turn) return `The piece on ${start} is ${SIDES[owner]}'s, and ${side} is to move.`;
  const moves = board.legalMoves.filter((move) => move.squares[0] === start);
  if (!moves.length) {
    const captures = explainForcedCapture(board);
    return captures ? `${captures} The piece on ${start} cannot.` : `The piece on ${start} is blocked.`;
  }
  const longer = moves.filter((move) => squares.every((square, index) => move.squares[index] === square));
  if (squares.length > 1 && longer.length) return `The capture is not finished: ${joinWords(texts(longer), "or")}.`;
  const choice = `The piece on ${start} can go ${joinWords(texts(moves), "or")}.`;
  if (moves[0].captured.length) return `A capture must be made when there is one. ${choice}`;
  if (sideAt(board, end) !== null && squares.length > 1) return `Square ${end} is taken. ${choice}`;
  const [piece, steps] = isKing(board, start) ? ["king", "in any diagonal direction"] : ["man", "diagonally forward"];
  return `A ${piece} goes one square ${steps}. ${choice}`;
};

// A sentence about the end of a game; `turn` is the side to move there.
export const describeOutcome = ({ winner, reason }, turn) => {
  const words = REASONS[reason](SIDES[turn]);
  return winner === null ? `Drawn: ${words}.` : `${SIDES[winner]} wins: ${words}.`;
};

// The result in PDN's notation, and the end of the game in words.
export const boardResult = (board) => {
  const outcome = board.outcome();
  if (!outcome) return [UNFINISHED, ""];
  return [outcome.winner === null ? DRAW : WIN[outcome.winner], describeOutcome(outcome, board.turn)];
};
