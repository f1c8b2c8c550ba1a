// Alpha-beta search: the full-width search of the papers, and the selective one of `strong`.
//
// It is agents/search/alphabeta.py line by line, so that values, moves and numbers of positions are the same. A search is
// a generator that pauses every SLICE positions: its worker can then read messages, and stop it.

import { BLACK, canJump, canMove, generateSuccessors, MAX_ROWS, popcount, ROW } from "./rules.js";

const { fround } = Math;
export const MAX_DEPTH = 64;
const PLIES = MAX_DEPTH + 26; // captures can make a line at most 24 plies longer
const ROWS = 1 << 14;
const PAST = 256; // most positions of a game that are compared
const SLICE = 512; // positions between two pauses
const EXACT = 0;
const LOWER = 1;
const UPPER = 2;
const NONE = 3;
const DESCEND = 3; // in place of a value
const KILLER = 2 ** 40; // scores in the order of moves
const TABLE_MOVE = 2 ** 41;
const MATE_STEP = 2 ** -20;
const MATE_THRESHOLD = 1 - 2 ** -10;
const FULL_DEPTH = 1; // second and third attempt at a move
const FULL_WINDOW = 2;
const ZERO_WINDOW = 1e-12; // windows are smaller, or much larger
const TEST_DEPTH = 3; // plies left for a zero window in a full-width search
const FIRST_WINDOW = 0.05; // on either side of the value of an earlier search
const STATIC_DEPTH = 5; // plies left for a reduction by evaluation, and its size
const STATIC_PLIES = 3;
const FUTILITY_DEPTH = 3;
const MARGINS = { reduction: 0.15, futility: 0.2, razoring: 0.1, razoringReduction: 0.05 }; // of the evaluation and beta
const NO_SEARCH = -1; // in place of a number of plies
const NO_VALUE = 3;

export const FULL_WIDTH = { isSelective: false, deepensBy: 2, tableBits: 12 };
export const SELECTIVE = { isSelective: true, deepensBy: 1, reduces: 3, tableBits: 16 };

const scratch = new Float64Array(1);
const halves = new Uint32Array(scratch.buffer); // the low half first, as on every machine with a browser

/** The next float64 above (direction 1) or below (-1) a number. */
const nextAfter = (x, direction) => {
  if (x === 0) return direction * Number.MIN_VALUE;
  scratch[0] = x;
  if (x > 0 === direction > 0) {
    halves[0] += 1;
    if (halves[0] === 0) halves[1] += 1;
  } else {
    if (halves[0] === 0) halves[1] -= 1;
    halves[0] -= 1;
  }
  return scratch[0];
};

const pieces = ({ black, white }) => black | white;

const sameMaterial = (before, after) => popcount(pieces(before)) === popcount(pieces(after))
  && popcount(before.kings) === popcount(after.kings);

const adjustMateDistance = (value, plies) => {
  if (value > MATE_THRESHOLD) return value - MATE_STEP * plies;
  return value < -MATE_THRESHOLD ? value + MATE_STEP * plies : value;
};

// 64-bit arithmetic of the hash, by halves

const multiplyHigh = (a, b) => { // high half of the product of two unsigned halves
  const al = a & 0xffff;
  const ah = a >>> 16;
  const bl = b & 0xffff;
  const bh = b >>> 16;
  const middle = (Math.imul(ah, bl) >>> 0) + (Math.imul(al, bl) >>> 16); // below 2^32
  const other = (Math.imul(al, bh) >>> 0) + (middle & 0xffff);
  return (Math.imul(ah, bh) + (middle >>> 16) + (other >>> 16)) | 0;
};

let mixedLow = 0;
let mixedHigh = 0;

const addProduct = (low, high, factorLow, factorHigh) => {
  const sum = (mixedLow >>> 0) + (Math.imul(low, factorLow) >>> 0);
  mixedHigh = (mixedHigh + multiplyHigh(low, factorLow) + Math.imul(low, factorHigh) + Math.imul(high, factorLow)
    + (sum > 0xffffffff ? 1 : 0)) | 0;
  mixedLow = sum | 0;
};

