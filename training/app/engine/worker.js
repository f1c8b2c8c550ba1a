// Worker of the static page: agents that search, and explanations. Messages are
// {id, action, ...}; each is answered by {id, result} or {id, error}. {action: "stop", id} ends a search early.

import { CHECKSUMS } from "./catalog.js";
import { Material, Network, PieceSquares, SUBSQUARES } from "./evaluators.js";
import { BLACK, Board, ROW, SIDES } from "./rules.js";
import { chooseWithoutSearch, findMove, FULL_WIDTH, MAX_DEPTH, randomNumbers, Search, SELECTIVE, shuffleRows } from "./search.js";
import { loadWeights } from "./weights.js";

const PV_SECONDS = 1; // for the principal variation, at most
const ONLY_MOVE_DEPTH = 8;
const TABLE_BITS = 18; // of a selective search: 7 MB
// Parts of a move's share after which no deeper search starts, by the depths since its move changed.
const stretch = (stable) => Math.max(0.5, 2 - 0.25 * stable);

const players = new Map(); // by name: a promise of {evaluator, depth, isSelective, search}
const stops = new Set(); // ids of searches to end
const damaged = new Set(); // agents whose stored weight file was refused

/** The weight files of the site, by agent. */
export const WEIGHTS = new URL("../../weights/", import.meta.url);

const fetchWeights = async (name) => {
  let response;
  try {
    response = await fetch(new URL(`${name}.safetensors`, WEIGHTS), { cache: damaged.has(name) ? "reload" : "default" });
  } catch {
    throw new Error(`The weights of ${name} cannot be loaded: there is no connection, and they are not stored yet.`);
  }
  if (!response.ok) throw new Error(`The weights of ${name} cannot be loaded: status ${response.status}.`);
  return response.arrayBuffer();
};

export const readPlayer = async (name, weights) => {
  if (name === "material") return { evaluator: new Material(), depth: 4, isSelective: false };
  if (weights) return { evaluator: new Network(weights.network, weights.genome, weights.king), depth: 4, isSelective: false };
  const content = await fetchWeights(name);
  try {
    return await loadWeights(content, `${name}.safetensors`, CHECKSUMS[name]);
  } catch (error) {
    damaged.add(name);
    throw error;
  }
};

const makePlayer = async (name, weights) => {
  if (name === "random" || name === "heuristic") return { evaluator: null };
  const { evaluator, depth, isSelective } = await readPlayer(name, weights);
  const search = new Search(evaluator, isSelective ? { ...SELECTIVE, tableBits: TABLE_BITS } : FULL_WIDTH);
  return { evaluator, depth, isSelective, search, breaksTies: name === "material" };
};

// `weights` are those of a player that has no file: {network, genome, king, generation}.
const loadPlayer = (name, weights) => {
  const key = weights ? `${name} ${weights.generation} ${weights.genome[0]}` : name;
  if (!players.has(key)) {
    const player = makePlayer(name, weights);
    players.set(key, player);
    player.catch(() => players.delete(key)); // the next request tries again
  }
  return players.get(key);
};

const nextTask = () => new Promise((resolve) => { setTimeout(resolve, 0); });

// Run a search in slices until `isOver()`.
const runSlices = async (search, steps, isOver) => {
  let step = steps.next();
  let lastPause = performance.now();
  while (!step.done) {
    if (isOver()) search.isStopped = true;
    if (performance.now() - lastPause > 15) { // messages are read then
      await nextTask();
      lastPause = performance.now();
    }
    step = steps.next();
  }
  return step.value;
};

// Deepen within limits; return the move and the last complete depth.
const deepen = async (player, board, limits, random, isOver) => {
  const { search, isSelective, breaksTies } = player;
  const begun = performance.now();
  const most = Math.min(limits.depth ?? (limits.seconds || limits.nodes ? MAX_DEPTH : player.depth), MAX_DEPTH);
  let move = null;
  let [reached, stable] = [1, 0];
  for (let depth = limits.nodes ? most : 1; depth <= most; depth += 1) {
    const count = search.expandRoot(board);
    if (breaksTies) shuffleRows(search, count, random);
    const row = await runSlices(search, search.search(board, depth, count), () => move && isOver());
    const found = findMove(board, search.rows, row * ROW);
    if (search.isStopped && !isSelective) break;
    stable = found === move ? stable + 1 : 0;
    move = found;
    if (search.isStopped) break;
    reached = depth;
    const share = limits.share && limits.share * 1000 * stretch(stable);
    if (share && performance.now() - begun > share) break;
  }
  return { move, depth: reached };
};

