// Weight files: safetensors with a JSON header, as agents/weights.py writes them. Every number is checked.

import { genomeSize, NETWORKS, Network, NTuple, PieceSquares, SQUARE_WEIGHTS, STRONG_ENTRIES, TaperedNetwork } from "./evaluators.js";

const HEADER = "checkers-laboratory";
const MAX_HEADER = 1_000_000; // bytes
const LARGEST = 1e6; // float32 can still add up weights of this size
const DTYPES = { F64: [Float64Array, 8], F32: [Float32Array, 4], U8: [Uint8Array, 1] };
const OLD_NAMES = { made: "extra", own_leaves: "root_perspective", playouts: "mcts_options" };

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

const parseObject = (text, what) => {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error(`${what} is no JSON`);
  }
  if (!isObject(value)) throw new Error(`${what} is no JSON object`);
  return value;
};

const decodeText = (bytes) => {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Error("its header is no UTF-8 text");
  }
};

const readTensor = (data, name, tensor) => {
  const { dtype, shape, data_offsets: offsets } = isObject(tensor) ? tensor : {};
  if (!Object.hasOwn(DTYPES, dtype)) throw new Error(`its array ${name} is ${dtype}, not F64, F32 or U8`);
  const [TypedArray, size] = DTYPES[dtype];
  const areCounts = (numbers) => Array.isArray(numbers) && numbers.every((n) => Number.isSafeInteger(n) && n >= 0);
  if (!areCounts(shape) || shape.length !== 1) throw new Error(`its array ${name} is not a vector`);
  if (!areCounts(offsets) || offsets.length !== 2) throw new Error(`its array ${name} has no place`);
  const [begin, end] = offsets;
  if (end > data.length) throw new Error(`it is cut off: its array ${name} ends at byte ${end} of ${data.length}`);
  if (end - begin !== shape[0] * size) throw new Error(`its array ${name} has ${end - begin} bytes for ${shape[0]} numbers`);
  return new TypedArray(data.slice(begin, end).buffer);
};

/** Arrays and metadata of a safetensors file. */
const readSafetensors = (buffer) => {
  if (buffer.byteLength < 8) throw new Error(`it has ${buffer.byteLength} bytes`);
  const length = new DataView(buffer).getBigUint64(0, true);
  if (length > BigInt(Math.min(MAX_HEADER, buffer.byteLength - 8))) throw new Error("its header is cut off, or it is no safetensors file");
  const header = parseObject(decodeText(new Uint8Array(buffer, 8, Number(length))), "its header");
  const { __metadata__: metadata, ...tensors } = header;
  const data = new Uint8Array(buffer, 8 + Number(length));
  const arrays = Object.fromEntries(Object.entries(tensors).map(([name, tensor]) => [name, readTensor(data, name, tensor)]));
  const used = Object.values(arrays).reduce((sum, array) => sum + array.byteLength, 0);
  if (used !== data.length) throw new Error(`it has ${data.length} bytes of numbers in place of ${used}`);
  const text = isObject(metadata) ? metadata[HEADER] : undefined;
  if (typeof text !== "string") throw new Error(`it has no '${HEADER}' header`);
  return { arrays, fields: parseObject(text, "its metadata") };
};

const currentFields = (fields) => {
  if (fields.format === 2) return fields;
  if (fields.format !== 1) throw new Error(`its format is ${fields.format}, not 1 or 2`);
  const renamed = Object.fromEntries(Object.entries(fields).map(([name, value]) => [OLD_NAMES[name] ?? name, value]));
  const { drawing, ...options } = renamed.options ?? {};
  if (drawing !== undefined) options.tuples = drawing;
  return { ...renamed, options };
};

const checkFields = (fields) => {
  const { architecture, king, depth = 4, root_perspective: rootPerspective = true, options = {} } = fields;
  if (typeof architecture !== "string") throw new Error("its architecture is no text");
  if (!(king >= 1 && king <= 5)) throw new Error(`its king is worth ${king}, not 1 to 5 men`);
  if (!(Number.isInteger(depth) && depth >= 1 && depth <= 64)) throw new Error(`its depth is ${depth}, not 1 to 64 plies`);
  if (rootPerspective !== true) throw new Error("it judges positions from the side to move, which this page cannot");
  if (!isObject(options)) throw new Error("its options are no object");
  const { search_options: search = {} } = fields;
  if (!isObject(search) || Object.keys(search).length) throw new Error("its search has options that this page does not know");
  return { architecture, king, depth, options, weights: fields.weights };
};

