// Evaluators: networks, the piece counter, piece-square tables, n-tuples, and the large tables of `strong`.
//
// The arithmetic is that of the kernels: sums in the same order, rounded to float32 where they round.
// A fused multiply-add is a multiplication and an addition in float64, rounded once to float32.
//
// Each has `stateSize`, `start`, `advance` from a position to the next one, and `evaluate`, as in Material.
// A position is {black, white, kings, turn}; the state belongs to the viewing side.

import { BLACK, columnOf, lowestBit, popcount, rowOf } from "./rules.js";

const { fround } = Math;

// tanh as an odd polynomial over an even one (agents/simd.py).
const LIMIT = fround(7.90531110763549805);
const [A0, A1, A2, A3, A4, A5, A6] = [
  4.89352455891786e-3, 6.37261928875436e-4, 1.48572235717979e-5, 5.12229709037114e-8,
  -8.60467152213735e-11, 2.00018790482477e-13, -2.76076847742355e-16,
].map(fround);
const [B0, B1, B2, B3] = [4.89352518554385e-3, 2.26843463243900e-3, 1.18534705686654e-4, 1.19825839466702e-6].map(fround);

/** float32 tanh with the bits of the kernels. */
export const tanh = (value) => {
  let x = fround(value);
  if (!(x < LIMIT)) x = LIMIT;
  if (!(x > -LIMIT)) x = -LIMIT;
  const x2 = fround(x * x);
  const x4 = fround(x2 * x2);
  const x8 = fround(x4 * x4);
  const low = fround(x4 * fround(x2 * A3 + A2) + fround(x2 * A1 + A0));
  const high = fround(x4 * A6 + fround(x2 * A5 + A4));
  const below = fround(x4 * fround(x2 * B3 + B2) + fround(x2 * B1 + B0));
  return fround(fround(x * fround(x8 * high + low)) / below);
};

/** Pieces of side `view` minus the opponent's; a king counts `king` men. */
const pieceDifference = ({ black, white, kings }, view, king) => {
  const men = popcount(black & ~kings) - popcount(white & ~kings);
  const crowned = popcount(black & kings) - popcount(white & kings);
  const difference = fround(men + fround(king * crowned));
  return view === BLACK ? difference : -difference;
};

/** Piece counter; a king counts 1.5 men. */
export class Material {
  stateSize = 0;
  king = 1.5;

  start() {}

  advance() {}

  evaluate(states, at, position, view) {
    return fround(pieceDifference(position, view, this.king) / 64);
  }
}

/** The playable squares of each rectangle of this size, row by row. */
const rectangles = (rows, columns) => {
  const found = [];
  for (let top = 0; top < 9 - rows; top += 1) {
    for (let left = 0; left < 9 - columns; left += 1) {
      const squares = [];
      for (let square = 1; square <= 32; square += 1) {
        const [down, right] = [rowOf(square) - top, columnOf(square) - left];
        if (down >= 0 && down < rows && right >= 0 && right < columns) squares.push(square);
      }
      if (squares.length) found.push(squares);
    }
  }
  return found;
};

// Piece-square tables (agents/baselines/piece_squares.py)

const [SQUARE_STAGES, MOST_PIECES, SUM_BITS] = [2, 24, 29];

const roundToEven = (value) => {
  const nearest = Math.round(value);
  return nearest - value === 0.5 && nearest % 2 ? nearest - 1 : nearest;
};

/** A weight of men and kings for each square, blended by the number of pieces. */
export class PieceSquares {
  stateSize = SQUARE_STAGES;
  unit = 0.5 ** SUM_BITS / MOST_PIECES;

  /** Weights are for 24 pieces and for none: those of men on squares 1-32, then of kings. */
  constructor(weights, king) {
    const worth = Float64Array.from(weights, (weight, at) => weight + (at >> 5 & 1 ? king : 1));
    const most = MOST_PIECES * worth.reduce((largest, each) => Math.max(largest, Math.abs(each)), 0);
    let bits = 0; // the least power of 2 above the largest sum
    while (most >= 2 ** bits) bits += 1;
    while (most > 0 && most < 2 ** (bits - 1)) bits -= 1;
    this.weights = Int32Array.from(worth, (each) => roundToEven(each * 2 ** (SUM_BITS - bits)));
  }

