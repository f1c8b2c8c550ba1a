// Rules: legal moves on bitboards, moves and positions as text, and a board with the draw rules.
//
// A board is an int32 with bit `square - 1` for each square. The moves come in the order of
// checkers_env/movegen.py: its boards have ghost bits, whose steps of 4 and 5 are shifts by 3 to 5 here.

export const BLACK = 0;
export const WHITE = 1;
export const SIDES = ["Black", "White"];
export const START = "B:W21,22,23,24,25,26,27,28,29,30,31,32:B1,2,3,4,5,6,7,8,9,10,11,12";
export const ROW = 5; // columns of a successor: black, white, kings, and the packed move in two parts
export const MAX_ROWS = 512; // room for the successors of any position, and unfinished routes

const EVEN = 0x0f0f0f0f; // rows of squares 1-4, 9-12 ...
const ODD = ~EVEN;
const LEFT = 0x10101010; // squares of odd rows at the edge
const RIGHT = 0x08080808; // squares of even rows at the edge
const KING_ROWS = [0xf0000000 | 0, 0xf];
const LOW_BITS = 0x3fffffff; // of a packed move: its last five squares
const MAX_FEN = 1000; // characters
const FEN_EXAMPLE = "W:W18,24,K31:B12,K3";

export const rowOf = (square) => (square - 1) >> 2;
export const columnOf = (square) => 2 * ((square - 1) & 3) + 1 - (rowOf(square) & 1);

/** Bit of a square (0-31) on the 35-bit boards of packed moves. */
const toBit35 = (index) => index + (index >> 3);
/** Index (0-31) of such a bit. */
const fromBit35 = (bit) => bit - Math.trunc(bit / 9);

