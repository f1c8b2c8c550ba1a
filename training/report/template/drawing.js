// Pictures of a position and of a move, in a drawing of 80 by 80: a square is 10 by 10.

const SIDES = { b: "Black", w: "White" };
const CROWN = "M-2.4 1.8h4.8l.6-3.7-1.8 1.5L0-2.4-1.2-.4-3-1.9z";
const HOP = 160; // milliseconds from square to square

const make = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};

const draw = (name, attributes, ...children) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};

const centre = (square, flipped) => {
  const [x, y] = [5 + 10 * columnOf(square), 5 + 10 * rowOf(square)];
  return flipped ? [80 - x, 80 - y] : [x, y];
};

const drawSquare = (square, flipped, className) => {
  const [x, y] = centre(square, flipped);
  return draw("g", { class: className },
    draw("rect", { x: x - 5, y: y - 5, width: 10, height: 10 }),
    draw("text", { x: x - 4.65, y: y - 3.3 }, String(square)));
};

const drawPiece = (piece, square, flipped, className = "piece") => {
  const disc = draw("g", { class: `${className} ${SIDES[sideOf(piece)].toLowerCase()}` },
    draw("circle", { r: 3.7 }), draw("circle", { r: 2.7, class: "ring" }));
  if (isKing(piece)) disc.append(draw("path", { d: CROWN }));
  return draw("g", { transform: `translate(${centre(square, flipped).join(" ")})` }, disc);
};

// The way of a piece, and crosses over the shades of those that it captured.
const drawMove = ({ squares, captured }, before, flipped) => {
  const points = squares.map((square) => centre(square, flipped)).join(" ");
  const taken = captured.map((square) => {
    const shade = drawPiece(before.cells[square], square, flipped, "piece taken");
    shade.append(draw("path", { d: "M-2-2l4 4m0-4l-4 4", class: "cross" }));
    return shade;
  });
  return [draw("polyline", { points, class: "way" }), ...taken];
};

// A position with the move that led to it, if any; the piece that moved is drawn last.
const drawBoard = (position, move, before, flipped) => {
  const { cells } = position;
  const ends = move ? [move.squares[0], move.squares.at(-1)] : [];
  const squares = Array.from({ length: 32 }, (_, index) =>
    drawSquare(index + 1, flipped, ends.includes(index + 1) ? "dark moved" : "dark"));
  const occupied = cells.flatMap((piece, square) => (piece ? [square] : []));
  occupied.sort((one, other) => (one === ends[1]) - (other === ends[1]));
  return draw("svg", { viewBox: "0 0 80 80", "aria-hidden": "true" },
    draw("rect", { width: 80, height: 80, class: "light" }),
    ...squares,
    ...(move ? drawMove(move, before, flipped) : []),
    ...occupied.map((square) => drawPiece(cells[square], square, flipped)));
};

// Let the piece that a board shows last come along the squares of its move.
const glide = (board, { squares }, flipped) => {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const [toX, toY] = centre(squares.at(-1), flipped);
  const frames = squares.map((square) => {
    const [x, y] = centre(square, flipped);
    return { transform: `translate(${x - toX}px, ${y - toY}px)` };
  });
  const piece = board.lastChild.firstChild;
  piece.animate(frames, { duration: HOP * (squares.length - 1), easing: "ease-in-out" });
};

const inWords = ({ cells }) =>
  Object.entries(SIDES).map(([man, side]) => {
    const on = (piece) => cells.flatMap((cell, square) => (cell === piece ? [square] : []));
    const men = on(man).join(", ") || "none";
    const kings = on(man.toUpperCase()).join(", ") || "none";
    return `${side}: men on ${men}; kings on ${kings}.`;
  }).join(" ");
