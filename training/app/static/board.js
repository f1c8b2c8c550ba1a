// The board: shows a position, and lets a person choose one of the legal moves. It fills an empty <div> and knows no rules.
//
//   const board = new Board(element, { label, onMove, onIllegal, onPremove, onSquare, onSay });
//   board.show({ fen, last, legal, flipped, animate, premove, editing });
//
// onMove(move) gets the chosen one of the `legal` moves of rules.js, onIllegal(squares) a path of none, onPremove(move)
// {from, to} before the turn or null, onSquare(square) a click while `editing`, onSay(text) an announcement.
// `last` is the move before, `flipped` puts Black below, `premove` is the side ("b" or "w") that may choose before its turn.
// Keys: arrows move the focus over the dark squares, Enter or Space chooses, Escape cancels.

import { createElement, createSvg } from "/static/dom.js";
import { columnOf, rowOf } from "/static/engine/rules.js";
import { boxOf, joinWords, pieceName, readFen, SQUARES } from "/static/position.js";

const CROWN = "M-1.9 1.5h3.8l.55-3.1-1.5 1.2L0-2.1-.95-.4-2.45-1.6z";
const HOP = 180; // milliseconds from square to square
const DRAG_DISTANCE = 5; // pixels that the pointer moves before a click becomes a drag
let boards = 0; // made so far: each has an arrowhead of its own

const createBox = (className, role) => {
  const node = createElement("div", { className });
  if (role) node.setAttribute("role", role);
  return node;
};

const startsWith = (squares, path) => path.every((square, index) => squares[index] === square);

export class Board {
  #element;
  #handlers;
  #cells = [];
  #layers = {};
  #view = { legal: [], last: null, flipped: null };
  #position = { turn: "b", cells: [] };
  #path = [];
  #head = `arrowhead-${boards += 1}`;
  #at = 0; // the square of the keyboard's focus
  #premove = []; // the two squares of a move chosen before the turn
  #pieces = {}; // the piece's picture by square
  #drag = null; // {square, id, x, y, picture}: `picture` from the first movement on