  #worth({ white, kings }, square, stage) {
    const isWhite = white >>> square & 1;
    const own = this.weights[stage * 64 + (kings >>> square & 1) * 32 + (isWhite ? 31 - square : square)];
    return isWhite ? -own : own;
  }

  start(state, at, position) {
    state.fill(0, at, at + SQUARE_STAGES);
    for (let left = position.black | position.white; left; left &= left - 1) {
      for (let stage = 0; stage < SQUARE_STAGES; stage += 1) state[at + stage] += this.#worth(position, lowestBit(left), stage);
    }
  }

  advance(states, from, to, before, after) {
    this.start(states, to, after);
  }

  #blend(opening, ending, { black, white }, view) {
    const pieces = popcount(black | white);
    const blended = opening * pieces + ending * (MOST_PIECES - pieces);
    return (view === BLACK ? blended : -blended) * this.unit;
  }

  evaluate(states, at, position, view) {
    return this.#blend(states[at], states[at + 1], position, view);
  }

  /** What the piece on a square adds to the value for the side to move. */
  explain(position, square) {
    return this.#blend(this.#worth(position, square, 0), this.#worth(position, square, 1), position, position.turn);
  }
}

// Networks

export const SUBSQUARES = [3, 4, 5, 6, 7, 8].flatMap((size) => rectangles(size, size));
const ALL_SQUARES = Array.from({ length: 32 }, (_, index) => index + 1);
const LAYOUTS = {
  "blondie24-1999": { fields: Array(40).fill(ALL_SQUARES), hidden: [10, 1] },
  "blondie24-2001": { fields: SUBSQUARES, hidden: [40, 10, 1] },
  "blondie24-2001-unsaturated": { fields: SUBSQUARES, hidden: [40, 10, 1], unsaturated: true },
};
export const NETWORKS = Object.keys(LAYOUTS);

/** Number of weights of an architecture, that of the piece difference included. */
export const genomeSize = (name) => {
  const { fields, hidden } = LAYOUTS[name];
  let [count, inputs] = [fields.reduce((sum, field) => sum + field.length + 1, 0), fields.length];
  for (const width of hidden) [count, inputs] = [count + (inputs + 1) * width, width];
  return count + 1;
};

// Layers of a genome: {weights: [node][input], biases}.
const readLayers = ({ fields, hidden }, genome) => {
  let at = 0;
  const first = { weights: [], biases: [] };
  for (const field of fields) {
    const row = new Float64Array(32);
    for (const square of field) row[square - 1] = genome[at++];
    first.weights.push(row);
    first.biases.push(genome[at++]);
  }
  const layers = [first];
  let inputs = fields.length;
  for (const width of hidden) {
    const layer = { weights: [], biases: [] };
    for (let node = 0; node < width; node += 1) {
      layer.weights.push(genome.slice(at, at + inputs));
      layer.biases.push(genome[at + inputs]);
      at += inputs + 1;
    }
    layers.push(layer);
    inputs = width;
  }
  return layers;
};

// The sum at the output is divided by its maximum.
const limitOutput = (layers, difference, king) => {
  const { weights: [row], biases } = layers.at(-1);
  const sum = row.reduce((total, weight) => total + Math.abs(weight), 0) + Math.abs(biases[0]);
  const most = (sum + Math.abs(difference) * 12 * Math.max(king, 1)) || 1;
  layers[layers.length - 1] = { weights: [row.map((weight) => weight / most)], biases: [biases[0] / most] };
  return difference / most;
};

// The power of two, 2^22 at most, with which a sum of 24 pieces fits int32.
const fixedPointScale = ({ weights, biases }, king) => {
  const most = Math.max(...weights.map((row, node) => {
    const sizes = row.map(Math.abs).sort().slice(-24);
    return sizes.reduce((sum, size) => sum + size, 0) * Math.max(king, 1) + Math.abs(biases[node]);
  }));
  return 2 ** Math.min(22, 30 - Math.ceil(Math.log2(Math.max(most, 1e-9))));
};

