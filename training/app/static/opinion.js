// Who is better: the view of the judge, `strong` or the endgame tables, from -1 (White wins) to +1, and in words.

import { SIDES } from "/static/engine/rules.js";
import { createBoard, questionOf } from "/static/game.js";
import { request } from "/static/server.js";

export const JUDGE = "Strong";
const EQUAL = 0.12; // differences of the value below which nobody is better
const BETTER = 0.35;
const WINNING = 0.65;
const CACHE = 2000; // analyses
const LINES_NODES = 100_000; // positions for all moves of a position together

export const moverOf = (fen) => (fen.startsWith("B") ? "black" : "white");
export const toBlack = (fen, score) => (score === null || fen.startsWith("B") ? score : -score);

// A phrase for the middle of a sentence; the names of the sides stay capitals.
export const lowerFirst = (text) => (/^(Black|White)/.test(text) ? text : text[0].toLowerCase() + text.slice(1));

// "Black is winning"; `score` is Black's.
const describeBalance = (score) => {
  const side = SIDES[Number(score < 0)];
  const size = Math.abs(score);
  if (size < EQUAL) return "About equal";
  if (size < BETTER) return `${side} is slightly better`;
  if (size < WINNING) return `${side} is better`;
  return size < 1 ? `${side} is winning` : `${side} wins: the end is in sight`;
};

// The same from an analysis {score, exact} of the position `fen`.
export const describeView = (fen, { black, exact }) => {
  if (!exact) return describeBalance(black);
  if (!exact.value) return exact.plies === 0 ? "Drawn" : "Drawn, if both play perfectly";
  const winner = SIDES[Number(fen.startsWith("B") !== exact.value > 0)];
  if (exact.plies === 0) return `${winner} has won`;
  const moves = Math.ceil(exact.plies / 2);
  return `${winner} wins in ${moves} ${moves === 1 ? "move" : "moves"}, if both play perfectly`;
};

const kindOf = (score) => (Math.abs(score) < EQUAL ? 0 : Math.sign(score) * (Math.abs(score) < WINNING ? 1 : 2));

// What it means that an agent and the judge differ; both numbers are Black's. An empty text if they agree.
// The score of a piece counter is a 64th of the men that it expects to be ahead: no matter of degree.
export const explainDifference = (label, agentScore, judgeScore, countsPieces = false) => {
  const [agent, judge] = [kindOf(agentScore), kindOf(judgeScore)];
  if (Math.abs(agent - judge) < 2) return "";
  if (countsPieces && agent === 0) {
    const men = Math.abs(64 * agentScore);
    const count = men ? `${SIDES[Number(agentScore < 0)]} ahead by ${men} ${men === 1 ? "man" : "men"}` : "both sides with as many pieces";
    return `${label} only counts pieces, a king as one and a half: it expects ${count}.`;
  }
  const reason = Math.abs(agentScore) > 0.9
    ? "Evolved networks often answer close to −1 or +1, even where nothing is decided: only the order of their answers was selected."
    : "It may have seen a shorter way ahead, or it counts what does not matter here.";
  return `${label} differs: it thinks “${lowerFirst(describeBalance(agentScore))}”. ${reason} ${JUDGE} is the better guide.`;
};

const cache = new Map();

// The judge's analysis of frames[ply]: {black, exact, pv, move}; `black` is Black's value.
export const askJudge = async (frames, ply, nodes, signal) => {
  const board = createBoard(frames[0].fen, frames.slice(1, ply + 1).map(({ move }) => move));
  const outcome = board.outcome();
  if (outcome) {
    const value = outcome.winner === null ? 0 : outcome.winner === board.turn ? 1 : -1;
    return { black: toBlack(board.fen, value), exact: { value, plies: 0 } };
  }
  const question = { ...questionOf(frames[0].fen, board, 0), nodes };
  const key = JSON.stringify(question);
  if (!cache.has(key)) {
    const { score, exact, pv, move } = await request("/api/analysis", question, signal);
    if (cache.size >= CACHE) cache.delete(cache.keys().next().value);
    cache.set(key, { black: toBlack(board.fen, exact ? exact.value : score), exact, pv, move: board.parseMove(move) });
  }
  return cache.get(key);
};

// The judge's view of every legal move, the best first: {move, score, pv}. The position after it is analysed, for the
// side that replies, with an equal part of the positions.
export const askLines = async (start, board, signal) => {
  const moves = board.outcome() ? [] : board.legalMoves;
  const nodes = Math.floor(LINES_NODES / moves.length);
  const lines = await Promise.all(moves.map(async (move) => {
    const after = createBoard(start, [...board.moves, move]);
    const outcome = after.outcome();
    if (outcome) return { move, score: outcome.winner === null ? 0 : 1, pv: [move.text] };
    const { score, pv } = await request("/api/analysis", { ...questionOf(start, after, 0), nodes }, signal);
    return { move, score: score === null ? null : -score, pv: [move.text, ...pv] };
  }));
  return lines.sort((one, other) => (other.score ?? -2) - (one.score ?? -2));
};
