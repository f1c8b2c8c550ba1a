// Weight files of the site: safetensors with a JSON header, as agents/weights.py writes them.

import { NETWORKS, Network, Nnue, NTuple, PieceSquares } from "./evaluators.js";

const HEADER = "checkers-laboratory";
const DTYPES = { F64: Float64Array, F32: Float32Array, U8: Uint8Array };

// The sum by which a damaged file is known (zlib.adler32 in Python).
const adler32 = (bytes) => {
  let [one, two] = [1, 0];
  for (let at = 0; at < bytes.length; at += 1) {
    one = (one + bytes[at]) % 65521;
    two = (two + one) % 65521;
  }
  return two * 65536 + one;
};

// A genome of which only the weights that are not 0 are stored, with a bit for each place.
const expand = (genome, present, size) => {
  const weights = new Float64Array(size);
  let at = 0;
  for (let i = 0; i < size; i += 1) if (present[i >> 3] & 0x80 >> (i & 7)) weights[i] = genome[at++];
  return weights;
};

const inflate = (bytes) => new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();

const BUILDERS = {
  ...Object.fromEntries(NETWORKS.map((name) => [name, ({ architecture, king }, genome) => new Network(architecture, genome, king)])),
  "piece-squares": ({ king }, genome) => new PieceSquares(Float64Array.from(genome), king),
  ntuple: ({ king, options }, genome) => {
    const { tuples = options.drawing, difference = 1, by_colour: byColour = false } = options; // format 1 says "drawing"
    return new NTuple(tuples, Float64Array.from(genome), { difference, king, byColour });
  },
  nnue: async (fields, packed) => new Nnue(await inflate(packed)),
};

// Read a weight file: {evaluator, depth, isSelective}. Throws an Error unless the file has the checksum.
export const loadWeights = async (buffer, name, checksum) => {
  if (adler32(new Uint8Array(buffer)) !== checksum) throw new Error(`'${name}' is not a valid weight file: it is damaged or cut off`);
  const length = Number(new DataView(buffer).getBigUint64(0, true));
  const { __metadata__: metadata, ...tensors } = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  const fields = JSON.parse(metadata[HEADER]);
  const read = ({ dtype, data_offsets: [begin, end] }) => new DTYPES[dtype](buffer.slice(8 + length + begin, 8 + length + end));
  const stored = read(tensors.genome);
  const genome = fields.weights === undefined ? stored : expand(stored, read(tensors.present), fields.weights);
  const evaluator = await BUILDERS[fields.architecture](fields, genome);
  return { evaluator, depth: fields.depth ?? 4, isSelective: fields.architecture === "nnue" };
};