// A layer's weights by node, padded to the number of chains that its sums run in.
const packLayer = ({ weights, biases }) => {
  const chains = biases.length > 16 ? 2 : biases.length > 8 ? 4 : 8;
  const inputs = Math.ceil(weights[0].length / chains) * chains;
  const packed = new Float32Array(inputs * biases.length);
  weights.forEach((row, node) => packed.set(row, node * inputs));
  return { weights: packed, biases: Float32Array.from(biases), inputs, nodes: biases.length, chains };
};

// Four nodes at a time, each in two chains of inputs.
const sumInTwoChains = ({ weights, biases, inputs, nodes }, values, sums) => {
  for (let node = 0; node < nodes; node += 4) {
    let at = node * inputs;
    let a = biases[node];
    let b = biases[node + 1];
    let c = biases[node + 2];
    let d = biases[node + 3];
    let e = 0;
    let f = 0;
    let g = 0;
    let h = 0;
    for (let input = 0; input < inputs; input += 2, at += 2) {
      const x = values[input];
      const y = values[input + 1];
      a = fround(x * weights[at] + a);
      e = fround(y * weights[at + 1] + e);
      b = fround(x * weights[at + inputs] + b);
      f = fround(y * weights[at + inputs + 1] + f);
      c = fround(x * weights[at + 2 * inputs] + c);
      g = fround(y * weights[at + 2 * inputs + 1] + g);
      d = fround(x * weights[at + 3 * inputs] + d);
      h = fround(y * weights[at + 3 * inputs + 1] + h);
    }
    sums[node] = fround(a + e);
    sums[node + 1] = fround(b + f);
    sums[node + 2] = fround(c + g);
    sums[node + 3] = fround(d + h);
  }
};

const sumInFourChains = ({ weights, biases, inputs, nodes }, values, sums) => {
  for (let node = 0, at = 0; node < nodes; node += 1) {
    let a = biases[node];
    let b = 0;
    let c = 0;
    let d = 0;
    for (let input = 0; input < inputs; input += 4, at += 4) {
      a = fround(values[input] * weights[at] + a);
      b = fround(values[input + 1] * weights[at + 1] + b);
      c = fround(values[input + 2] * weights[at + 2] + c);
      d = fround(values[input + 3] * weights[at + 3] + d);
    }
    sums[node] = fround(fround(a + c) + fround(b + d));
  }
};

const chain = new Float32Array(8);

const sumInEightChains = ({ weights, biases, inputs, nodes }, values, sums) => {
  for (let node = 0; node < nodes; node += 1) {
    chain.fill(0);
    chain[0] = biases[node];
    for (let input = 0; input < inputs; input += 1) {
      chain[input & 7] = values[input] * weights[node * inputs + input] + chain[input & 7];
    }
    for (let half = 4; half; half >>= 1) for (let i = 0; i < half; i += 1) chain[i] += chain[i + half];
    sums[node] = chain[0];
  }
};

const SUMS = { 2: sumInTwoChains, 4: sumInFourChains, 8: sumInEightChains };

/** A network of 1999 or 2001: first layer in fixed point, updated move by move, then dense layers. */
export class Network {
  #features; // (64, width): a man on each square, then a king
  #bias;
  #unit;
  #layers;
  #values = new Float32Array(128);
  #sums = new Float32Array(128);

  /** `genome` holds weights and biases by node, then that of the piece difference; a king is worth `king` men. */
  constructor(name, genome, king) {
    const layout = LAYOUTS[name];
    const [first, ...dense] = readLayers(layout, Float64Array.from(genome));
    this.difference = genome[genome.length - 1];
    this.king = fround(king);
    if (layout.unsaturated) this.difference = limitOutput(dense, this.difference, king);
    this.difference = fround(this.difference);
    const [width, scale] = [first.biases.length, fixedPointScale(first, king)];
    this.stateSize = width;
    this.#unit = 1 / scale;
    this.#bias = Int32Array.from(first.biases, (bias) => roundToEven(bias * scale));
    this.#features = new Int32Array(64 * width);
    first.weights.forEach((row, node) => row.forEach((weight, square) => {
      this.#features[square * width + node] = roundToEven(weight * scale);
      this.#features[(square + 32) * width + node] = roundToEven(weight * (king * scale));
    }));
    this.#layers = dense.map(packLayer);
  }

