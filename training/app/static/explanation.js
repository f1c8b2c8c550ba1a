// Panel "See inside": an evaluator's view of the position, painted on the board.

import { createElement } from "/static/dom.js";
import { formatSigned } from "/static/panels.js";
import { request } from "/static/server.js";

const MAX_CELLS = 8; // the strongest ones, as buttons

// Tiles for Board.paint, relative to the strongest cell, or to `least` if that is more.
const tilesFor = (cells, least) => {
  const most = Math.max(...cells.map(({ value }) => Math.abs(value)), least, 1e-9);
  return cells.map(({ squares, value }) => ({
    squares, value: value / most, text: Math.abs(value) < 0.005 ? "" : formatSigned(value),
  }));
};

export class ExplanationPanel {
  #board;
  #panel;
  #choice;
  #text;
  #say;
  #query = { agent: "", fen: "" };
  #explanation = null;

  // `panel` is a <details> with a select and a div; `say` announces errors.
  constructor(board, panel, say) {
    [this.#board, this.#panel, this.#say] = [board, panel, say];
    this.#choice = panel.querySelector("select");
    this.#text = panel.querySelector("div");
    panel.addEventListener("toggle", () => this.#load());
    this.#choice.addEventListener("change", () => this.#render());
  }

  show(agent, fen) {
    this.#query = { agent, fen };
    this.#load();
  }

  async #load() {
    this.#board.paint([]);
    this.#board.outline([]);
    if (!this.#panel.open) return;
    const query = this.#query;
    try {
      const explanation = await request(`/api/explain?${new URLSearchParams(query)}`);
      if (query !== this.#query) return; // the page shows another position by now
      this.#explanation = explanation;
      this.#fillChoice();
      this.#render();
    } catch (error) {
      this.#text.replaceChildren(createElement("p", { className: "error", textContent: error.message }));
      this.#say(error.message);
    }
  }

  #fillChoice() {
    const { squares, layers } = this.#explanation;
    const names = [...(squares.length ? ["Each square's share"] : []), ...layers.map(({ name }) => name)];
    const before = this.#choice.value;
    this.#choice.replaceChildren(
      ...names.map((name) => createElement("option", { value: name, textContent: name })),
      createElement("option", { value: "", textContent: "Nothing" }));
    this.#choice.value = names.includes(before) ? before : names[0] ?? "";
  }

  #render() {
    const { kind, squares, layers } = this.#explanation;
    const layer = layers.find(({ name }) => name === this.#choice.value);
    const cells = layer
      ? layer.cells.map(({ squares: members, activation }) => ({ squares: members, value: activation }))
      : squares.map(({ square, contribution }) => ({ squares: [square], value: contribution }));
    cells.sort((one, other) => Math.abs(other.value) - Math.abs(one.value));
    const isTuples = layer && kind === "ntuple"; // tuples overlap: show one at a time
    this.#board.outline([]);
    if (isTuples) this.#highlight(cells[0], true);
    else this.#board.paint(this.#choice.value ? tilesFor(cells, layer ? 1 : 0) : []);
    this.#describe(layer, cells, isTuples);
  }

  #describe(layer, cells, isTuples) {
    const { kind, value, terms, piece_difference_share: share, meaning, perspective, hidden } = this.#explanation;
    const mover = this.#query.fen.startsWith("B") ? "Black" : "White";
    const rows = [
      ["Evaluator", kind],
      ["Without search", value === null ? "none" : `${formatSigned(value)} for ${mover}, who is to move`],
      ...terms.map(({ name, amount }) => [name, formatSigned(amount)]),
      ...(share === null ? [] : [["pieces' share", `${Math.round(100 * share)} %`]]),
    ];
    const facts = rows.flatMap(([name, text]) =>
      [createElement("dt", { textContent: name }), createElement("dd", { textContent: text })]);
    const positive = perspective === "black" ? "Black" : "White";
    const legend = layer
      ? `What the evaluator makes of each part, with ${positive}'s pieces as plus. Point at one to see it on the board.`
      : `Blue counts for ${mover}, amber against: ${meaning}.`;
    this.#text.replaceChildren(
      createElement("dl", { className: "facts" }, ...facts),
      ...(this.#choice.value ? [createElement("p", { className: "note", textContent: legend })] : []),
      ...(layer ? [this.#cellButtons(cells, isTuples)] : []),
      ...hidden.map((nodes, index) => this.#hiddenLayer(nodes, index)));
  }

  // Buttons for the strongest cells; the pointer or the focus on one shows the cell on the board.
  #cellButtons(cells, isTuples) {
    const buttons = cells.slice(0, isTuples ? cells.length : MAX_CELLS).map((cell) => {
      const text = `${cell.squares[0]}–${cell.squares.at(-1)}: ${formatSigned(cell.value)}`;
      const button = createElement("button", { type: "button", textContent: text });
      button.setAttribute("aria-label", `${formatSigned(cell.value)} on squares ${cell.squares.join(", ")}`);
      for (const name of ["pointerenter", "focus"]) button.addEventListener(name, () => this.#highlight(cell, isTuples));
      if (!isTuples) for (const name of ["pointerleave", "blur"]) button.addEventListener(name, () => this.#board.outline([]));
      return button;
    });
    return createElement("div", { className: "row cells" }, ...buttons);
  }

  // Frame a part of the board, or colour the squares of a tuple.
  #highlight({ squares, value }, isTuple) {
    if (!isTuple) return this.#board.outline(squares);
    return this.#board.paint(squares.map((square) => ({ squares: [square], value: Math.sign(value) / 2 })));
  }

  #hiddenLayer(nodes, index) {
    const cells = nodes.map((value) => {
      const cell = createElement("i", { className: value < 0 ? "bad" : "good", title: formatSigned(value) });
      cell.style.opacity = 0.1 + 0.9 * Math.min(Math.abs(value), 1);
      return cell;
    });
    const strip = createElement("div", { className: "strip" }, ...cells);
    strip.setAttribute("role", "img");
    strip.setAttribute("aria-label", `Hidden layer ${index + 1}: ${nodes.map(formatSigned).join(", ")}`);
    const title = createElement("h3", { textContent: `Hidden layer ${index + 1}: ${nodes.length} nodes` });
    return createElement("div", {}, title, strip);
  }
}