const expand = (genome, present, size) => {
  if (!(Number.isSafeInteger(size) && size >= 0)) throw new Error(`the number of its weights is ${size}`);
  if (!(present instanceof Uint8Array) || present.length !== Math.ceil(size / 8)) {
    throw new Error(`it does not hold a bit for each of ${size} weights`);
  }
  const weights = new Float64Array(size);
  let at = 0;
  for (let i = 0; i < size; i += 1) if (present[i >> 3] & 0x80 >> (i & 7)) weights[i] = genome[at++];
  if (at !== genome.length) throw new Error(`there are ${genome.length} weights for ${at} places`);
  return weights;
};

const checkWeights = (genome) => {
  if (!(genome.every((weight) => Math.abs(weight) <= LARGEST))) {
    throw new Error("it has weights that are no numbers, or too large to use");
  }
};

const checkSize = (architecture, genome, size) => {
  if (genome.length !== size) throw new Error(`it holds ${genome.length} weights; ${architecture} has ${size}`);
  checkWeights(genome);
};

const buildNetwork = ({ architecture, king }, genome) => {
  checkSize(architecture, genome, genomeSize(architecture));
  return new Network(architecture, genome, king);
};

const buildSquares = ({ architecture, king }, genome) => {
  checkSize(architecture, genome, SQUARE_WEIGHTS);
  return new PieceSquares(Float64Array.from(genome), king);
};

const buildNTuple = ({ king, options }, genome) => {
  const { tuples, difference = 1, by_colour: byColour = false } = options;
  const areTuples = Array.isArray(tuples) && tuples.length >= 1 && tuples.length <= 96 && tuples.every((squares) =>
    Array.isArray(squares) && squares.length >= 1 && squares.length <= 8 && new Set(squares).size === squares.length
    && squares.every((square) => Number.isInteger(square) && square >= 1 && square <= 32));
  if (!areTuples) throw new Error("its tuples are not 1 to 96 lists of 1 to 8 different squares");
  if (!(Math.abs(difference) <= LARGEST)) throw new Error(`the piece difference has no weight ${difference}`);
  checkWeights(genome);
  return new NTuple(tuples, Float64Array.from(genome), { difference, king, byColour });
};

const inflate = async (packed) => {
  try {
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch {
    throw new Error("the tables cannot be unpacked: they are damaged or cut off");
  }
};

const buildTapered = async ({ options }, packed) => {
  const { step, entries } = options;
  if (!(packed instanceof Uint8Array)) throw new Error("packed tables are not bytes");
  if (!(step > 0 && step <= 1)) throw new Error(`the step of packed tables is above 0 and at most 1, not ${step}`);
  if (entries !== STRONG_ENTRIES) throw new Error(`it is for other windows: ${entries} entries, not ${STRONG_ENTRIES}`);
  return new TaperedNetwork(await inflate(packed), step);
};

const BUILDERS = {
  ...Object.fromEntries(NETWORKS.map((name) => [name, buildNetwork])),
  "piece-squares": buildSquares, ntuple: buildNTuple, tapered: buildTapered,
};

/**
 * Read a weight file.
 * @param {ArrayBuffer} buffer content of the file
 * @param {string} name for errors
 * @returns {Promise<{evaluator: object, architecture: string, depth: number, isSelective: boolean}>}
 * @throws Error that says what is wrong with the file
 */
export const loadWeights = async (buffer, name) => {
  try {
    const { arrays, fields } = readSafetensors(buffer);
    const metadata = checkFields(currentFields(fields));
    const { architecture, depth, weights } = metadata;
    if (!Object.hasOwn(BUILDERS, architecture)) {
      throw new Error(`it is for '${architecture}'; known are ${Object.keys(BUILDERS).join(", ")}`);
    }
    if (!arrays.genome) throw new Error("it has no weights");
    const genome = weights === undefined ? arrays.genome : expand(arrays.genome, arrays.present, weights);
    const evaluator = await BUILDERS[architecture](metadata, genome);
    return { evaluator, architecture, depth, isSelective: architecture === "tapered" };
  } catch (error) {
    throw new Error(`'${name}' is not a valid weight file: ${error.message}`);
  }
};