  #row(square, kings, view) {
    const place = view === BLACK ? square : 31 - square;
    return (kings >>> square & 1 ? place + 32 : place) * this.stateSize;
  }

  #add(state, at, row, sign) {
    const features = this.#features;
    const width = this.stateSize;
    for (let i = 0; i < width; i += 1) state[at + i] += sign * features[row + i];
  }

  start(state, at, { black, white, kings }, view) {
    state.set(this.#bias, at);
    const own = view === BLACK ? black : white;
    for (let pieces = black | white; pieces; pieces &= pieces - 1) {
      const square = lowestBit(pieces);
      this.#add(state, at, this.#row(square, kings, view), own >>> square & 1 ? 1 : -1);
    }
  }

  advance(states, from, to, before, after, view) {
    const features = this.#features;
    const width = this.stateSize;
    const isBlack = before.turn === BLACK;
    const ownBefore = isBlack ? before.black : before.white;
    const ownAfter = isBlack ? after.black : after.white;
    const moved = ownBefore ^ ownAfter;
    if (moved) {
      const left = this.#row(lowestBit(moved & ownBefore), before.kings, view);
      const reached = this.#row(lowestBit(moved & ownAfter), after.kings, view);
      const plus = before.turn === view ? reached : left;
      const minus = before.turn === view ? left : reached;
      for (let i = 0; i < width; i += 1) states[to + i] = states[from + i] + features[plus + i] - features[minus + i];
    } else { // the capture ends on its own starting square
      states.copyWithin(to, from, from + width);
    }
    let captured = isBlack ? before.white & ~after.white : before.black & ~after.black;
    for (; captured; captured &= captured - 1) {
      this.#add(states, to, this.#row(lowestBit(captured), before.kings, view), before.turn === view ? 1 : -1);
    }
  }

  evaluate(states, at, position, view) {
    return tanh(this.#output(states, at, position, view));
  }

  // The sum at the output; leaves the activations of the last hidden layer in #values.
  #output(states, at, position, view, onLayer, silent = null) {
    let values = this.#values;
    let sums = this.#sums;
    const width = this.stateSize;
    const unit = this.#unit;
    for (let i = 0; i < width; i += 1) values[i] = tanh(fround(states[at + i]) * unit);
    values.fill(0, width, width + 8);
    onLayer?.(values.slice(0, width));
    if (silent !== null) values[silent] = 0;
    for (const layer of this.#layers) {
      SUMS[layer.chains](layer, values, sums);
      const { nodes } = layer;
      if (nodes > 1) {
        for (let i = 0; i < nodes; i += 1) sums[i] = tanh(sums[i]);
        sums.fill(0, nodes, nodes + 8);
        onLayer?.(sums.slice(0, nodes));
      }
      const outputs = sums;
      sums = values;
      values = outputs;
    }
    return fround(values[0] + fround(this.difference * pieceDifference(position, view, this.king)));
  }

  /** The sum at the output, its part by the piece difference, and the activations of all layers. */
  explain(position, view) {
    const [state, layers] = [new Int32Array(this.stateSize), []];
    this.start(state, 0, position, view);
    const total = this.#output(state, 0, position, view, (layer) => layers.push(Array.from(layer)));
    return { total, pieces: this.difference * pieceDifference(position, view, this.king), layers };
  }

  /** How much lower the sum at the output is without each node of the first layer. */
  effects(position, view) {
    const state = new Int32Array(this.stateSize);
    this.start(state, 0, position, view);
    const total = this.#output(state, 0, position, view);
    return Array.from(state, (_, node) => total - this.#output(state, 0, position, view, null, node));
  }
}

// Tables: the contents of squares are the digits of an index

const [THEIR_MAN, EMPTY, OWN_MAN] = [0, 2, 3];

const contentOf = ({ black, white, kings }, square, view) => {
  const own = view === BLACK ? black : white;
  const opponent = view === BLACK ? white : black;
  if (own >>> square & 1) return OWN_MAN + (kings >>> square & 1);
  return opponent >>> square & 1 ? THEIR_MAN + (kings >>> square & 1) : EMPTY;
};

/** An evaluator whose state are indices of tuples of squares, updated from move to move. */
class TupleEvaluator {
  constructor(layout, offsets, digits) {
    this.stateSize = layout.length;
    this.features = new Int32Array(32 * 5 * layout.length);
    this.empty = new Int32Array(layout.length);
    layout.forEach((squares, number) => {
      const digit = digits[number];
      const base = Math.max(...digit) + 1;
      this.empty[number] = offsets[number];
      squares.forEach((square, place) => {
        const power = base ** (squares.length - 1 - place);
        this.empty[number] += digit[EMPTY] * power;
        digit.forEach((worth, content) => {
          this.features[((square - 1) * 5 + content) * this.stateSize + number] = (worth - digit[EMPTY]) * power;
        });
      });
    });
  }

  #row(position, square, view) {
    return ((view === BLACK ? square : 31 - square) * 5 + contentOf(position, square, view)) * this.stateSize;
  }

  start(state, at, position, view) {
    state.set(this.empty, at);
    for (let pieces = position.black | position.white; pieces; pieces &= pieces - 1) {
      const row = this.#row(position, lowestBit(pieces), view);
      for (let i = 0; i < this.stateSize; i += 1) state[at + i] += this.features[row + i];
    }
  }

  advance(states, from, to, before, after, view) {
    const { features, stateSize: count } = this;
    let source = from;
    for (let changed = (before.black ^ after.black) | (before.white ^ after.white); changed; changed &= changed - 1) {
      const square = lowestBit(changed);
      const plus = this.#row(after, square, view);
      const minus = this.#row(before, square, view);
      for (let i = 0; i < count; i += 1) states[to + i] = states[source + i] + features[plus + i] - features[minus + i];
      source = to;
    }
    if (source === from) states.copyWithin(to, from, from + count); // nothing changed
  }
}

