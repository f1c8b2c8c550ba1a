// "See inside": an evaluator's view of a position, without search, painted on a board.
//
// new ExplanationPanel(board, element, { say, onChoice }): `element` holds a select and a div with data-explanation, and a
// closed <details> asks for nothing. onChoice(name) is called when a person has chosen what the board shows.

import { createElement, createSvg } from "/static/dom.js";
import { formatSigned } from "/static/panels.js";
import { boxOf } from "/static/position.js";
import { request } from "/static/server.js";

const MAX_CELLS = 8; // the strongest ones, as buttons
const LEAST = 0.005; // of a value: less is shown as 0
const SATURATED = 0.95; // of an activation, whose limits are -1 and 1
const SHARES = "Each square's share";
const LOUDEST = "Loudest parts";
const KINDS = {
  network: "a neural network", ntuple: "tables of n-tuples", linear: "a sum over pieces",
};

const note = (textContent) => createElement("p", { className: "note", textContent });
const strongest = (cells, key) => [...cells].sort((one, other) => Math.abs(other[key]) - Math.abs(one[key]));

// "4x4 part 14–27", or the squares of a tuple that is no rectangle.
const partName = (squares) => {
  const { rows, columns, isFull } = boxOf(squares);
  if (!isFull) return `tuple ${squares.join("-")}`;
  if (rows * columns === 64) return "whole board";
  return `${columns === 8 ? `${rows} rows` : `${rows}x${columns} part`} ${squares[0]}–${squares.at(-1)}`;
};

// Tiles for Board.paint, relative to the strongest cell, or to `least` if that is more.
const tilesFor = (cells, least) => {
  const most = Math.max(...cells.map(({ value }) => Math.abs(value)), least, 1e-9);
  return cells.map(({ squares, value }) => ({
    squares, value: value / most, text: Math.abs(value) < LEAST ? "" : formatSigned(value),
  }));
};

export class ExplanationPanel {
  #board;
  #panel;
  #choice;
  #text;
  #handlers;
  #query = { agent: "", fen: "" };
  #explanation = null;
  #parts = []; // cells with a known effect, the loudest first
  #frame = []; // squares that are framed while nothing is pointed at