// The ghost bits of the 35-bit boards.
const boardLow = (board) => board & 0xff | (board & 0xff00) << 1 | (board & 0xff0000) << 2 | (board & 0xff000000) << 3;

const hash = ({ black, white, kings }, salt, mask) => {
  mixedLow = mixedHigh = 0;
  addProduct(boardLow(black), black >>> 29, 0x4F6CDD1D, 0x2545F491);
  addProduct(boardLow(white), white >>> 29, 0xCC9E2D51 | 0, 0x1B873593);
  addProduct(boardLow(kings), kings >>> 29, 0x9E3779F9 | 0, 0x165667B1);
  addProduct(salt, 0, 0x165667C5, 0x27D4EB2F);
  const low = mixedLow ^ (mixedLow >>> 29 | mixedHigh << 3);
  const high = mixedHigh ^ mixedHigh >> 29;
  mixedLow = mixedHigh = 0;
  addProduct(low, high, 0xF4325C37 | 0, 0x2127599B);
  return mixedHigh >>> 8 & mask;
};

/** A search with its table, for one evaluator. */
export class Search {
  nodes = 0; // positions visited since `reset`
  maxNodes = 0; // of a selective search; 0 for no limit
  isStopped = false;
  rows = new Int32Array(ROWS * ROW);

  #evaluator;
  #style;
  #scores = new Float64Array(ROWS);
  #frames;
  #states;
  #table;
  #killers = new Int32Array(2 * PLIES);
  #history = [new Float64Array(4096), new Float64Array(4096)];
  #past = new Int32Array(2 * (PAST + PLIES)); // boards of the game's last positions, then of the line
  #reversible = 0; // how many of the game
  #startNodes = 0;
  #nextPause = 0;

