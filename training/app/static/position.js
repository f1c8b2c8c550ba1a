// A position as text: read, and put into words.

const NAMES = { b: "black man", B: "black king", w: "white man", W: "white king" };
export const ALL = Array.from({ length: 32 }, (_, index) => index + 1);

export const nameOf = (piece) => NAMES[piece] ?? "empty";

export const listed = (items, word = "and") =>
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

export const inWords = (fen) => {
  const { turn, cells } = readFen(fen);
  const on = (piece) => ALL.filter((square) => cells[square] === piece).join(", ");
  const of = (name, piece) => {
    const parts = [[piece, "men"], [piece.toUpperCase(), "kings"]];
    const found = parts.filter(([kind]) => on(kind)).map(([kind, what]) => `${what} on ${on(kind)}`);
    return `${name}: ${found.join("; ") || "no pieces"}.`;
  };
  return `${of("Black", "b")} ${of("White", "w")} ${turn === "b" ? "Black" : "White"} to move.`;
};
