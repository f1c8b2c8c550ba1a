// The rules that a replay needs: how pieces go and capture, and when they are crowned.
// A position is {cells, turn}: cells[square] is "b", "B", "w", "W" (kings are capitals) or "".

const rowOf = (square) => (square - 1) >> 2;
const columnOf = (square) => 2 * ((square - 1) & 3) + 1 - (rowOf(square) & 1);
const squareAt = (row, column) =>
  row >= 0 && row < 8 && column >= 0 && column < 8 ? 4 * row + (column >> 1) + 1 : 0;

const sideOf = (piece) => piece.toLowerCase();
const isKing = (piece) => piece !== sideOf(piece);
const rowSteps = (piece) => (isKing(piece) ? [1, -1] : piece === "b" ? [1] : [-1]);

const readFen = (text) => {
  const [turn, ...sides] = text.split(":");
  const cells = Array(33).fill("");
  for (const side of sides) {
    const man = side[0].toLowerCase();
    for (const item of side.slice(1).split(",").filter(Boolean)) {
      cells[Number(item.replace("K", ""))] = item[0] === "K" ? side[0] : man;
    }
  }
  return { cells, turn: turn.toLowerCase() };
};

// All finished captures that go on from a path; the piece still stands on the path's first square.
const captures = (cells, path, captured = []) => {
  const [start, here] = [path[0], path.at(-1)];
  const piece = cells[start];
  const found = rowSteps(piece).flatMap((rows) =>
    [1, -1].flatMap((columns) => {
      const over = squareAt(rowOf(here) + rows, columnOf(here) + columns);
      const to = squareAt(rowOf(here) + 2 * rows, columnOf(here) + 2 * columns);
      const enemy = over && cells[over] && sideOf(cells[over]) !== sideOf(piece);
      const free = to && (!cells[to] || to === start);
      if (!enemy || !free || captured.includes(over)) return [];
      return captures(cells, [...path, to], [...captured, over]);
    }),
  );
  return found.length || path.length === 1 ? found : [{ squares: path, captured }];
};

const sameSquares = (one, other) => String(one) === String(other);

// The move that squares write: a step, or the capture along them, or between the two of them.
const findMove = ({ cells, turn }, squares) => {
  const [from, to] = [squares[0], squares.at(-1)];
  const piece = cells[from];
  if (piece && sideOf(piece) === turn) {
    const rows = rowOf(to) - rowOf(from);
    const isStep = Math.abs(rows) === 1 && Math.abs(columnOf(to) - columnOf(from)) === 1;
    if (isStep && !cells[to] && rowSteps(piece).includes(rows)) return { squares, captured: [] };
    const found = captures(cells, [from]);
    const exact = found.find((move) => sameSquares(move.squares, squares));
    const between = found.filter((move) => sameSquares([from, move.squares.at(-1)], squares));
    if (exact || between.length === 1) return exact || between[0];
  }
  throw new Error(`${squares.join("-")} cannot be played`);
};

const push = ({ cells, turn }, { squares, captured }) => {
  const [from, to] = [squares[0], squares.at(-1)];
  const after = [...cells];
  after[from] = "";
  for (const square of captured) after[square] = "";
  after[to] = rowOf(to) === (turn === "b" ? 7 : 0) ? turn.toUpperCase() : cells[from];
  return { cells: after, turn: turn === "b" ? "w" : "b" };
};

const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEF";

// The squares of each move: two letters, or in brackets those of a longer path.
const unpack = (text) =>
  (text.match(/\(\w+\)|\w\w/g) ?? []).map((letters) =>
    [...letters.replace(/[()]/g, "")].map((letter) => LETTERS.indexOf(letter) + 1),
  );

// Every position of a game, and the moves between them; `error` says where a replay had to stop.
const replay = (fen, packed) => {
  const positions = [readFen(fen)];
  const moves = [];
  for (const squares of unpack(packed)) {
    try {
      const move = findMove(positions.at(-1), squares);
      moves.push({ ...move, text: squares.join(move.captured.length ? "x" : "-") });
      positions.push(push(positions.at(-1), move));
    } catch (error) {
      return { positions, moves, error: error.message };
    }
  }
  return { positions, moves, error: "" };
};
