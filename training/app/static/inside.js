// See inside: what an agent's evaluator makes of the position shown, as an overlay on the board.

import { make } from "/static/dom.js";
import { ask } from "/static/server.js";
import { signed } from "/static/told.js";

const MOST_CELLS = 8; // the strongest ones, in words

// Colours are relative to the strongest part, and to `least` at least.
const tiles = (cells, least) => {
  const most = Math.max(...cells.map(({ value }) => Math.abs(value)), least, 1e-9);
  return cells.map(({ squares, value }) => ({
    squares, value: value / most, text: Math.abs(value) < 0.005 ? "" : signed(value),
  }));
};

export class Inside {
  #board;
  #panel;
  #choice;
  #told;
  #say;
  #wanted = { agent: "", fen: "" };
  #seen = null;

  // `panel` is the <details> that opens it; `say` announces what went wrong.
  constructor(board, panel, say) {
    [this.#board, this.#panel, this.#say] = [board, panel, say];
    this.#choice = panel.querySelector("select");
    this.#told = panel.querySelector("div");
    panel.addEventListener("toggle", () => this.#load());
    this.#choice.addEventListener("change", () => this.#draw());
  }

  // The position and the agent that the page is about now.
  show(agent, fen) {
    this.#wanted = { agent, fen };
    this.#load();
  }

  async #load() {
    this.#board.paint([]);
    this.#board.outline([]);
    if (!this.#panel.open) return;
    const wanted = this.#wanted;
    try {
      const seen = await ask(`/api/inside?${new URLSearchParams(wanted)}`);
      if (wanted !== this.#wanted) return; // the game has gone on
      this.#seen = seen;
      this.#list();
      this.#draw();
    } catch (error) {
      this.#told.replaceChildren(make("p", { className: "error", textContent: error.message }));
      this.#say(error.message);
    }
  }

  #list() {
    const { squares, layers } = this.#seen;
    const names = [...(squares.length ? ["Each square's share"] : []), ...layers.map(({ name }) => name)];
    const before = this.#choice.value;
    this.#choice.replaceChildren(
      ...names.map((name) => make("option", { value: name, textContent: name })),
      make("option", { value: "", textContent: "Nothing" }));
    this.#choice.value = names.includes(before) ? before : names[0] ?? "";
  }

  #draw() {
    const { kind, squares, layers } = this.#seen;
    const layer = layers.find(({ name }) => name === this.#choice.value);
    const cells = layer
      ? layer.cells.map(({ squares: on, activation }) => ({ squares: on, value: activation }))
      : squares.map(({ square, contribution }) => ({ squares: [square], value: contribution }));
    cells.sort((one, other) => Math.abs(other.value) - Math.abs(one.value));
    const tuples = layer && kind === "ntuple"; // they lie all over each other: one at a time
    this.#board.outline([]);
    if (tuples) this.#frame(cells[0], true);
    else this.#board.paint(this.#choice.value ? tiles(cells, layer ? 1 : 0) : []);
    this.#tell(layer, cells, tuples);
  }

  #tell(layer, cells, tuples) {
    const { kind, value, terms, piece_difference_share: share, meaning, seen_by: by, hidden } = this.#seen;
    const mover = this.#wanted.fen.startsWith("B") ? "Black" : "White";
    const rows = [
      ["Evaluator", kind],
      ["Without search", value === null ? "none" : `${signed(value)} for ${mover}, who is to move`],
      ...terms.map(({ name, amount }) => [name, signed(amount)]),
      ...(share === null ? [] : [["pieces' share", `${Math.round(100 * share)} %`]]),
    ];
    const facts = rows.flatMap(([name, text]) => [make("dt", { textContent: name }), make("dd", { textContent: text })]);
    const plus = by === "black" ? "Black" : "White";
    const blue = layer
      ? `What the evaluator makes of each part, with ${plus}'s pieces as plus. Point at one to see it on the board.`
      : `Blue counts for ${mover}, amber against: ${meaning}.`;
    this.#told.replaceChildren(
      make("dl", { className: "facts" }, ...facts),
      ...(this.#choice.value ? [make("p", { className: "note", textContent: blue })] : []),
      ...(layer ? [this.#strongest(cells, tuples)] : []),
      ...hidden.map((nodes, index) => this.#strip(nodes, index)));
  }

  // The strongest parts as buttons: pointing at one shows it on the board.
  #strongest(cells, tuples) {
    const buttons = cells.slice(0, tuples ? cells.length : MOST_CELLS).map((cell) => {
      const text = `${cell.squares[0]}–${cell.squares.at(-1)}: ${signed(cell.value)}`;
      const button = make("button", { type: "button", textContent: text });
      button.setAttribute("aria-label", `${signed(cell.value)} on squares ${cell.squares.join(", ")}`);
      for (const name of ["pointerenter", "focus"]) button.addEventListener(name, () => this.#frame(cell, tuples));
      if (!tuples) for (const name of ["pointerleave", "blur"]) button.addEventListener(name, () => this.#board.outline([]));
      return button;
    });
    return make("div", { className: "row cells" }, ...buttons);
  }

  // A part of the board is framed; a tuple has its squares coloured.
  #frame({ squares, value }, tuple) {
    if (!tuple) return this.#board.outline(squares);
    return this.#board.paint(squares.map((square) => ({ squares: [square], value: Math.sign(value) / 2 })));
  }

  #strip(nodes, index) {
    const cells = nodes.map((value) => {
      const cell = make("i", { className: value < 0 ? "bad" : "good", title: signed(value) });
      cell.style.opacity = 0.1 + 0.9 * Math.min(Math.abs(value), 1);
      return cell;
    });
    const strip = make("div", { className: "strip" }, ...cells);
    strip.setAttribute("role", "img");
    strip.setAttribute("aria-label", `Hidden layer ${index + 1}: ${nodes.map(signed).join(", ")}`);
    const title = make("h3", { textContent: `Hidden layer ${index + 1}: ${nodes.length} nodes` });
    return make("div", {}, title, strip);
  }
}
