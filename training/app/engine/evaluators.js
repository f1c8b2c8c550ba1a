// Evaluators: networks, the piece counter, piece-square tables, n-tuples, and the network of `strong`.
//
// The arithmetic is that of the kernels: sums in the same order, rounded to float32 where they round.
// A fused multiply-add is a multiplication and an addition in float64, rounded once to float32.
//
// Each has `stateSize`, `start`, `advance` from a position to the next one, and `evaluate`, as in Material.
// A position is {black, white, kings, turn}; the state belongs to the viewing side.

import { BLACK, WHITE, columnOf, lowestBit, popcount, rowOf } from "./rules.js";

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

// Sums over the contents of squares (agents/piece_sums.py)

const [THEIR_MAN, EMPTY, OWN_MAN] = [0, 2, 3];

// The content of an occupied square.
const contentOf = ({ black, white, kings }, square, view) => {
  const own = view === BLACK ? black : white;
  return (own >>> square & 1 ? OWN_MAN : THEIR_MAN) + (kings >>> square & 1);
};

/** An evaluator whose state sums up integers for each square's content, updated from move to move. */
class SummingEvaluator {
  /** `features` hold a row for each content of each square; `empty` is the state of the empty board. */
  constructor(features, empty) {
    Object.assign(this, { features, empty, width: empty.length, stateSize: empty.length });
  }

  #row(position, square, side) {
    const view = this.reader(side);
    return ((view === BLACK ? square : 31 - square) * 5 + contentOf(position, square, view)) * this.width;
  }

  /** The side whose view of the board the sums are of. */
  reader(view) {
    return view;
  }

  start(state, at, position, view) {
    state.set(this.empty, at);
    for (let pieces = position.black | position.white; pieces; pieces &= pieces - 1) {
      const row = this.#row(position, lowestBit(pieces), view);
      for (let i = 0; i < this.width; i += 1) state[at + i] += this.features[row + i];
    }
  }

  advance(states, from, to, before, after, view) {
    const { features, width: count } = this;
    const changed = (before.black ^ after.black) | (before.white ^ after.white);
    let left = (before.black | before.white) & changed;
    let entered = (after.black | after.white) & changed;
    let source = from;
    while (left || entered) { // once for a step: one square to leave, and one to enter
      const plus = entered ? this.#row(after, lowestBit(entered), view) : EMPTY * count;
      const minus = left ? this.#row(before, lowestBit(left), view) : EMPTY * count;
      for (let i = 0; i < count; i += 1) states[to + i] = states[source + i] + features[plus + i] - features[minus + i];
      left &= left - 1;
      entered &= entered - 1;
      source = to;
    }
  }
}

// Piece-square tables (agents/baselines/piece_squares.py)

const [SQUARE_STAGES, MOST_PIECES, SUM_BITS] = [2, 24, 29];

const roundToEven = (value) => {
  const nearest = Math.round(value);
  return nearest - value === 0.5 && nearest % 2 ? nearest - 1 : nearest;
};

/** A weight of men and kings for each square, blended by the number of pieces. */
export class PieceSquares extends SummingEvaluator {
  unit = 0.5 ** SUM_BITS / MOST_PIECES;

  /** Weights are for 24 pieces and for none: those of men on squares 1-32, then of kings. */
  constructor(weights, king) {
    const worth = Float64Array.from(weights, (weight, at) => weight + (at >> 5 & 1 ? king : 1));
    const most = MOST_PIECES * worth.reduce((largest, each) => Math.max(largest, Math.abs(each)), 0);
    let bits = 0; // the least power of 2 above the largest sum
    while (most >= 2 ** bits) bits += 1;
    while (most > 0 && most < 2 ** (bits - 1)) bits -= 1;
    const features = new Int32Array(32 * 5 * SQUARE_STAGES);
    worth.forEach((each, at) => {
      const [stage, kind, square] = [at >> 6, at >> 5 & 1, at & 31];
      const whole = roundToEven(each * 2 ** (SUM_BITS - bits));
      features[(square * 5 + OWN_MAN + kind) * SQUARE_STAGES + stage] = whole;
      features[((31 - square) * 5 + THEIR_MAN + kind) * SQUARE_STAGES + stage] = -whole;
    });
    super(features, new Int32Array(SQUARE_STAGES));
  }

  reader() {
    return BLACK;
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
    const row = (square * 5 + contentOf(position, square, BLACK)) * SQUARE_STAGES;
    return this.#blend(this.features[row], this.features[row + 1], position, position.turn);
  }
}

// Networks

const ALL_SQUARES = Array.from({ length: 32 }, (_, index) => index + 1);

/** The playable squares of each sub-square, by size, then row by row. */
export const SUBSQUARES = [3, 4, 5, 6, 7, 8].flatMap((size) => Array.from({ length: (9 - size) ** 2 }, (_, place) => {
  const [top, left] = [Math.trunc(place / (9 - size)), place % (9 - size)];
  const isWithin = (start, at) => at >= start && at < start + size;
  return ALL_SQUARES.filter((square) => isWithin(top, rowOf(square)) && isWithin(left, columnOf(square)));
}));
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
export class Network extends SummingEvaluator {
  #unit;
  #layers;
  #values = new Float32Array(128);
  #sums = new Float32Array(128);