/** An n-tuple network: look-up tables, and the piece difference. */
export class NTuple extends TupleEvaluator {
  /** The first square of a tuple is its highest digit. */
  constructor(tuples, table, { difference = 1, king = 1, byColour = false } = {}) {
    let size = 0;
    const offsets = tuples.map((squares) => (size += 5 ** squares.length) - 5 ** squares.length);
    super(tuples, offsets, tuples.map(() => [0, 1, 2, 3, 4]));
    Object.assign(this, { tuples, table, difference, king: fround(king), byColour });
  }

  reader(view) {
    return this.byColour ? BLACK : view;
  }

  start(state, at, position, view) {
    super.start(state, at, position, this.reader(view));
  }

  advance(states, from, to, before, after, view) {
    super.advance(states, from, to, before, after, this.reader(view));
  }

  evaluate(states, at, position, view) {
    const { table, stateSize } = this;
    const whole = stateSize & ~3;
    let a = 0;
    let b = 0;
    let c = 0;
    let d = 0;
    for (let i = at; i < at + whole; i += 4) {
      a += table[states[i]];
      b += table[states[i + 1]];
      c += table[states[i + 2]];
      d += table[states[i + 3]];
    }
    for (let i = whole; i < stateSize; i += 1) a += table[states[at + i]];
    const reader = this.reader(view);
    const sum = (a + b) + (c + d) + this.difference * pieceDifference(position, reader, this.king);
    return tanh(reader === view ? sum : -sum);
  }

  /** The entry of each tuple, and the part of the piece difference, as the reader sees the board. */
  explain(position, view) {
    const reader = this.reader(view);
    const state = new Int32Array(this.stateSize);
    this.start(state, 0, position, view);
    return {
      reader,
      entries: Array.from(state, (index) => this.table[index]),
      pieces: this.difference * pieceDifference(position, reader, this.king),
    };
  }
}