// Make a move and the best play after it, by searches to one depth after another, until so many positions are visited.
const findLine = async (player, board, move, most, maxNodes) => {
  const { search } = player;
  let [line, reached] = [[], 0];
  const begun = performance.now();
  for (let depth = 1; depth <= most; depth += 1) {
    search.setHistory(board.earlierPositions());
    search.rows.set(move.row);
    const isOver = () => line.length > 0 && performance.now() - begun > PV_SECONDS * 1000;
    const deeper = await runSlices(search, search.principalVariation(board, depth, 1), isOver);
    const isStopped = search.isStopped;
    search.isStopped = false;
    if (isStopped || (line.length && (isOver() || (maxNodes && search.nodes > maxNodes)))) break;
    [line, reached] = [deeper, depth];
  }
  const { ply } = board;
  for (const row of line) board.push(findMove(board, row));
  return { pv: board.moves.slice(ply), reached };
};

const evaluatePosition = ({ evaluator }, position, view) => {
  const state = new Int32Array(evaluator.stateSize);
  evaluator.start(state, 0, position, view);
  return evaluator.evaluate(state, 0, position, view);
};

// The value of the last position of a line, for the side to move in the first.
const scoreLine = (player, turn, after) => {
  if (!after.legalMoves.length) return after.turn === turn ? -1 : 1;
  const stood = ({ black, white }) => black === after.black && white === after.white;
  const earlier = after.earlierPositions();
  if (player.isSelective && earlier.some((past, index) => (earlier.length - index) % 2 === 0 && stood(past))) return 0;
  return evaluatePosition(player, after, turn);
};

// A move with all its squares, which no other legal move has.
const writeMove = ({ squares, captured }) => squares.join(captured.length ? "x" : "-");

const createBoard = ({ start, moves, repetition, no_progress: noProgress }) => {
  const board = new Board(start, { repetition, noProgress });
  for (const move of moves) board.push(move);
  return board;
};

const analyseBoard = async (name, player, board, { limits, seed, blunder = 0 }, isStopped) => {
  const random = randomNumbers(seed + board.ply);
  const begun = performance.now();
  const seconds = () => (performance.now() - begun) / 1000;
  if (!player.search) {
    const move = chooseWithoutSearch(name, board, random);
    return { move: writeMove(move), score: null, pv: [move.text], depth: null, nodes: null, seconds: seconds() };
  }
  const { search } = player;
  const { turn } = board;
  search.clear();
  search.maxNodes = limits.nodes ?? 0;
  search.setHistory(board.earlierPositions());
  const isOnly = board.legalMoves.length === 1;
  const isOver = () => isStopped() || (limits.seconds && seconds() > limits.seconds);
  const isBlunder = blunder && random(1000) < 1000 * blunder;
  const { move, depth } = isOnly ? { move: board.legalMoves[0], depth: Math.min(limits.depth ?? ONLY_MOVE_DEPTH, ONLY_MOVE_DEPTH) }
    : isBlunder ? { move: board.legalMoves[random(board.legalMoves.length)], depth: 1 }
      : await deepen(player, board, limits, random, isOver);
  const [time, nodes] = [seconds(), search.nodes];
  search.reset();
  search.maxNodes = 0;
  const { pv, reached } = await findLine(player, board, move, limits.nodes ? limits.depth ?? MAX_DEPTH : depth, limits.nodes);
  return {
    move: writeMove(move), score: scoreLine(player, turn, board), pv: pv.map(({ text }) => text),
    depth: limits.nodes ? reached : depth, nodes, seconds: time,
  };
};

// Explanations (agents/explanation/evaluators.py)

const occupied = ({ black, white }) => Array.from({ length: 32 }, (_, index) => index).filter((index) => (black | white) >>> index & 1);
const without = ({ black, white, kings, turn }, bits) => ({ black: black & ~bits, white: white & ~bits, kings: kings & ~bits, turn });

// By square, how much lower a total is without the piece there.
const removalEffects = (position, total, measure) => occupied(position).map((index) =>
  ({ square: index + 1, contribution: total - measure(without(position, 1 << index)) }));

const subsquareLayers = (activations, effects, view) => {
  let at = 0;
  return [3, 4, 5, 6, 7, 8].map((size) => {
    const count = (9 - size) ** 2;
    const cells = activations.slice(at, at + count).map((activation, node) => ({
      squares: SUBSQUARES[at + node].map((square) => (view === BLACK ? square : 33 - square)).sort((a, b) => a - b),
      activation, effect: effects[at + node],
    }));
    at += count;
    return { name: `${size}x${size} squares`, size, cells: view === BLACK ? cells : cells.reverse() };
  });
};

const explainNetwork = ({ evaluator, isSelective }, position) => {
  const names = isSelective ? ["blocks", "network"] : ["piece difference", "nodes"];
  const view = position.turn;
  const measure = (each) => evaluator.explain(each, view).total;
  const { total, pieces, layers } = evaluator.explain(position, view);
  const hasSubsquares = layers[0].length === SUBSQUARES.length;
  return {
    kind: "network", total, perspective: view, pieces: evaluator.difference ? pieces : null,
    terms: [{ name: names[0], amount: pieces }, { name: names[1], amount: total - pieces }],
    squares: removalEffects(position, total, measure),
    meaning: "how much lower the sum at the output would be without the piece",
    layers: hasSubsquares ? subsquareLayers(layers[0], evaluator.effects(position, view), view) : [],
    hidden: hasSubsquares ? layers.slice(1) : layers,
  };
};