  /** `genome` holds weights and biases by node, then that of the piece difference; a king is worth `king` men. */
  constructor(name, genome, king) {
    const layout = LAYOUTS[name];
    const [first, ...dense] = readLayers(layout, Float64Array.from(genome));
    const [width, scale] = [first.biases.length, fixedPointScale(first, king)];
    const features = new Int32Array(32 * 5 * width);
    first.weights.forEach((row, node) => row.forEach((weight, square) => [scale, king * scale].forEach((unit, kind) => {
      const worth = roundToEven(weight * unit);
      features[(square * 5 + OWN_MAN + kind) * width + node] = worth;
      features[(square * 5 + THEIR_MAN + kind) * width + node] = -worth;
    })));
    super(features, Int32Array.from(first.biases, (bias) => roundToEven(bias * scale)));
    this.difference = genome[genome.length - 1];
    this.king = fround(king);
    if (layout.unsaturated) this.difference = limitOutput(dense, this.difference, king);
    this.difference = fround(this.difference);
    this.#unit = 1 / scale;
    this.#layers = dense.map(packLayer);
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

// N-tuple networks

// What each content of each square adds to the index of each tuple, and the indices of the empty board. The first
// square of a tuple is its highest digit. The other side sees the board turned, and another owner of each piece.
const indexFeatures = (tuples, sides = [BLACK]) => {
  const width = sides.length * tuples.length;
  const [features, empty] = [new Int32Array(32 * 5 * width), new Int32Array(width)];
  let number = 0;
  for (const side of sides) {
    let offset = 0;
    for (const squares of tuples) {
      empty[number] = offset;
      squares.forEach((square, place) => {
        const power = 5 ** (squares.length - 1 - place);
        empty[number] += EMPTY * power;
        for (let content = 0; content < 5; content += 1) {
          const digit = side === BLACK || content === EMPTY ? content : (content + 3) % 6;
          features[((side === BLACK ? square - 1 : 32 - square) * 5 + content) * width + number] = (digit - EMPTY) * power;
        }
      });
      offset += 5 ** squares.length;
      number += 1;
    }
  }
  return [features, empty];
};

/** An n-tuple network: look-up tables, and the piece difference. */
export class NTuple extends SummingEvaluator {
  constructor(tuples, table, { difference = 1, king = 1, byColour = false } = {}) {
    super(...indexFeatures(tuples));
    Object.assign(this, { tuples, table, difference, king: fround(king), byColour });
  }

  reader(view) {
    return this.byColour ? BLACK : view;
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

// The network of `strong` (agents/nnue/network.py)

// Four squares around an unused one, and two corners.
const BLOCKS = Array.from({ length: 18 }, (_, number) => {
  const odd = Math.floor(number / 3) & 1;
  const top = 4 * Math.floor(number / 3) + number % 3 + 1 + odd;
  return [top, top + 4 - odd, top + 5 - odd, top + 8];
}).concat([[3, 4, 7, 8], [25, 26, 29, 30]]);
const [ROWS, NODES, SMALL, SETS] = [BLOCKS.length * 625, 256, 16, 6];
const [TABLES, PAIRS] = [ROWS * NODES, NODES / 2]; // numbers of tables; pairs of nodes, a number of the state each
const ROW = PAIRS + 1; // with the worth of the entry
const INDICES = 2 * BLOCKS.length; // of the blocks for both sides: a state begins with them
const [SCALE, SECOND_SCALE, WORTH_SCALE] = [255, 1024, 65536];
const UNIT = 256 / SCALE ** 2 / SECOND_SCALE; // of the second layer's sums

const clip = (number) => Math.max(0, Math.min(number, 255));

/** A first layer of rows for blocks of squares, kept move by move as both sides see the board, then a small one. */
export class Nnue extends SummingEvaluator {
  #rows = new Int32Array((ROWS + 1) * ROW);
  #none; // the state without any entry
  #second;
  #secondBias;
  #outputs; // a layer for each set of weights
  #products = new Uint8Array(NODES); // those above 0, and their places
  #places = new Uint16Array(NODES);
  #nodes = new Float32Array(SMALL);
  #sum = new Float32Array(1);

  constructor(buffer) { // as agents/nnue/network.py packs it
    super(...indexFeatures(BLOCKS, [BLACK, WHITE]));
    const [low, high] = [0, TABLES].map((start) => new Uint8Array(buffer, start, TABLES));
    const levels = Int16Array.from(low, (byte, entry) => byte + (high[entry] << 8));
    let at = 2 * TABLES;
    const read = (size) => new Float32Array(buffer, (at += 4 * size) - 4 * size, size);
    const readRounded = (size, scale) => Int32Array.from(read(size), (weight) => roundToEven(weight * scale));
    const inPairs = (numbers) => Int32Array.from({ length: PAIRS }, (_, pair) => numbers[2 * pair] + numbers[2 * pair + 1] * 65536);
    for (let row = 0; row < ROWS; row += 1) this.#rows.set(inPairs(levels.subarray(row * NODES)), row * ROW);
    const bias = inPairs(readRounded(NODES, SCALE));
    this.#second = Int16Array.from(readRounded(SETS * NODES * SMALL, SECOND_SCALE));
    this.#secondBias = readRounded(SETS * SMALL, 1 / UNIT);
    this.#outputs = Array.from({ length: SETS }, () => {
      const [constant, ...weights] = read(SMALL + 1);
      return packLayer({ weights: [weights], biases: [constant] });
    });
    readRounded(ROWS, WORTH_SCALE).forEach((worth, row) => { this.#rows[row * ROW + PAIRS] = worth; });
    this.stateSize += 2 * ROW;
    this.#none = Int32Array.of(...Array(INDICES).fill(ROWS), ...bias, 0, ...bias, 0); // a last row of zeros
  }

  start(state, at, position, view) {
    super.start(state, at, position, view);
    this.#exchange(this.#none, 0, state, at);
  }

  advance(states, from, to, before, after, view) {
    super.advance(states, from, to, before, after, view);
    this.#exchange(states, from, states, to);
  }

  // Writes the sums of a state whose indices are written, from those of another state.
  #exchange(olds, from, states, to) {
    const rows = this.#rows;
    for (let number = 0; number < INDICES; number += BLOCKS.length) {
      const target = to + INDICES + (number && ROW);
      let [sources, source] = [olds, from + INDICES + (number && ROW)];
      for (let i = number; i < number + BLOCKS.length; i += 1) {
        const plus = states[to + i] * ROW;
        const minus = olds[from + i] * ROW;
        if (plus !== minus) { // a move changes a block's entry for either side
          for (let j = 0; j < ROW; j += 1) states[target + j] = sources[source + j] + rows[plus + j] - rows[minus + j];
          [sources, source] = [states, target];
        }
      }
    }
  }

  // Collects the products of the first layer that are above 0, and returns how many there are.
  #multiply(states, start, place, count) {
    const products = this.#products;
    const places = this.#places;
    for (let i = 0; i < PAIRS; i += 2) {
      const one = states[start + (i >> 1)];
      const other = states[start + (PAIRS + i >> 1)];
      const low = clip(one << 16 >> 16) * clip(other << 16 >> 16) + 128 >> 8;
      const high = clip(one + 32768 >> 16) * clip(other + 32768 >> 16) + 128 >> 8;
      products[count] = low;
      places[count] = place + i;
      count += low + 255 >> 8; // else the next one overwrites it
      products[count] = high;
      places[count] = place + i + 1;
      count += high + 255 >> 8;
    }
    return count;
  }

  // The sum at the output without that of the pieces; leaves the small layer in #nodes.
  #output(states, own, other, { black, white }) {
    const set = Math.min(Math.max(popcount(black | white) - 1, 0) >> 2, SETS - 1);
    const second = this.#second;
    const products = this.#products;
    const places = this.#places;
    const count = this.#multiply(states, other, PAIRS, this.#multiply(states, own, 0, 0));
    for (let node = 0; node < SMALL; node += 4) {
      const row = set * NODES * SMALL + node;
      const bias = set * SMALL + node;
      let a = this.#secondBias[bias];
      let b = this.#secondBias[bias + 1];
      let c = this.#secondBias[bias + 2];
      let d = this.#secondBias[bias + 3];
      for (let i = 0; i < count; i += 1) {
        const product = products[i];
        const at = row + places[i] * SMALL;
        a = a + Math.imul(product, second[at]) | 0;
        b = b + Math.imul(product, second[at + 1]) | 0;
        c = c + Math.imul(product, second[at + 2]) | 0;
        d = d + Math.imul(product, second[at + 3]) | 0;
      }
      this.#setNode(node, a);
      this.#setNode(node + 1, b);
      this.#setNode(node + 2, c);
      this.#setNode(node + 3, d);
    }
    sumInEightChains(this.#outputs[set], this.#nodes, this.#sum);
    return this.#sum[0];
  }

  #setNode(node, sum) {
    const value = fround(sum) * fround(UNIT);
    this.#nodes[node] = value > 0 ? (value < 1 ? value : 1) : 0;
  }

  evaluate(states, at, position, view) {
    const isMover = position.turn === view;
    const [own, other] = isMover ? [at + INDICES, at + INDICES + ROW] : [at + INDICES + ROW, at + INDICES];
    const worths = fround(states[own + PAIRS]) / WORTH_SCALE;
    const value = tanh(fround(this.#output(states, own, other, position) + worths));
    return isMover ? value : -value;
  }

  /** The sum at the output for the side to move, its part by the blocks of squares, and the small layer. */
  explain(position) {
    const state = new Int32Array(this.stateSize);
    this.start(state, 0, position, position.turn);
    const worths = state[INDICES + PAIRS] / WORTH_SCALE;
    return { total: this.#output(state, INDICES, INDICES + ROW, position) + worths, pieces: worths, layers: [Array.from(this.#nodes)] };
  }
}