// The tables of `strong` (agents/treestrap/tapered.py)

const rotate = (squares) => squares.map((square) => 33 - square);
const setKey = (squares) => [...squares].sort((one, other) => one - other).join();

const WINDOWS = (() => {
  const found = new Map();
  for (const squares of [[4, 4], [2, 8], [6, 4], [3, 8]].flatMap(([rows, columns]) => rectangles(rows, columns))) {
    for (const each of [squares, rotate(squares)]) if (!found.has(setKey(each))) found.set(setKey(each), each);
  }
  return [...found.values()];
})();
const READINGS = [...WINDOWS, ...WINDOWS.filter((squares) => setKey(rotate(squares)) === setKey(squares)).map(rotate)];
const digitsOf = (squares) => (squares.length <= 8 ? [1, 0, 2, 3, 4] : [0, 1, 1, 2, 1]);
const OFFSETS = WINDOWS.reduce((sums, squares) =>
  [...sums, sums.at(-1) + (Math.max(...digitsOf(squares)) + 1) ** squares.length], [0]);
const COUNTS = OFFSETS.at(-1);
const STAGE_SIZE = COUNTS + 13 ** 4;
const PIECE_KINDS = 4 * 32; // a man or king of either side on a square
const STAGES = 4;
const PARTS = 12; // of the way from one stage to the next; each piece more is two parts
const FIRST_PARTS = 7;
const PAIRED_PIECES = 12; // positions of more pieces have no pairs

/** Numbers of which most are 0: a bit for each place, and how many are stored before each 32. */
class SparsePlaces {
  #places; // bits and ranks, by turns: they are read together

  constructor(places, size) {
    this.#places = new Uint32Array(2 * Math.ceil(size / 32));
    for (const place of places) this.#places[2 * (place >>> 5)] |= 1 << (place & 31);
    this.count = 0;
    for (let word = 0; word < this.#places.length; word += 2) {
      this.#places[word + 1] = this.count;
      this.count += popcount(this.#places[word]);
    }
  }

  /** The rank of a place, -1 if its number is 0. */
  rank(place) {
    const word = 2 * (place >>> 5);
    const bits = this.#places[word];
    const bit = 1 << (place & 31);
    return bits & bit ? this.#places[word + 1] + popcount(bits & (bit - 1)) : -1;
  }
}

// Entries and their levels, of packed tables: distances (4 bytes each) and levels (2 bytes), by the order of bytes.
const readPacked = (content) => {
  const count = content.length / 6;
  const [entries, levels] = [new Uint32Array(count), new Int16Array(count)];
  let entry = 0;
  for (let i = 0; i < count; i += 1) {
    entry += content[i] + 256 * content[i + count] + 65536 * content[i + 2 * count] + 16777216 * content[i + 3 * count];
    entries[i] = entry;
    levels[i] = content[i + 4 * count] | content[i + 5 * count] << 8;
  }
  return { entries, levels };
};

/** The evaluator of `strong`: tables for windows of the board, and for pairs of pieces, in four stages that blend. */
export class TaperedNetwork extends TupleEvaluator {
  #places;
  #levels; // of the windows' entries, those of an entry's stages together
  #pairs = new Int16Array(PIECE_KINDS ** 2 * STAGES); // symmetric
  #partner;
  #mirror;

