// The positions of a game, from its moves as the report writes them.
// A position is {cells, turn}: cells[square] is "b", "B", "w", "W" (kings are capitals) or "".

const rowOf = (square) => (square - 1) >> 2;
const columnOf = (square) => 2 * ((square - 1) & 3) + 1 - (rowOf(square) & 1);

const sideOf = (piece) => piece.toLowerCase();
const isKing = (piece) => piece !== sideOf(piece);

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

const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEF";

// The square that a jump passes over; none for a step.
const jumpedSquares = (from, to) => {
  const row = (rowOf(from) + rowOf(to)) / 2;
  return Number.isInteger(row) ? [4 * row + ((columnOf(from) + columnOf(to)) >> 2) + 1] : [];
};

// A move: two letters, or those of a path in brackets: () if its ends tell the move, else [].
const readMove = (packed) => {
  const squares = [...packed.replace(/\W/g, "")].map((letter) => LETTERS.indexOf(letter) + 1);
  const captured = squares.slice(1).flatMap((to, index) => jumpedSquares(squares[index], to));
  const named = packed[0] === "(" ? [squares[0], squares.at(-1)] : squares;
  return { squares, captured, text: named.join(captured.length ? "x" : "-") };
};

const push = ({ cells, turn }, { squares, captured }) => {
  const [from, to] = [squares[0], squares.at(-1)];
  const after = [...cells];
  after[from] = "";
  for (const square of captured) after[square] = "";
  after[to] = rowOf(to) === (turn === "b" ? 7 : 0) ? turn.toUpperCase() : cells[from];
  return { cells: after, turn: turn === "b" ? "w" : "b" };
};

// Every position of a game, and the moves between them.
const replay = (fen, packed) => {
  const moves = (packed.match(/\w\w|\W\w+\W/g) ?? []).map(readMove);
  const positions = [readFen(fen)];
  for (const move of moves) positions.push(push(positions.at(-1), move));
  return { positions, moves };
};