  constructor(element, { label = "Board", ...handlers } = {}) {
    this.#element = element;
    this.#handlers = handlers;
    element.classList.add("board");
    element.setAttribute("role", "grid");
    element.setAttribute("aria-label", label);
    element.addEventListener("click", (event) => this.#onClick(event));
    element.addEventListener("keydown", (event) => this.#onKey(event));
    element.addEventListener("pointerdown", (event) => this.#onPointerDown(event));
    element.addEventListener("pointermove", (event) => this.#onPointerMove(event));
    element.addEventListener("pointerup", (event) => this.#onPointerUp(event));
    element.addEventListener("pointercancel", () => this.#endDrag());
    element.addEventListener("focusin", ({ target }) => this.#setFocus(Number(target.dataset.square)));
  }

  show({ fen, last = null, legal = [], flipped = false, animate = false, premove = "", editing = false }) {
    if (flipped !== this.#view.flipped) this.#build(flipped);
    const before = this.#position.cells;
    this.#view = { last, legal, flipped, premove, editing };
    this.#position = readFen(fen);
    [this.#path, this.#premove, this.#drag] = [[], [], null];
    this.point(null);
    this.#render();
    if (animate && last) this.#animate(last, before);
  }

  // Draw an arrow along a move; null removes it.
  point(move) {
    const points = move ? move.squares.map((square) => this.#centre(square).join(" ")).join(" ") : "";
    const line = createSvg("polyline", { points, class: "arrow", "marker-end": `url(#${this.#head})` });
    this.#layers.arrow.replaceChildren(...(move ? [line] : []));
  }

  // Lay tiles under the pieces, each in the middle of its squares: {squares, value, text}. A value from -1 (amber) to +1
  // (blue) is the strength of the colour.
  paint(tiles) {
    this.#layers.tiles.replaceChildren(...tiles.map((tile) => this.#tile(tile)));
    this.#layers.numbers.replaceChildren(...tiles.map((tile) => this.#number(tile)));
  }

  // Frame a rectangle of the board, or each of the squares if they fill none.
  outline(squares) {
    const frames = squares.length && boxOf(squares).isFull ? [squares] : squares.map((square) => [square]);
    this.#layers.outline.replaceChildren(...frames.map((each) => createSvg("rect", this.#around(each, 4.5))));
  }

  cancel() {
    if (!this.#path.length && !this.#premove.length) return;
    if (this.#premove.length) this.#handlers.onPremove?.(null);
    [this.#path, this.#premove] = [[], []];
    this.#render();
    this.#say("Cancelled.");
  }

  focus() {
    this.#cells[this.#at]?.focus();
  }

  // Scroll the board into view, unless this part of it is.
  reveal(part = 1) {
    const { top, bottom, height } = this.#element.getBoundingClientRect();
    if (Math.min(bottom, innerHeight) - Math.max(top, 0) >= part * height - 1) return;
    const behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
    this.#element.scrollIntoView({ block: "nearest", behavior });
  }

  // Create the cells row by row, and over them an SVG in layers.
  #build(flipped) {
    this.#view.flipped = flipped;
    const hasFocus = this.#element.contains(document.activeElement);
    const rows = Array.from({ length: 8 }, () => createBox("row", "row"));
    for (const place of Array(64).keys()) {
      const [row, column] = [place >> 3, place & 7];
      rows[row].append((row + column) % 2 ? this.#darkCell(row, column, flipped) : createBox("light"));
    }
    const names = ["moved", "ghosts", "tiles", "pieces", "outline", "numbers", "arrow"];
    this.#layers = Object.fromEntries(names.map((name) => [name, createSvg("g", { class: name })]));
    const head = createSvg("marker", {
      id: this.#head, viewBox: "0 0 4 4", refX: 2, refY: 2, markerWidth: 3, orient: "auto",
    }, createSvg("path", { d: "M0 0 4 2 0 4z" }));
    const picture = createSvg("svg", { viewBox: "0 0 80 80", "aria-hidden": "true" },
      createSvg("defs", {}, head), ...Object.values(this.#layers));
    this.#element.replaceChildren(...rows, picture);
    this.#setFocus(hasFocus ? this.#at : flipped ? 12 : 21); // a man of the side below
    if (hasFocus) this.focus();
  }

  #darkCell(row, column, flipped) {
    const number = 4 * row + (column >> 1) + 1;
    const square = flipped ? 33 - number : number;
    const cell = createBox("dark", "gridcell");
    cell.dataset.square = square;
    cell.tabIndex = -1;
    this.#cells[square] = cell;
    return cell;
  }

  #render() {
    const { last, legal } = this.#view;
    const cells = [...this.#position.cells];
    const captured = this.#capturedSquares();
    if (this.#path.length > 1) { // in the middle of a capture
      cells[this.#path.at(-1)] = cells[this.#path[0]];
      if (this.#path.at(-1) !== this.#path[0]) cells[this.#path[0]] = "";
    }
    const next = new Set(this.#candidates().map(({ squares }) => squares[this.#path.length]));
    for (const square of SQUARES) this.#renderCell(square, cells[square], next.has(square), legal.length > 0);
    const here = this.#path.at(-1) ?? last?.squares.at(-1);
    const order = SQUARES.filter((square) => cells[square]).sort((a, b) => (a === here) - (b === here));
    this.#pieces = Object.fromEntries(order.map((square) =>
      [square, this.#piece(cells[square], square, captured.includes(square) ? "piece captured" : "piece")]));
    this.#layers.pieces.replaceChildren(...order.map((square) => this.#pieces[square]));
    this.#layers.ghosts.replaceChildren();
    this.#layers.moved.replaceChildren(...(last ? this.#moveMarks(last) : []));
  }

  #renderCell(square, piece, next, choosing) {
    const { last } = this.#view;
    const cell = this.#cells[square];
    const chosen = square === this.#path.at(-1);
    const ends = last ? [last.squares[0], last.squares.at(-1)] : [];
    cell.className = "dark";
    cell.classList.toggle("moved", ends.includes(square));
    cell.classList.toggle("chosen", chosen);
    cell.classList.toggle("able", next && !this.#path.length);
    cell.classList.toggle("target", next && this.#path.length > 0);
    cell.classList.toggle("premove", this.#premove.includes(square));
    cell.classList.toggle("held", this.#isOwn(square) && Boolean(this.#view.premove));
    const can = next ? (this.#path.length ? ", can go here" : ", can move") : "";
    cell.setAttribute("aria-label", `${square}, ${pieceName(piece)}${can}${chosen ? ", chosen" : ""}`);
    if (choosing) cell.setAttribute("aria-selected", chosen);
    else cell.removeAttribute("aria-selected");
  }

  #piece(piece, square, className) {
    const side = piece.toLowerCase() === "b" ? "black" : "white";
    const disc = createSvg("g", { class: `${className} ${side}` },
      createSvg("circle", { r: 3.9 }), createSvg("circle", { r: 2.9, class: "ring" }));
    if (piece !== piece.toLowerCase()) disc.append(createSvg("path", { d: CROWN }));
    return createSvg("g", { transform: `translate(${this.#centre(square).join(" ")})` }, disc);
  }

  #moveMarks({ squares, captured }) {
    const points = squares.map((square) => this.#centre(square).join(" ")).join(" ");
    const crosses = captured.map((square) => createSvg("path", {
      d: "M-1.8-1.8l3.6 3.6m0-3.6l-3.6 3.6",
      transform: `translate(${this.#centre(square).join(" ")})`,
      class: "cross",
    }));
    return [createSvg("polyline", { points, class: "way" }), ...crosses];
  }

  #tile({ squares, value }) {
    const [x, y] = this.#middle(squares);
    const strength = Math.min(Math.abs(value), 1);
    const box = { x: x - 4.7, y: y - 4.7, width: 9.4, height: 9.4, rx: 0.8 };
    const fill = { "fill-opacity": (0.08 + 0.7 * strength).toFixed(3) };
    return createSvg("rect", { ...box, ...fill, class: value < 0 ? "tile bad" : "tile good" });
  }

  // Below the middle, where a king has its crown.
  #number({ squares, text = "" }) {
    const [x, y] = this.#middle(squares);
    return createSvg("text", { x, y: y + 4.2 }, text);
  }

  #middle(squares) {
    const { x, y, width, height } = this.#around(squares);
    return [x + width / 2, y + height / 2];
  }

  // Move the piece along its squares; what it captures fades as the piece passes.
  #animate({ squares, captured }, before) {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    captured.forEach((square, index) => {
      if (!before[square]) return;
      const ghost = this.#piece(before[square], square, "piece");
      this.#layers.ghosts.append(ghost);
      const fade = [{ opacity: 1 }, { opacity: 1, offset: 0.5 }, { opacity: 0 }];
      ghost.animate(fade, { duration: HOP * (index + 1.5), fill: "forwards" }).onfinish = () => ghost.remove();
    });
    const [toX, toY] = this.#centre(squares.at(-1));
    const frames = squares.map((square) => {
      const [x, y] = this.#centre(square);
      return { transform: `translate(${x - toX}px, ${y - toY}px)` };
    });
    const duration = HOP * (squares.length - 1);
    this.#layers.pieces.lastChild?.firstChild.animate(frames, { duration, easing: "ease-in-out" });
  }

  #centre(square) {
    const [x, y] = [5 + 10 * columnOf(square), 5 + 10 * rowOf(square)];
    return this.#view.flipped ? [80 - x, 80 - y] : [x, y];
  }

  // The rectangle around squares, as far from their centres as `reach` says.
  #around(squares, reach = 5) {
    const centres = squares.map((square) => this.#centre(square));
    const [xs, ys] = [centres.map(([x]) => x), centres.map(([, y]) => y)];
    const [x, y] = [Math.min(...xs) - reach, Math.min(...ys) - reach];
    return { x, y, width: Math.max(...xs) + reach - x, height: Math.max(...ys) + reach - y };
  }

  // The legal moves that begin with the chosen squares.
  #candidates() {
    return this.#view.legal.filter(({ squares }) => startsWith(squares, this.#path));
  }

  #capturedSquares() {
    const jumps = Math.max(this.#path.length - 1, 0);
    return this.#candidates()[0]?.captured.slice(0, jumps) ?? [];
  }

  #onClick({ target }) {
    const cell = target.closest("[data-square]"); // not after a drag, whose click is the board's
    if (!cell) return;
    cell.focus();
    this.#choose(Number(cell.dataset.square));
  }

  #onPointerDown({ target, button, isPrimary, pointerId, clientX, clientY }) {
    const square = Number(target.closest("[data-square]")?.dataset.square);
    if (!square || button || !isPrimary || !this.#canLift(square)) return;
    this.#drag = { square, id: pointerId, x: clientX, y: clientY, picture: null };
  }

  #onPointerMove(event) {
    const drag = this.#drag;
    if (!drag || event.pointerId !== drag.id) return;
    if (!drag.picture) {
      if (Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < DRAG_DISTANCE) return;
      this.#element.setPointerCapture(drag.id);
      this.#lift(drag);
    }
    const [x, y] = this.#pointOf(event);
    drag.picture.setAttribute("transform", `translate(${x} ${y})`);
  }

  #onPointerUp(event) {
    const drag = this.#drag;
    if (!drag?.picture || event.pointerId !== drag.id) {
      this.#drag = null;
      return;
    }
    const [x, y] = this.#pointOf(event);
    const to = this.#squareAt(x, y);
    this.#endDrag();
    const [piece, other] = [drag.square, to].map((square) => this.#position.cells[square]?.toLowerCase());
    if (to && (piece !== other || this.#canExtend(to))) this.#choose(to); // not on a piece of its side
  }

  // Put a dragged piece back; it stays chosen.
  #endDrag() {
    const isLifted = this.#drag?.picture;
    this.#drag = null;
    if (isLifted) this.#render();
  }

  #canLift(square) {
    const { legal, premove } = this.#view;
    if (!legal.length) return Boolean(premove) && this.#isOwn(square);
    if (this.#path.length > 1) return square === this.#path.at(-1);
    return legal.some(({ squares }) => squares[0] === square);
  }

  #lift(drag) {
    if (this.#path.at(-1) !== drag.square) {
      this.#path = [];
      this.#choose(drag.square);
    }
    drag.picture = this.#pieces[drag.square];
    drag.picture.classList.add("lifted");
    this.#layers.pieces.append(drag.picture);
  }

  // The point of the picture (80 x 80) under the pointer.
  #pointOf({ clientX, clientY }) {
    const { left, top, width, height } = this.#element.getBoundingClientRect();
    return [(80 * (clientX - left)) / width, (80 * (clientY - top)) / height];
  }

  // The dark square at a point, or undefined.
  #squareAt(x, y) {
    return SQUARES.find((square) => {
      const [centreX, centreY] = this.#centre(square);
      return Math.abs(x - centreX) <= 5 && Math.abs(y - centreY) <= 5;
    });
  }

  #isOwn(square) {
    return this.#position.cells[square]?.toLowerCase() === this.#view.premove;
  }

  #onKey(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const { key } = event;
    if (key === "Enter" || key === " ") this.#choose(this.#at);
    else if (key === "Escape" && (this.#path.length || this.#premove.length)) this.cancel();
    else if (!this.#moveFocus(key)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  #moveFocus(key) {
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -4, ArrowDown: 4 }[key];
    if (!step) return false;
    const to = this.#at + (this.#view.flipped ? -step : step);
    const leavesRow = Math.abs(step) === 1 && to > 0 && rowOf(to) !== rowOf(this.#at);
    if (!leavesRow) this.#cells[to]?.focus();
    return true;
  }

  #setFocus(square) {
    if (!square) return;
    if (this.#cells[this.#at]) this.#cells[this.#at].tabIndex = -1;
    this.#at = square;
    this.#cells[square].tabIndex = 0;
  }

  #choose(square) {
    const { legal, premove, editing } = this.#view;
    if (editing) return this.#handlers.onSquare?.(square);
    if (!legal.length) return premove ? this.#choosePremove(square) : undefined;
    const before = this.#path;
    if (before.length === 1 && square === before[0] && !this.#canExtend(square)) return this.cancel();
    if (this.#canExtend(square)) return this.#extend([...before, square]);
    const ending = this.#candidates().filter(({ squares }) => squares.at(-1) === square);
    if (before.length && ending.length === 1) return this.#make(ending[0]);
    if (before.length < 2 && legal.some(({ squares }) => squares[0] === square)) return this.#extend([square]);
    this.#handlers.onIllegal?.([...before, square]);
  }

  // The page plays the move, and shows the position after it. Until then the piece stands there.
  #make(move) {
    this.#path = [...move.squares];
    this.#render();
    this.#handlers.onMove?.(move);
  }

  #choosePremove(square) {
    const [from] = this.#path;
    if (from === square || (!from && !this.#isOwn(square))) return this.cancel();
    if (!from || this.#isOwn(square)) {
      [this.#path, this.#premove] = [[square], []];
      this.#handlers.onPremove?.(null);
      this.#say(`${square} chosen before your turn.`);
    } else {
      [this.#path, this.#premove] = [[], [from, square]];
      this.#handlers.onPremove?.({ from, to: square });
      this.#say(`${from} to ${square} is played when it is your turn, if it is legal.`);
    }
    this.#render();
  }

  #canExtend(square) {
    return this.#candidates().some(({ squares }) => squares[this.#path.length] === square);
  }

  #extend(path) {
    this.#path = path;
    const candidates = this.#candidates();
    const whole = candidates.find(({ squares }) => squares.length === path.length);
    if (whole) return this.#make(whole);
    this.#render();
    const next = [...new Set(candidates.map(({ squares }) => squares[path.length]))];
    const verb = candidates[0].captured.length ? "jump" : "go";
    this.#say(`${path.join(" to ")} chosen: it can ${verb} to ${joinWords(next, "or")}.`);
  }

  #say(text) {
    this.#handlers.onSay?.(text);
  }
}