  constructor(evaluator, style = FULL_WIDTH) {
    [this.#evaluator, this.#style] = [evaluator, style];
    const size = 1 << style.tableBits;
    this.#states = new Int32Array(PLIES * evaluator.stateSize);
    this.#table = {
      mask: size - 1, black: new Int32Array(size), white: new Int32Array(size), kings: new Int32Array(size),
      tag: new Int32Array(size), value: new Float32Array(size), bound: new Int8Array(size), depth: new Int8Array(size),
      best: new Int16Array(size),
    };
    this.#frames = Array.from({ length: PLIES }, () => ({
      black: 0, white: 0, kings: 0, turn: 0, begin: 0, end: 0, current: 0, best: 0, remaining: 0,
      floor: 0.5, alpha: 0.5, beta: 0.5, value: 0.5, parent: 0, child: 0, left: 0, searched: 0,
      tries: 0, reduced: 0, reversible: 0,
    }));
  }

  /** Count positions from 0 on. */
  reset() {
    this.nodes = 0;
    this.#nextPause = 0;
    this.isStopped = false;
  }

  clear() {
    this.reset();
    this.#table.tag.fill(0);
    this.#killers.fill(0);
    for (const side of this.#history) side.fill(0);
    this.#reversible = 0;
  }

  /** Take the positions of the game that can be repeated, the oldest first. */
  setHistory(positions) {
    if (!this.#style.isSelective) return;
    const last = positions.slice(-PAST);
    this.#reversible = last.length;
    last.forEach(({ black, white }, index) => this.#past.set([black, white], 2 * index));
  }

  /** Write the successors of a position into the rows; return their number. */
  expandRoot({ black, white, kings, turn }) {
    return generateSuccessors(this.rows, 0, black, white, kings, turn);
  }

  /** Search a position whose successors are in the first `count` rows; return the row of the best move. */
  *search(position, depth, count) {
    const { isSelective, deepensBy } = this.#style;
    const namespace = 2 | position.turn;
    this.#ageHistory();
    this.#startNodes = this.nodes;
    let best = 0;
    let first = 1 + (depth - 1) % deepensBy;
    let guess = NO_VALUE;
    if (isSelective) {
      const move = this.#tableMove(position, depth, namespace);
      for (let row = 0; row < count; row += 1) if (this.#moveKey(row, 0) === move) best = row;
    } else if (depth > deepensBy) {
      guess = this.#tableGuess(position, namespace, depth - deepensBy);
      if (guess !== NO_VALUE) first = depth;
    }
    for (let plies = first; plies <= depth; plies += deepensBy) {
      const isKnown = !isSelective && guess !== NO_VALUE; // then the first window is around the guess
      let [low, high] = isKnown ? [guess - FIRST_WINDOW, guess + FIRST_WINDOW] : [-2, 2];
      let isOver = false;
      for (let attempt = 0; attempt < 2; attempt += 1) {
        guess = yield* this.searchTo(position, plies, position.turn, count, namespace, low, high);
        isOver = this.isStopped || this.#isNodeLimitReached();
        if (isOver || (low < guess && guess < high)) break;
        [low, high] = guess <= low ? [-2, nextAfter(guess, 1)] : [nextAfter(guess, -1), 2];
      }
      const [frame] = this.#frames;
      if (!isOver || (isSelective && frame.value > -2)) best = frame.best;
      if (isOver) break;
    }
    return best;
  }

  /** Search to one depth; return the value for the side to move. Leaves are evaluated for side `perspective`. */
  *searchTo(position, plies, perspective, count, namespace = 2 | perspective, low = -2, high = 2) {
    this.#evaluator.start(this.#states, 0, position, perspective);
    const [root] = this.#frames;
    this.#openFrame(0, position, 0, count, plies, low, high, namespace);
    root.reversible = this.#reversible;
    let ply = 0;
    while (true) {
      if (this.nodes >= this.#nextPause) {
        this.#nextPause = this.nodes + SLICE;
        yield;
      }
      if (this.isStopped || this.#isNodeLimitReached()) return root.value;
      const frame = this.#frames[ply];
      const at = this.#nextRow(frame);
      let value;
      if (at < 0) {
        this.#store(frame, namespace, ply);
        if (ply === 0) return frame.value;
        value = (ply - frame.parent) & 1 ? -frame.value : frame.value;
        ply = frame.parent;
      } else {
        frame.current = at;
        value = this.#expand(ply, perspective, namespace);
        if (value === DESCEND) {
          ply = frame.child;
          continue;
        }
      }
      if (this.#isFinal(this.#frames[ply], ply, value)) this.#backup(ply, value);
    }
  }

  /** Find the best play of both sides, whose first move is in row 0 (`count` 1) or any of the rows: rows of successors. */
  *principalVariation(position, depth, count) {
    this.#ageHistory();
    const [line, namespace] = [[], 2 | position.turn];
    let here = position;
    let plies = depth;
    while (count && (plies > 0 || this.#mustJump(here))) {
      this.#startNodes = this.nodes;
      yield* this.searchTo(here, plies, position.turn, count, namespace);
      if (this.isStopped) return line;
      const [frame] = this.#frames;
      const row = Array.from(this.rows.subarray(frame.best * ROW, (frame.best + 1) * ROW));
      const after = { black: row[0], white: row[1], kings: row[2], turn: 1 - here.turn };
      line.push(row);
      count = this.expandRoot(after);
      if (this.#style.isSelective && this.#pushMove(here, after)) count = 0;
      here = after;
      plies = Math.max(plies - 1, 0);
    }
    return line;
  }

  get result() {
    const [{ value, best }] = this.#frames;
    return { value, best };
  }

  #mustJump({ black, white, kings, turn }) {
    return turn === BLACK ? canJump(black, white, kings, turn) : canJump(white, black, kings, turn);
  }

  #ageHistory() {
    for (const side of this.#history) for (let move = 0; move < 4096; move += 1) side[move] = Math.floor(side[move] / 2);
  }

  #isNodeLimitReached() {
    return this.maxNodes > 0 && this.nodes - this.#startNodes >= this.maxNodes;
  }

  #openFrame(ply, { black, white, kings, turn }, begin, end, remaining, alpha, beta, namespace) {
    if (end + MAX_ROWS > ROWS) throw new Error("the search ran out of rows");
    const frame = this.#frames[ply];
    frame.black = black;
    frame.white = white;
    frame.kings = kings;
    frame.turn = turn;
    frame.begin = frame.best = frame.current = begin;
    frame.end = end;
    frame.remaining = remaining;
    frame.searched = frame.tries = 0;
    frame.floor = frame.alpha = alpha;
    frame.beta = beta;
    frame.value = -2;
    if (this.#style.isSelective) {
      const at = 2 * (this.#reversible + ply);
      this.#past[at] = black;
      this.#past[at + 1] = white;
    }
    const tableMove = this.#tableMove(frame, remaining, namespace);
    const history = this.#history[turn];
    const killerHigh = this.#killers[2 * ply];
    const killerLow = this.#killers[2 * ply + 1];
    for (let row = begin; row < end; row += 1) {
      const low = this.rows[row * ROW + 4];
      let score = history[low & 4095];
      if (low === killerLow && this.rows[row * ROW + 3] === killerHigh) score += KILLER;
      if (this.#moveKey(row, begin) === tableMove) score += TABLE_MOVE;
      this.#scores[row] = score;
    }
  }

  #nextRow(frame) {
    if (frame.tries) return frame.current;
    let best = -1;
    let at = -1;
    if (frame.alpha < frame.beta) {
      for (let row = frame.begin; row < frame.end; row += 1) {
        if (this.#scores[row] > best) {
          best = this.#scores[row];
          at = row;
        }
      }
    }
    if (at >= 0) {
      this.#scores[at] = -1;
      frame.searched += 1;
    }
    return at;
  }

  // Make the current move of a frame, and forced moves behind it; then open a frame.
  #expand(ply, perspective, namespace) {
    const { isSelective } = this.#style;
    const frame = this.#frames[ply];
    const { rows } = this;
    const low = this.#valueToBeat(frame, ply);
    let before = frame;
    let after = this.#successor(frame.current, frame.turn);
    let alpha = this.#testsMove(frame) ? -nextAfter(low, 1) : -frame.beta;
    let beta = -low;
    let remaining = this.#remainingAfter(frame, after);
    let below = ply + 1;
    let sign = 1;
    let end = 0;
    while (true) {
      const value = this.#settle(frame, below, before, after, remaining, alpha, beta, perspective, namespace);
      if (value !== DESCEND) return sign * value;
      remaining = frame.left;
      end = generateSuccessors(rows, frame.end, after.black, after.white, after.kings, after.turn);
      if (isSelective || end > frame.end + 1) break;
      [before, after] = [after, this.#successor(frame.end, after.turn)];
      [alpha, beta] = [-beta, -alpha];
      remaining = Math.max(remaining - 1, 0);
      below += 1;
      sign = -sign;
    }
    this.#openFrame(below, after, frame.end, end, remaining, alpha, beta, namespace);
    frame.child = below;
    this.#frames[below].parent = ply;
    return DESCEND;
  }

  #successor(row, turn) {
    const { rows } = this;
    const at = row * ROW;
    return { black: rows[at], white: rows[at + 1], kings: rows[at + 2], turn: 1 - turn };
  }

  // Find the value of the position after a move, where it needs no search; else note the plies left, and DESCEND.
  #settle(frame, ply, before, after, remaining, alpha, beta, perspective, namespace) {
    const { isSelective } = this.#style;
    const own = after.turn === BLACK ? after.black : after.white;
    const opponent = after.turn === BLACK ? after.white : after.black;
    const jump = canJump(own, opponent, after.kings, after.turn);
    this.nodes += 1;
    frame.left = remaining;
    const over = !jump && !canMove(own, opponent, after.kings, after.turn);
    if (over) return isSelective ? 1 - MATE_STEP * ply : 1;
    if (isSelective) {
      const reversible = this.#countReversible(frame, after);
      if (this.#isRepetition(ply, after, reversible)) return 0;
      this.#frames[ply].reversible = reversible;
    }
    const slot = this.#slot(after, namespace, remaining);
    const stored = this.#tableValue(slot, after, namespace, remaining, alpha, beta, ply);
    if (stored !== NO_VALUE) return -stored;
    const width = this.#evaluator.stateSize;
    this.#evaluator.advance(this.#states, (ply - 1) * width, ply * width, before, after, perspective);
    if (!jump && remaining === 0) {
      const value = this.#evaluateLeaf(after, perspective, ply * width);
      this.#write(slot, after, namespace, remaining, value, EXACT, 0);
      return -value;
    }
    if (isSelective && !jump && this.#mayPrune(alpha, beta)) {
      const value = this.#evaluateLeaf(after, perspective, ply * width);
      const left = this.#prune(frame, remaining, value - beta);
      if (left === NO_SEARCH) return -value;
      if (left < remaining) {
        frame.left = left;
        const known = this.#tableValue(slot, after, namespace, left, alpha, beta, ply);
        if (known !== NO_VALUE) return -known;
      }
    }
    return DESCEND;
  }

  #evaluateLeaf(position, view, at) {
    let value = fround(this.#evaluator.evaluate(this.#states, at, position, view));
    if (this.#style.isSelective) value = fround(value * MATE_THRESHOLD);
    return view === position.turn ? value : -value;
  }

  #remainingAfter(frame, after) {
    const { isSelective, reduces } = this.#style;
    frame.reduced = 0;
    if (isSelective && reduces && !frame.tries && frame.searched > reduces && frame.remaining >= 3
      && sameMaterial(frame, after)) {
      frame.reduced = frame.searched > 6 && frame.remaining >= 6 ? 2 : 1;
    }
    return Math.max(frame.remaining - 1 - frame.reduced, 0);
  }

  // Whether the evaluation of a quiet position can save its search.
  #mayPrune(alpha, beta) {
    if (this.#frames[0].remaining < STATIC_DEPTH) return false; // of the whole search
    return beta - alpha <= ZERO_WINDOW && Math.abs(beta) <= MATE_THRESHOLD;
  }

  // The plies that are left to search of a position whose evaluation is `gain` above beta, or NO_SEARCH.
  #prune(frame, remaining, gain) {
    if (remaining < STATIC_DEPTH) {
      const isAbove = remaining <= FUTILITY_DEPTH && gain >= MARGINS.futility * remaining;
      return isAbove || gain <= -MARGINS.razoring * (remaining + 0.5) ? NO_SEARCH : remaining;
    }
    if (frame.tries === 0 && gain >= MARGINS.reduction) {
      frame.reduced += STATIC_PLIES;
      return remaining - STATIC_PLIES;
    }
    if (frame.tries === 0 && gain <= -MARGINS.razoringReduction) { // the move may cut off
      const left = remaining + frame.reduced - STATIC_PLIES;
      frame.reduced = -STATIC_PLIES;
      return left;
    }
    return remaining;
  }

  // Whether the current move is at first only tested for being better than the best.
  #testsMove(frame) {
    const tests = this.#style.isSelective || frame.remaining >= TEST_DEPTH;
    return tests && frame.searched > 1 && frame.tries < FULL_WINDOW;
  }

  // The value that the current move must exceed to be the best; of equal moves the first is, in a full-width search.
  #valueToBeat(frame, ply) {
    const isFirst = !this.#style.isSelective && ply === 0 && frame.current < frame.best;
    return isFirst ? nextAfter(frame.alpha, -1) : frame.alpha;
  }

  // Whether the current move needs no further search; if it does, prepare that search.
  #isFinal(frame, ply, value) {
    const exceeds = value > this.#valueToBeat(frame, ply);
    const surprises = frame.tries === 0 && frame.reduced && exceeds === frame.reduced > 0;
    const isTested = exceeds && this.#testsMove(frame) && value < frame.beta;
    if (surprises) frame.tries = FULL_DEPTH;
    else frame.tries = isTested ? FULL_WINDOW : 0;
    return frame.tries === 0;
  }

  #countReversible(frame, after) {
    const stand = (pieces(frame) & ~frame.kings) === (pieces(after) & ~after.kings);
    return stand && sameMaterial(frame, after) ? frame.reversible + 1 : 0;
  }

  #isRepetition(ply, { black, white }, reversible) {
    const at = this.#reversible + ply;
    for (let period = 4; period <= reversible; period += 2) {
      const row = 2 * (at - period);
      if (this.#past[row] === black && this.#past[row + 1] === white) return true;
    }
    return false;
  }

  // Add a move to the game after a search from `before`; return whether `after` repeats.
  #pushMove(before, after) {
    const reversible = this.#countReversible(this.#frames[0], after);
    const repeats = this.#isRepetition(1, after, reversible);
    if (reversible === 0) this.#reversible = 0;
    else if (this.#reversible === PAST) this.#past.copyWithin(0, 2, 2 * (PAST + 1));
    else this.#reversible += 1;
    return repeats;
  }

  #backup(ply, value) {
    const frame = this.#frames[ply];
    const tie = ply === 0 && value === frame.value && frame.current < frame.best;
    if (!(value > frame.value || (tie && !this.#style.isSelective))) return;
    frame.value = value;
    frame.best = frame.current;
    frame.alpha = Math.max(frame.alpha, value);
    if (frame.alpha < frame.beta) return;
    const [high, low] = [this.rows[frame.current * ROW + 3], this.rows[frame.current * ROW + 4]];
    this.#killers[2 * ply] = high;
    this.#killers[2 * ply + 1] = low;
    this.#history[frame.turn][low & 4095] += 1 + frame.remaining ** 2;
  }

  // Transposition table

  #tag({ turn }, namespace, remaining) {
    return (namespace << 1 | turn) << 7 | remaining;
  }

  #matches(slot, { black, white, kings }, tag) {
    const table = this.#table;
    return table.tag[slot] === tag && table.black[slot] === black && table.white[slot] === white && table.kings[slot] === kings;
  }

  #slot(position, namespace, remaining) {
    const { mask, tag: tags, depth } = this.#table;
    if (!this.#style.isSelective) return hash(position, this.#tag(position, namespace, remaining), mask);
    const tag = this.#tag(position, namespace, 0);
    const at = hash(position, position.turn, mask);
    if (this.#matches(at, position, tag) || tags[at] >> 8 !== namespace) return at;
    const other = at ^ 1;
    if (this.#matches(other, position, tag) || tags[other] >> 8 !== namespace || depth[other] < depth[at]) return other;
    return at;
  }

  #isHit(slot, position, namespace, remaining) {
    if (!this.#style.isSelective) return this.#matches(slot, position, this.#tag(position, namespace, remaining));
    return this.#matches(slot, position, this.#tag(position, namespace, 0)) && this.#table.depth[slot] >= remaining;
  }

  // The value of a position, or a bound outside its window, if its entry has it; else NO_VALUE.
  #tableValue(slot, position, namespace, remaining, alpha, beta, ply) {
    if (!this.#isHit(slot, position, namespace, remaining)) return NO_VALUE;
    const stored = this.#table.value[slot];
    const value = this.#style.isSelective ? adjustMateDistance(stored, ply) : stored;
    const bound = this.#table.bound[slot];
    const isEnough = bound === EXACT || (bound === LOWER && value >= beta) || (bound === UPPER && value <= alpha);
    return isEnough ? value : NO_VALUE;
  }

  // The value of a position or a bound of it, whichever the table has, or NO_VALUE.
  #tableGuess(position, namespace, remaining) {
    const slot = this.#slot(position, namespace, remaining);
    const isHit = this.#isHit(slot, position, namespace, remaining) && this.#table.bound[slot] !== NONE;
    return isHit ? this.#table.value[slot] : NO_VALUE;
  }

  // What an entry stores of a move: its index, or fifteen bits of the packed move.
  #moveKey(row, begin) {
    if (!this.#style.isSelective) return row - begin;
    const low = this.rows[row * ROW + 4];
    return (low ^ low >> 13) & 0x7fff;
  }

  #tableMove(position, remaining, namespace) {
    if (this.#style.isSelective) {
      const slot = this.#slot(position, namespace, 0);
      return this.#isHit(slot, position, namespace, 1) ? this.#table.best[slot] : -1;
    }
    for (let plies = remaining; plies > 0 && plies >= remaining - 2; plies -= 2) {
      const slot = this.#slot(position, namespace, plies);
      if (this.#isHit(slot, position, namespace, plies)) return this.#table.best[slot];
    }
    return -1;
  }

  #store(frame, namespace, ply) {
    let bound = EXACT;
    if (ply === 0) bound = NONE; // a player may leave out moves at the root
    else if (frame.value >= frame.beta) bound = LOWER;
    else if (frame.value <= frame.floor) bound = UPPER;
    const slot = this.#slot(frame, namespace, frame.remaining);
    const { isSelective } = this.#style;
    const value = isSelective ? adjustMateDistance(frame.value, -ply) : frame.value;
    const isKept = isSelective && bound === UPPER && this.#frames[0].remaining >= STATIC_DEPTH;
    const best = isKept && this.#isHit(slot, frame, namespace, 1) ? this.#table.best[slot] : this.#moveKey(frame.best, frame.begin);
    this.#write(slot, frame, namespace, frame.remaining, value, bound, best);
  }

  #write(slot, position, namespace, remaining, value, bound, best) {
    const table = this.#table;
    table.black[slot] = position.black;
    table.white[slot] = position.white;
    table.kings[slot] = position.kings;
    table.tag[slot] = this.#tag(position, namespace, this.#style.isSelective ? 0 : remaining);
    table.value[slot] = value;
    table.bound[slot] = bound;
    table.depth[slot] = remaining;
    table.best[slot] = best;
  }
}