export const popcount = (bits) => {
  let count = bits - ((bits >>> 1) & 0x55555555);
  count = (count & 0x33333333) + ((count >>> 2) & 0x33333333);
  return Math.imul((count + (count >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
};

export const lowestBit = (bits) => 31 - Math.clz32(bits & -bits);

const firstPiece = (bits, side) => (side === BLACK ? lowestBit(bits) : 31 - Math.clz32(bits));

/** Move every piece one step: direction 0 is +4, 1 is +5, 2 is -4, 3 is -5 on a board with ghost bits. */
export const shift = (board, direction) => {
  if (direction === 0) return (board & EVEN) << 4 | (board & ODD & ~LEFT) << 3;
  if (direction === 1) return (board & EVEN & ~RIGHT) << 5 | (board & ODD) << 4;
  if (direction === 2) return (board & ODD) >>> 4 | (board & EVEN & ~RIGHT) >>> 3;
  return (board & ODD & ~LEFT) >>> 5 | (board & EVEN) >>> 4;
};

/** Those of `pieces` that can jump over an opponent to an empty square. */
const jumpers = (pieces, own, opponent, kings, side) => {
  const empty = ~(own | opponent);
  const up = side === BLACK ? pieces : pieces & kings;
  const down = side === WHITE ? pieces : pieces & kings;
  const overUp = shift(opponent & shift(empty, 2), 2) | shift(opponent & shift(empty, 3), 3);
  const overDown = shift(opponent & shift(empty, 0), 0) | shift(opponent & shift(empty, 1), 1);
  return up & overUp | down & overDown;
};

export const canJump = (own, opponent, kings, side) => jumpers(own, own, opponent, kings, side) !== 0;

export const canMove = (own, opponent, kings, side) => {
  const empty = ~(own | opponent);
  const up = side === BLACK ? own : own & kings;
  const down = side === WHITE ? own : own & kings;
  const steps = up & (shift(empty, 2) | shift(empty, 3)) | down & (shift(empty, 0) | shift(empty, 1));
  return steps !== 0 || canJump(own, opponent, kings, side);
};

const writeRow = (rows, at, own, opponent, kings, side, high, low) => {
  rows[at] = side === BLACK ? own : opponent;
  rows[at + 1] = side === BLACK ? opponent : own;
  rows[at + 2] = kings;
  rows[at + 3] = high;
  rows[at + 4] = low;
};

const generateSteps = (rows, end, own, opponent, kings, side) => {
  const empty = ~(own | opponent);
  for (let index = 0; index < 4; index += 1) {
    const direction = index ^ side << 1;
    let pieces = (index < 2 ? own : own & kings) & shift(empty, direction ^ 2);
    while (pieces) {
      const from = firstPiece(pieces, side);
      const piece = 1 << from;
      pieces ^= piece;
      const landed = shift(piece, direction);
      const moved = piece | landed;
      const crowned = kings & piece ? moved : moved & KING_ROWS[side];
      const low = 1 << 12 | toBit35(from) << 6 | toBit35(lowestBit(landed));
      writeRow(rows, end * ROW, own ^ moved, opponent, kings ^ crowned, side, 0, low);
      end += 1;
    }
  }
  return end;
};

const appendJumps = (rows, end, own, opponent, kings, side, high, low) => {
  const piece = 1 << fromBit35(low & 63);
  const empty = ~(own | opponent);
  const directions = kings & piece ? 4 : 2;
  for (let index = 0; index < directions; index += 1) {
    const direction = index ^ side << 1;
    const captured = shift(piece, direction) & opponent;
    const landed = shift(captured, direction) & empty;
    if (!landed) continue;
    const moved = piece | landed;
    const crowned = kings & piece ? moved : landed & KING_ROWS[side];
    const highNow = high << 6 | low >>> 24;
    const lowNow = low << 6 & LOW_BITS | toBit35(lowestBit(landed));
    writeRow(rows, end * ROW, own ^ moved, opponent ^ captured, kings & ~captured ^ crowned, side, highNow, lowNow);
    end += 1;
  }
  return end;
};

// Unfinished routes wait in the rows behind the finished ones, shortest first.
const generateCaptures = (rows, end, own, opponent, kings, side) => {
  let pieces = jumpers(own, own, opponent, kings, side);
  while (pieces) {
    const from = firstPiece(pieces, side);
    const piece = 1 << from;
    pieces ^= piece;
    const endsRoute = kings & piece ? 0 : KING_ROWS[side];
    let at = end;
    let waiting = appendJumps(rows, end, own, opponent, kings, side, 0, 1 << 6 | toBit35(from));
    while (at < waiting) {
      const row = at * ROW;
      const ownNow = rows[row + side];
      const opponentNow = rows[row + 1 - side];
      const kingsNow = rows[row + 2];
      const high = rows[row + 3];
      const low = rows[row + 4];
      const landed = 1 << fromBit35(low & 63) & ~endsRoute;
      at += 1;
      if (jumpers(landed, ownNow, opponentNow, kingsNow, side)) {
        waiting = appendJumps(rows, waiting, ownNow, opponentNow, kingsNow, side, high, low);
      } else {
        writeRow(rows, end * ROW, ownNow, opponentNow, kingsNow, side, high, low);
        end += 1;
      }
    }
  }
  return end;
};

/** Append every legal successor of a position, ROW numbers each, and return the new end of the rows. */
export const generateSuccessors = (rows, end, black, white, kings, side) => {
  const own = side === BLACK ? black : white;
  const opponent = side === BLACK ? white : black;
  return canJump(own, opponent, kings, side)
    ? generateCaptures(rows, end, own, opponent, kings, side)
    : generateSteps(rows, end, own, opponent, kings, side);
};

/** Squares (1-32) of a packed move. */
const unpackSquares = (high, low) => {
  const bits = [];
  let packed = BigInt(high >>> 0) << 30n | BigInt(low);
  for (; packed !== 1n; packed >>= 6n) bits.unshift(Number(packed & 63n));
  return bits.map((bit) => fromBit35(bit) + 1);
};

const capturedSquares = (squares) => {
  const bits = squares.map((square) => toBit35(square - 1));
  return bits.slice(1).flatMap((bit, index) =>
    (Math.abs(bit - bits[index]) > 5 ? [fromBit35((bit + bits[index]) / 2) + 1] : []));
};

/** Text of a move: start and end, or the full path where other moves share them. */
const writeMove = (squares, captured, isAmbiguous) =>
  (isAmbiguous ? squares : [squares[0], squares.at(-1)]).join(captured.length ? "x" : "-");

const pathKey = ({ squares }) => squares.join();
const endsKey = ({ squares }) => `${squares[0]},${squares.at(-1)}`;

/** Between two squares of a move; whether it is a capture follows from the position. */
export const MARK = String.raw`\s*(?:[-xX:\u00d7\u2010-\u2015\u2212]>?|\u2192|to)\s*`;
const MOVE = new RegExp(`^[0-9]{1,9}(?:${MARK}[0-9]{1,9})+$`);

const parseSquares = (text) => {
  if (!MOVE.test(text.trim())) {
    throw new Error(`'${text}' is not a move: write 11-15, 22x15 for a capture, or each square as in 22x15x8`);
  }
  const squares = text.match(/[0-9]+/g).map(Number);
  const wrong = squares.find((square) => square < 1 || square > 32);
  if (wrong !== undefined) throw new Error(`'${text}' names square ${wrong}: squares are 1 to 32`);
  return squares;
};

const formatMoves = (moves) => moves.map(({ text }) => text).join(", ") || "none";

const squaresOf = (board) => Array.from({ length: 32 }, (_, index) => index + 1).filter((square) => board >>> (square - 1) & 1);

const formatSquares = (pieces, kings) =>
  squaresOf(pieces).map((square) => `${kings >>> (square - 1) & 1 ? "K" : ""}${square}`).join(",");

/** Write a position as FEN, squares in ascending order. */
export const writeFen = ({ black, white, kings, turn }) =>
  `${"BW"[turn]}:W${formatSquares(white, kings)}:B${formatSquares(black, kings)}`;

const readItems = (items) => (items ? items.split(",") : []).flatMap((raw) => {
  const item = raw.trim();
  const match = /^(K?)([0-9]{1,9})(?:-([0-9]{1,9}))?$/.exec(item);
  if (!match) throw new Error(`'${item}' is not a square, a king or a range such as 18, K31 or 1-12`);
  const [first, last] = [Number(match[2]), Number(match[3] ?? match[2])];
  const wrong = [first, last].find((square) => square < 1 || square > 32);
  if (wrong !== undefined) throw new Error(`square ${wrong} is not 1 to 32`);
  if (last < first) throw new Error(`range '${item}' runs backwards`);
  return Array.from({ length: last - first + 1 }, (_, index) => [first + index, match[1] === "K"]);
});

const sectionsByColour = (sections) => {
  const found = {};
  for (const section of sections.filter((each) => !/^[HF][0-9]+$/.test(each))) {
    const colour = section.slice(0, 1);
    if (!"BW".includes(colour) || !colour) throw new Error(`section '${section}' begins with neither 'B' nor 'W'`);
    if (colour in found) throw new Error(`two sections for ${colour === "B" ? "black" : "white"}`);
    found[colour] = section.slice(1).trim().replace(/,$/, "");
  }
  for (const colour of "BW") {
    if (!(colour in found)) throw new Error(`no section for ${colour === "B" ? "black" : "white"}`);
  }
  return found;
};

const checkPieces = ({ black, white, kings }) => {
  [["black", black], ["white", white]].forEach(([name, pieces], side) => {
    if (popcount(pieces) > 12) throw new Error(`${popcount(pieces)} ${name} pieces: at most 12`);
    const [uncrowned] = squaresOf(pieces & ~kings & KING_ROWS[side]);
    if (uncrowned) throw new Error(`${name} man on ${uncrowned}, its king row: write K${uncrowned}`);
  });
};

const parseFen = (text, lenient) => {
  const [side, ...sections] = text.split(":").map((part) => part.trim());
  if (side !== "B" && side !== "W") throw new Error(`side to move '${side}' is neither 'B' nor 'W'`);
  const position = { black: 0, white: 0, kings: 0, turn: side === "B" ? BLACK : WHITE };
  for (const [colour, items] of Object.entries(sectionsByColour(sections))) {
    for (const [square, isKing] of readItems(items)) {
      const piece = 1 << (square - 1);
      if ((position.black | position.white) & piece) throw new Error(`square ${square} is named twice`);
      position[colour === "B" ? "black" : "white"] |= piece;
      if (isKing) position.kings |= piece;
    }
  }
  if (lenient) position.kings |= (position.black & KING_ROWS[BLACK]) | (position.white & KING_ROWS[WHITE]);
  checkPieces(position);
  return position;
};

/** Read a position: {black, white, kings, turn}. If lenient, a man on its king row is a king. */
export const readFen = (text, lenient = false) => {
  if (text.length > MAX_FEN) {
    throw new Error(`bad FEN '${text.slice(0, 50)}'...: it has ${text.length} characters, at most ${MAX_FEN} are read`);
  }
  try {
    return parseFen(text.trim().toUpperCase().replace(/\.$/, "").replace(/^\?/, "B"), lenient);
  } catch (error) {
    throw new Error(`bad FEN '${text}': ${error.message} (accepted: '${FEN_EXAMPLE}')`);
  }
};

/** A position that moves are made on and taken back from, with the draw rules of the pages. */
export class Board {
  #past = [];
  #legal = null;

  constructor(fen = START, { repetition = 3, noProgress = 40, maxMoves = 0 } = {}) {
    Object.assign(this, readFen(fen), { repetition, noProgress, maxMoves, moves: [], reversiblePlies: 0 });
  }

  get ply() {
    return this.moves.length;
  }

  get fen() {
    return writeFen(this);
  }

  /** The legal moves, in the order of the rules: {text, squares, captured} and the successor. */
  get legalMoves() {
    if (this.#legal) return this.#legal;
    const rows = new Int32Array(MAX_ROWS * ROW);
    const count = generateSuccessors(rows, 0, this.black, this.white, this.kings, this.turn);
    const moves = Array.from({ length: count }, (_, index) => {
      const row = rows.slice(index * ROW, (index + 1) * ROW);
      const squares = unpackSquares(row[3], row[4]);
      return { squares, captured: capturedSquares(squares), row };
    });
    const ends = moves.map(endsKey);
    this.#legal = moves.map((move, index) => {
      const isAmbiguous = move.captured.length > 0 && ends.filter((end) => end === ends[index]).length > 1;
      return { text: writeMove(move.squares, move.captured, isAmbiguous), ...move };
    });
    return this.#legal;
  }

  /** The legal moves with a text's full path, or else with its start and end. */
  findMoves(text) {
    const squares = parseSquares(text).join();
    const exact = this.legalMoves.filter((move) => pathKey(move) === squares);
    return exact.length ? exact : this.legalMoves.filter((move) => endsKey(move) === squares);
  }

  /** The legal move that a text writes. */
  parseMove(text) {
    const found = this.findMoves(text);
    if (found.length === 1) return found[0];
    if (found.length) throw new Error(`'${text}' is ambiguous: write ${found.map((move) => move.text).join(" or ")}`);
    throw new Error(`'${text}' is illegal: the legal moves are ${formatMoves(this.legalMoves)}`);
  }

  /** Make a move of `legalMoves`, or the move that a text writes. */
  push(move) {
    const legal = typeof move === "string" ? this.parseMove(move)
      : this.legalMoves.find((each) => pathKey(each) === pathKey(move));
    if (!legal) throw new Error(`${move.text} is illegal: the legal moves are ${formatMoves(this.legalMoves)}`);
    const { black, white, kings, reversiblePlies } = this;
    this.#past.push({ black, white, kings, reversiblePlies });
    this.moves.push(legal);
    const manMoved = !(kings >>> (legal.squares[0] - 1) & 1);
    [this.black, this.white, this.kings] = legal.row;
    this.turn = 1 - this.turn;
    this.reversiblePlies = manMoved || legal.captured.length ? 0 : reversiblePlies + 1;
    this.#legal = null;
  }

  pop() {
    if (!this.moves.length) throw new Error("no move to take back: none was made on this board");
    Object.assign(this, this.#past.pop(), { turn: 1 - this.turn });
    this.#legal = null;
    return this.moves.pop();
  }

  /** Positions since the last capture or man's move, the oldest first. */
  earlierPositions() {
    return this.#past.slice(this.ply - this.reversiblePlies);
  }

  /** {winner: BLACK, WHITE or null, reason}, or null while the game goes on. */
  outcome() {
    if (!(this.turn === BLACK ? this.black : this.white)) return { winner: 1 - this.turn, reason: "no pieces" };
    if (!this.legalMoves.length) return { winner: 1 - this.turn, reason: "no legal move" };
    if (this.maxMoves && this.ply >= 2 * this.maxMoves) return { winner: null, reason: "max moves" };
    if (this.repetition && this.#occurrences() >= this.repetition) return { winner: null, reason: "repetition" };
    if (this.noProgress && this.reversiblePlies >= 2 * this.noProgress) return { winner: null, reason: "no progress" };
    return null;
  }

  #occurrences() {
    const { black, white } = this;
    const earlier = this.earlierPositions();
    return 1 + earlier.filter((past, index) => (earlier.length - index) % 2 === 0
      && past.black === black && past.white === white).length;
  }
}

// Positions of a game for replay.js, each with the move that led to it.
export const framesOf = (start, moves) => {
  const board = new Board(start);
  return [{ fen: board.fen, move: null }, ...moves.map((move) => {
    board.push(move);
    return { fen: board.fen, move: board.moves.at(-1) };
  })];
};