const explainNTuple = ({ evaluator }, position) => {
  const { reader, entries, pieces } = evaluator.explain(position, position.turn);
  const sign = reader === position.turn ? 1 : -1;
  const squares = Array(33).fill(0);
  const cells = new Map();
  evaluator.tuples.forEach((tuple, number) => {
    const members = tuple.map((square) => (reader === BLACK ? square : 33 - square));
    cells.set(tuple.length, [...(cells.get(tuple.length) ?? []), { squares: members.sort((a, b) => a - b), activation: entries[number], effect: sign * entries[number] }]);
    for (const square of members) squares[square] += sign * entries[number] / tuple.length;
  });
  for (const index of occupied(position)) {
    squares[index + 1] += sign * evaluator.explain(without(position, ~(1 << index)), position.turn).pieces;
  }
  const tables = sign * entries.reduce((sum, entry) => sum + entry, 0);
  return {
    kind: "ntuple", total: tables + sign * pieces, perspective: reader, pieces: evaluator.difference ? sign * pieces : null,
    terms: [{ name: "piece difference", amount: sign * pieces }, { name: "tables", amount: tables }],
    squares: squares.slice(1).map((contribution, index) => ({ square: index + 1, contribution })),
    meaning: "each tuple's entry, shared evenly by its squares, and the piece itself",
    layers: [...cells].sort(([one], [other]) => one - other).map(([size, each]) => ({ name: `tuples of ${size}`, size, cells: each })),
  };
};

// A sum over pieces; `pieces` is the part of the piece difference.
const explainCounted = (position, squares, pieces) => {
  const add = (each) => each.reduce((sum, { contribution }) => sum + contribution, 0);
  const own = position.turn === BLACK ? position.black : position.white;
  const [total, ownAmount] = [add(squares), add(squares.filter(({ square }) => own >>> (square - 1) & 1))];
  return {
    kind: "linear", total, pieces,
    terms: [{ name: "own pieces", amount: ownAmount }, { name: "opponent's pieces", amount: total - ownAmount }],
    squares, meaning: "what the piece counts",
  };
};

const explainMaterial = (player, position) => {
  const measure = (each) => evaluatePosition(player, each, position.turn);
  const total = measure(position);
  return explainCounted(position, removalEffects(position, total, measure), total);
};

const explainSquares = ({ evaluator }, position) => explainCounted(
  position, occupied(position).map((index) => ({ square: index + 1, contribution: evaluator.explain(position, index) })), null,
);

const OPAQUE = { kind: "opaque", total: 0, perspective: BLACK, pieces: null, terms: [], squares: [], meaning: "", layers: [], hidden: [] };

const explainPosition = (player, position) => {
  if (!player.evaluator) return OPAQUE;
  if (player.evaluator instanceof PieceSquares) return explainSquares(player, position);
  if (player.evaluator.tuples) return explainNTuple(player, position);
  return player.breaksTies ? explainMaterial(player, position) : explainNetwork(player, position);
};

const shareOf = (pieces, total) => {
  if (pieces === null) return null;
  const [one, rest] = [Math.abs(pieces), Math.abs(total - pieces)];
  return one + rest ? one / (one + rest) : null;
};

const ACTIONS = {
  analyse: async ({ id, agent, weights, limits, seed, blunder, ...game }) => {
    const player = await loadPlayer(agent, weights);
    return analyseBoard(agent, player, createBoard(game), { limits, seed, blunder }, () => stops.has(id));
  },
  explain: async ({ agent, weights, fen }) => {
    const player = await loadPlayer(agent, weights);
    const board = new Board(fen);
    const { pieces, perspective, total, squares, ...parts } = { ...OPAQUE, ...explainPosition(player, board) };
    return {
      ...parts, total, squares, perspective: SIDES[perspective].toLowerCase(),
      value: player.evaluator ? evaluatePosition(player, board, board.turn) : null,
      piece_difference_share: shareOf(pieces, total),
      elsewhere: total - squares.reduce((sum, { contribution }) => sum + contribution, 0),
    };
  },
};

let last = Promise.resolve(); // searches share a player's table: one at a time

/** Answer a message. */
export const answer = async (message) => {
  const { id, action } = message;
  try {
    return { id, result: await ACTIONS[action](message) };
  } catch (error) {
    return { id, error: error.message };
  } finally {
    stops.delete(id);
  }
};

globalThis.addEventListener?.("message", ({ data }) => {
  if (data.action === "stop") {
    stops.add(data.id);
    return;
  }
  last = last.then(async () => globalThis.postMessage(await answer(data)));
});