/** The legal move of the row that begins at `rows[at]`. */
export const findMove = (board, rows, at = 0) =>
  board.legalMoves.find(({ row }) => row[3] === rows[at + 3] && row[4] === rows[at + 4]);

/** Run a search to its end at once. */
export const finish = (search) => {
  let step = search.next();
  while (!step.done) step = search.next();
  return step.value;
};

// Players without a search, and chance

/** A function that returns random whole numbers below its argument (mulberry32): equal seeds, equal numbers. */
export const randomNumbers = (seed) => {
  let state = seed >>> 0;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ state >>> 15, 1 | state);
    t = (t + Math.imul(t ^ t >>> 7, 61 | t)) ^ t;
    return Math.floor(((t ^ t >>> 14) >>> 0) / 2 ** 32 * limit);
  };
};

// The hand-made player of the performance curve (agents/baselines/heuristic.py).
const heuristicScore = (board, { squares, captured }) => {
  const isKing = (square) => board.kings >>> (square - 1) & 1;
  const score = captured.reduce((sum, square) => sum + (isKing(square) ? 1.5 : 1), 0);
  if (isKing(squares[0])) return score;
  const isCrowned = board.turn === BLACK ? squares.at(-1) > 28 : squares.at(-1) < 5;
  return score + 0.05 + (isCrowned ? 0.4 : 0);
};

/** The move of `random` or of `heuristic`. */
export const chooseWithoutSearch = (name, board, random) => {
  const moves = board.legalMoves;
  if (name === "random") return moves[random(moves.length)];
  const scores = moves.map((move) => heuristicScore(board, move));
  const best = moves.filter((_, index) => scores[index] === Math.max(...scores));
  return best[random(best.length)];
};

/** Put the first rows in random order: of equally good moves each has the same chance. */
export const shuffleRows = (search, count, random) => {
  const { rows } = search;
  for (let row = count - 1; row > 0; row -= 1) {
    const other = random(row + 1);
    const [one, two] = [rows.slice(row * ROW, (row + 1) * ROW), rows.slice(other * ROW, (other + 1) * ROW)];
    rows.set(two, row * ROW);
    rows.set(one, other * ROW);
  }
};