  constructor(content, step) {
    const places = READINGS.map((squares) => WINDOWS.findIndex((window) => setKey(window) === setKey(squares)));
    super(READINGS, places.map((window) => OFFSETS[window]), READINGS.map(digitsOf));
    const { entries, levels } = readPacked(content);
    let windows = 0;
    while (windows < entries.length && entries[windows] < STAGES * STAGE_SIZE) windows += 1;
    this.#places = new SparsePlaces(entries.subarray(0, windows).map((entry) => entry % STAGE_SIZE), STAGE_SIZE);
    this.#levels = new Int16Array(STAGES * this.#places.count);
    for (let i = 0; i < windows; i += 1) {
      const stage = Math.trunc(entries[i] / STAGE_SIZE);
      this.#levels[STAGES * this.#places.rank(entries[i] % STAGE_SIZE) + stage] = levels[i];
    }
    for (let i = windows; i < entries.length; i += 1) {
      const place = entries[i] - STAGES * STAGE_SIZE;
      const [pair, stage] = [Math.trunc(place / STAGES), place % STAGES];
      const [one, other] = [Math.trunc(pair / PIECE_KINDS), pair % PIECE_KINDS];
      this.#pairs[STAGES * pair + stage] += levels[i];
      if (one !== other) this.#pairs[STAGES * (PIECE_KINDS * other + one) + stage] += levels[i];
    }
    this.step = step;
    const keys = READINGS.map((squares) => squares.join());
    const { empty } = this;
    this.#partner = Int32Array.from(WINDOWS, (squares) => keys.indexOf(rotate(squares).join()));
    this.#mirror = Int32Array.from(this.#partner, (partner, window) => empty[window] + empty[partner]);
  }

  // The lower of the two stages that a position blends, and the parts of the upper one.
  #taper({ black, white }) {
    const parts = Math.min(Math.max(2 * popcount(black | white) - FIRST_PARTS, 0), (STAGES - 1) * PARTS);
    const stage = Math.min(Math.trunc(parts / PARTS), STAGES - 2);
    return { stage, parts: parts - PARTS * stage };
  }

  #countEntry({ black, white, kings, turn }) {
    const own = turn === BLACK ? black : white;
    const opponent = turn === BLACK ? white : black;
    const ownIndex = 13 * popcount(own & ~kings) + popcount(own & kings);
    return COUNTS + 169 * ownIndex + 13 * popcount(opponent & ~kings) + popcount(opponent & kings);
  }

  // Indices of the windows for the side to move, of a state of side `view`.
  #entry(states, at, window, isMover) {
    return isMover ? states[at + window] : this.#mirror[window] - states[at + this.#partner[window]];
  }

  // The level of an entry, blended; it counts PARTS times.
  #level(entry, { stage, parts }) {
    const rank = this.#places.rank(entry);
    return rank < 0 ? 0 : this.#blend(this.#levels, STAGES * rank + stage, parts);
  }

  #blend(levels, at, parts) {
    return levels[at] * (PARTS - parts) + levels[at + 1] * parts;
  }

  // The levels of all pairs of pieces, as the side to move sees them, blended.
  #pairLevels({ black, white, kings, turn }, { stage, parts }) {
    if (popcount(black | white) > PAIRED_PIECES) return 0;
    const own = turn === BLACK ? black : white;
    const kinds = [];
    let sum = 0;
    for (let pieces = black | white; pieces; pieces &= pieces - 1) {
      const square = lowestBit(pieces);
      const kind = 4 * (turn === BLACK ? square : 31 - square) + 2 * (own >>> square & 1) + (kings >>> square & 1);
      for (const other of kinds) sum += this.#blend(this.#pairs, STAGES * (PIECE_KINDS * kind + other) + stage, parts);
      kinds.push(kind);
    }
    return sum;
  }

  evaluate(states, at, position, view) {
    const taper = this.#taper(position);
    const isMover = position.turn === view;
    let sum = this.#level(this.#countEntry(position), taper) + this.#pairLevels(position, taper);
    for (let window = 0; window < WINDOWS.length; window += 1) sum += this.#level(this.#entry(states, at, window, isMover), taper);
    const value = tanh(fround(sum) * fround(this.step / PARTS));
    return isMover ? value : -value;
  }

  /** What each window, the numbers of pieces and the pairs add to the sum, for the side to move. */
  explain(position) {
    const state = new Int32Array(this.stateSize);
    this.start(state, 0, position, position.turn);
    const taper = this.#taper(position);
    const unit = this.step / PARTS;
    return {
      windows: WINDOWS.map((squares, window) => ({
        squares: position.turn === BLACK ? squares : rotate(squares),
        amount: this.#level(state[window], taper) * unit,
      })),
      counts: this.#level(this.#countEntry(position), taper) * unit,
      pairs: this.#pairLevels(position, taper) * unit,
    };
  }
}