  constructor(board, panel, handlers = {}) {
    [this.#board, this.#panel, this.#handlers] = [board, panel, handlers];
    this.#choice = panel.querySelector("select[data-explanation]");
    this.#text = panel.querySelector("div[data-explanation]");
    panel.addEventListener("toggle", () => this.#load());
    this.#choice.addEventListener("change", () => {
      this.#render();
      handlers.onChoice?.(this.#choice.value);
    });
  }

  show(agent, fen) {
    this.#query = { agent, fen };
    this.#load();
  }

  choose(name) {
    if (![...this.#choice.options].some(({ value }) => value === name)) return;
    this.#choice.value = name;
    this.#render();
  }

  async #load() {
    this.#board.paint([]);
    this.#board.outline([]);
    if (this.#panel.open === false) return;
    const query = this.#query;
    try {
      const explanation = await request(`/api/explain?${new URLSearchParams(query)}`);
      if (query !== this.#query) return; // the page shows another position by now
      this.#explanation = explanation;
      const cells = explanation.layers.flatMap((layer) => layer.cells);
      this.#parts = strongest(cells.filter(({ effect }) => effect !== null), "effect");
      this.#fillChoice();
      this.#render();
    } catch (error) {
      if (query !== this.#query) return;
      this.#text.replaceChildren(createElement("p", { className: "error", textContent: error.message }));
      this.#handlers.say?.(error.message);
    }
  }

  #fillChoice() {
    const { squares, layers } = this.#explanation;
    const names = [...(squares.length ? [SHARES] : []), ...(this.#parts.length ? [LOUDEST] : []), ...layers.map(({ name }) => name)];
    const before = this.#choice.value;
    this.#choice.replaceChildren(
      ...names.map((name) => createElement("option", { value: name, textContent: name })),
      createElement("option", { value: "", textContent: "Nothing" }));
    this.#choice.value = names.includes(before) ? before : names[0] ?? "";
  }

  #render() {
    const { kind, squares, layers } = this.#explanation;
    const name = this.#choice.value;
    const layer = layers.find((one) => one.name === name);
    const cells = layer ? strongest(layer.cells.map(({ squares: members, activation }) => ({ squares: members, value: activation })), "value")
      : name === LOUDEST ? this.#parts.map(({ squares: members, effect }) => ({ squares: members, value: effect }))
        : squares.map(({ square, contribution }) => ({ squares: [square], value: contribution }));
    const overlap = name === LOUDEST || (layer && kind !== "network"); // show one at a time
    this.#frame = name === SHARES && this.#parts.length ? this.#parts[0].squares : overlap ? cells[0].squares : [];
    this.#board.paint(name && !overlap ? tilesFor(cells, layer ? 1 : 0) : []);
    this.#board.outline(this.#frame);
    this.#describe(name, layer, cells);
  }

  #describe(name, layer, cells) {
    const mover = this.#query.fen.startsWith("B") ? "Black" : "White";
    const { meaning, perspective, hidden } = this.#explanation;
    const positive = perspective === "black" ? "Black" : "White";
    const legends = {
      "": null,
      [SHARES]: `Blue counts for ${mover}, amber against: ${meaning}.`,
      [LOUDEST]: `How much lower the sum would be without each part, for ${mover}. Point at one to see it on the board.`,
    };
    const legend = layer
      ? `What the evaluator makes of each part, with ${positive}'s pieces as plus. Point at one to see it on the board.`
      : legends[name];
    this.#text.replaceChildren(
      this.#facts(mover),
      ...this.#loudest(mover),
      ...(legend && cells.length ? [note(legend)] : []),
      ...(layer || name === LOUDEST ? [this.#cellButtons(cells)] : []),
      ...(hidden.length ? this.#network() : []));
  }

  #facts(mover) {
    const { kind, value, terms, piece_difference_share: share } = this.#explanation;
    const rows = [
      ["Evaluator", KINDS[kind] ? `${this.#query.agent}, ${KINDS[kind]}` : `${this.#query.agent} has none that can be shown`],
      ["Without search", value === null ? "no value" : `${formatSigned(value)} for ${mover}, the side to move`],
      ...terms.map(({ name, amount }) => [name[0].toUpperCase() + name.slice(1), formatSigned(amount)]),
      ...(share === null ? [] : [["Pieces' share", `${Math.round(100 * share)} %`]]),
    ];
    return createElement("dl", { className: "facts" }, ...rows.flatMap(([name, text]) =>
      [createElement("dt", { textContent: name }), createElement("dd", { textContent: text })]));
  }

  // The part of the board with the largest effect, in words; its button frames it.
  #loudest(mover) {
    if (!this.#parts.length) return [];
    const [{ squares, effect }] = this.#parts;
    const { value } = this.#explanation;
    const other = mover === "Black" ? "White" : "Black";
    const text = `speaks loudest, for ${effect < 0 ? other : mover}: without it the sum would be `
      + `${Math.abs(effect).toFixed(2)} ${effect < 0 ? "higher" : "lower"} for ${mover}.`;
    const button = this.#partButton(squares, `The ${partName(squares)}`);
    const preferred = Math.abs(value) < LEAST ? "neither side" : value > 0 ? mover : other;
    return [createElement("p", { className: "loudest" }, `Without looking ahead, it prefers ${preferred}. `, button, ` ${text}`)];
  }

  // Buttons for the strongest cells.
  #cellButtons(cells) {
    const buttons = cells.slice(0, MAX_CELLS).map(({ squares, value }) => {
      const button = this.#partButton(squares, `${partName(squares)}: ${formatSigned(value)}`);
      button.setAttribute("aria-label", `${formatSigned(value)} on squares ${squares.join(", ")}`);
      return button;
    });
    return createElement("div", { className: "row cells" }, ...buttons);
  }

  // A button that frames its squares while the pointer or the focus is on it, or after a tap.
  #partButton(squares, textContent) {
    const button = createElement("button", { type: "button", textContent });
    for (const name of ["pointerenter", "focus", "click"]) button.addEventListener(name, () => this.#board.outline(squares));
    for (const name of ["pointerleave", "blur"]) button.addEventListener(name, () => this.#board.outline(this.#frame));
    return button;
  }

  // The layers of a network as strips of nodes, and how to read them.
  #network() {
    const { hidden, layers } = this.#explanation;
    const parts = layers.flatMap(({ cells }) => cells);
    const hasNodes = parts.length > 0 && parts[0].effect !== null; // else they are sums of pieces
    const below = (index) => (index || hasNodes ? `all nodes of layer ${index + hasNodes}` : parts.length ? "the sums of all parts" : "all 32 squares");
    const strips = hidden.map((nodes, index) => this.#strip(
      nodes, index + 1 + hasNodes, `Each node weighs ${below(index)}.${index === hidden.length - 1 ? " The value is made of these." : ""}`));
    if (hasNodes) {
      const text = "One node for each part of the board, from 3x3 on the left to the whole board on the right.";
      strips.unshift(this.#strip(parts.map(({ activation }) => activation), 1, text, parts));
    }
    return [
      createElement("h3", { textContent: "Its hidden nodes" }),
      note("A strip is a layer of the network, and a bar is a node. Up and blue is plus, down and amber is minus. "
        + "The longer the bar, the surer the node; a bar over the whole height has reached its limit of 1. "
        + "The sign of one node favours nobody: the next layer weighs it."),
      ...strips,
    ];
  }

  // A layer's nodes as bars; a bar with a part of the board frames it.
  #strip(nodes, number, text, parts = []) {
    const bars = nodes.map((value, index) => createSvg("rect", {
      x: index + 0.08, width: 0.84, y: value < 0 ? 1 : 1 - value, height: Math.max(Math.abs(value), 0.02),
      class: value < 0 ? "bad" : "good",
    }, createSvg("title", {}, parts[index] ? `${partName(parts[index].squares)}: ${formatSigned(value)}` : formatSigned(value))));
    const full = nodes.filter((value) => Math.abs(value) > SATURATED).length;
    const strip = createSvg("svg", {
      class: "strip", viewBox: `0 0 ${nodes.length} 2`, preserveAspectRatio: "none", role: "img",
      "aria-label": `Layer ${number}: ${nodes.map(formatSigned).join(", ")}`,
    }, createSvg("line", { x1: 0, x2: nodes.length, y1: 1, y2: 1 }), ...bars);
    if (parts.length) {
      const frame = ({ clientX }) => {
        const { left, width } = strip.getBoundingClientRect();
        const part = parts[Math.floor(((clientX - left) / width) * nodes.length)];
        this.#board.outline(part?.squares ?? this.#frame);
      };
      for (const name of ["pointermove", "pointerdown"]) strip.addEventListener(name, frame);
      strip.addEventListener("pointerleave", () => this.#board.outline(this.#frame));
    }
    const title = createElement("b", { textContent: `Layer ${number}: ${nodes.length} nodes` });
    const limit = full ? ` ${full} of them ${full === 1 ? "is" : "are"} at the limit.` : "";
    return createElement("div", {}, createElement("p", { className: "note" }, title, `. ${text}${limit}`), strip);
  }
}
