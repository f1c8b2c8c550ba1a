// Positions: FEN, and descriptions in words.

import { columnOf, rowOf } from "/static/engine/rules.js";

const NAMES = { b: "black man", B: "black king", w: "white man", W: "white king" };
export const SQUARES = Array.from({ length: 32 }, (_, index) => index + 1);

// The rectangle around squares: its first row and column, its size, and whether they fill it.
export const boxOf = (squares) => {
  const [rows, columns] = [squares.map(rowOf), squares.map(columnOf)];
  const [top, left] = [Math.min(...rows), Math.min(...columns)];
  const [bottom, right] = [Math.max(...rows), Math.max(...columns)];
  const isIn = (square) => rowOf(square) >= top && rowOf(square) <= bottom && columnOf(square) >= left && columnOf(square) <= right;
  const isFull = squares.length > 2 && squares.length === SQUARES.filter(isIn).length;
  return { top, left, rows: bottom - top + 1, columns: right - left + 1, isFull };
};

export const pieceName = (piece) => NAMES[piece] ?? "empty";

export const joinWords = (items, word = "and") =>
  items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} ${word} ${items.at(-1)}`;

// {turn: "b"|"w", cells}: cells[1] to cells[32] are "b", "B", "w", "W" (kings are capitals) or "".
export const readFen = (fen) => {
  const [turn, ...sides] = fen.split(":");
  const cells = Array(33).fill("");
  for (const side of sides) {
    for (const item of side.slice(1).split(",").filter(Boolean)) {
      const king = item.startsWith("K");
      cells[Number(item.slice(king))] = king ? side[0] : side[0].toLowerCase();
    }
  }
  return { turn: turn.toLowerCase(), cells };
};

// The FEN of cells as readFen returns them; `turn` is "B" or "W".
export const writeFen = (turn, cells) => {
  const list = (piece) => SQUARES.filter((square) => cells[square].toLowerCase() === piece)
    .map((square) => (cells[square] === piece ? `${square}` : `K${square}`)).join(",");
  return `${turn}:W${list("w")}:B${list("b")}`;
};

export const describePosition = (fen) => {
  const { turn, cells } = readFen(fen);
  const squaresOf = (piece) => SQUARES.filter((square) => cells[square] === piece).join(", ");
  const describeSide = (name, piece) => {
    const parts = [[piece, "men"], [piece.toUpperCase(), "kings"]];
    const texts = parts.filter(([kind]) => squaresOf(kind)).map(([kind, what]) => `${what} on ${squaresOf(kind)}`);
    return `${name}: ${texts.join("; ") || "no pieces"}.`;
  };
  return `${describeSide("Black", "b")} ${describeSide("White", "w")} ${turn === "b" ? "Black" : "White"} to move.`;
};
