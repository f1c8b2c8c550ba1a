// The review of a finished game: the judge's values as a graph, the moves that lost most, and a better line for each.

import { byId, createElement, createSvg } from "/static/dom.js";
import { framesOf } from "/static/engine/rules.js";
import { createBoard } from "/static/game.js";
import { askJudge, describeView, JUDGE, lowerFirst, moverOf } from "/static/opinion.js";
import { formatSigned, moveNodes } from "/static/panels.js";

const NODES = 60_000; // positions for each move of the game
const MISTAKE = 0.15; // of the value from -1 to 1
const BLUNDER = 0.4;
const MOST = 6; // moves in the list
const BY_MOVE = "In the order of the moves"; // of a button
const MARKS = { mistake: "?", blunder: "??" };

// How much each move lost for its side: views[ply] is {black, move} before the move to ply + 1. The
// judge's own move loses nothing: there its view changes because it sees further.
const lossesOf = (frames, views) => frames.slice(1).map(({ move }, index) => {
  if (move.text === views[index].move?.text) return 0;
  const sign = moverOf(frames[index].fen) === "black" ? 1 : -1;
  return Math.max(0, sign * (views[index].black - views[index + 1].black));
});

// What a move of `side` did, after a description of the position before it.
const describeChange = (before, after, side) => {
  if (before !== after) return lowerFirst(after);
  if (before.startsWith(side)) return "less clearly";
  return /^(Black|White)/.test(before) ? "more clearly" : `a little worse for ${side}`;
};

const kindOf = (loss) => (loss >= BLUNDER ? "blunder" : loss >= MISTAKE ? "mistake" : "");

export class Review {
  #board;
  #replay;
  #game = null; // {frames, side}
  #views = [];
  #losses = [];
  #variation = null; // the ply from which another line is on the board
  #isOver = false; // that line ends the game
  #order = createElement("button", { type: "button", hidden: true }, BY_MOVE);
  #isByMove = false; // the list has the order of the moves, else the worst first

  // `replay` shows the game on `board`; onPlayOn(fen) begins a game from a position.
  constructor({ board, replay, onPlayOn }) {
    [this.#board, this.#replay] = [board, replay];
    byId("mistakes").before(this.#order);
    this.#order.addEventListener("click", () => {
      this.#isByMove = !this.#isByMove;
      this.#list();
    });
    byId("better").addEventListener("click", () => {
      this.#showBetter();
      byId("back-to-game").focus();
    });
    byId("back-to-game").addEventListener("click", () => {
      this.#showGame();
      byId("better").focus();
    });
    byId("play-on").addEventListener("click", () => onPlayOn(byId("fen").value));
    byId("review-chart").addEventListener("click", (event) => this.#onClick(event));
  }

  get isActive() {
    return this.#game !== null;
  }

  // Positions for each view of the judge: what is said beside the review agrees with it.
  get nodes() {
    return this.isActive ? NODES : null;
  }

  get hasLine() {
    return this.#variation !== null;
  }

  close() {
    this.#game = this.#variation = null;
    byId("review").hidden = true;
  }

  // Judge all positions of a game, and show what was found.
  async open(game) {
    this.#game = game;
    [this.#views, this.#losses, this.#variation] = [[], [], null];
    byId("review").hidden = false;
    byId("mistakes").replaceChildren();
    this.#order.hidden = true;
    const { frames } = game;
    try {
      for (const ply of frames.keys()) {
        this.#views.push(await askJudge(frames, ply, NODES));
        if (this.#game !== game) return;
        byId("review-note").textContent = `${JUDGE} looks at position ${ply + 1} of ${frames.length} …`;
        this.#plot();
      }
    } catch (error) {
      byId("review-note").textContent = error.message;
      return;
    }
    this.#losses = lossesOf(frames, this.#views);
    this.#describe();
    this.update(this.#replay.ply);
  }

  // Follow the position on the board.
  update(ply) {
    if (!this.isActive) return;
    this.#plot();
    const line = !this.hasLine ? this.#views[ply]?.pv : null;
    byId("better").hidden = !line || !this.#losses.length;
    byId("better").textContent = kindOf(this.#losses[ply]) ? "Show the better line" : "Show the best line";
    byId("back-to-game").hidden = !this.hasLine;
    byId("play-on").hidden = this.#isDecided(ply);
    byId("to-analysis").hidden = false;
    byId("to-analysis").href = `/analyse?fen=${encodeURIComponent(byId("fen").value)}`;
  }

  // Whether the side to move has no move in a position: there is nothing to play.
  #isDecided(ply) {
    if (this.hasLine) return ply === this.#replay.frames.length - 1 && this.#isOver;
    const exact = this.#views[ply]?.exact;
    return exact?.plies === 0 && exact.value !== 0;
  }

  // The moves that lost most, the worst first.
  get #worst() {
    return this.#losses.map((loss, ply) => ({ loss, ply })).filter(({ loss }) => loss >= MISTAKE)
      .sort((one, other) => other.loss - one.loss).slice(0, MOST);
  }

  #list() {
    const worst = this.#worst;
    if (this.#isByMove) worst.sort((one, other) => one.ply - other.ply);
    this.#order.hidden = worst.length < 2;
    this.#order.textContent = this.#isByMove ? "The worst first" : BY_MOVE;
    byId("mistakes").replaceChildren(...worst.map(({ ply, loss }) => this.#item(ply, loss)));
  }

  #describe() {
    const { frames, side } = this.#game;
    const worst = this.#worst;
    const count = (who) => worst.filter(({ ply }) => (moverOf(frames[ply].fen) === side) === who).length;
    const summary = worst.length
      ? `The moves that lost most: ${count(true)} of yours, ${count(false)} of your opponent's.`
      : `${JUDGE} saw no move that lost much.`;
    byId("review-note").textContent = `${summary}${this.#describeEnding()}`;
    this.#list();
    for (const button of document.querySelectorAll("#score [data-ply]")) {
      const kind = kindOf(this.#losses[Number(button.dataset.ply) - 1] ?? 0);
      if (kind) button.dataset.mark = MARKS[kind];
    }
  }

  // Where the endgame tables begin to know the result, and what it is.
  #describeEnding() {
    const ply = this.#views.findIndex(({ exact }) => exact && exact.plies !== 0);
    if (ply < 0) return "";
    return ` Exact from move ${this.#numberOf(ply)} on, by the endgame tables: ${lowerFirst(describeView(this.#game.frames[ply].fen, this.#views[ply]))}.`;
  }

  // The number of the move that follows a position, as in the list of moves.
  #numberOf(ply) {
    return ((ply + Number(moverOf(this.#game.frames[0].fen) === "white")) >> 1) + 1;
  }

  #item(ply, loss) {
    const { frames } = this.#game;
    const side = moverOf(frames[ply].fen) === "black" ? "Black" : "White";
    const [before, after] = [ply, ply + 1].map((each) => describeView(frames[each].fen, this.#views[each]));
    const button = createElement("button", { type: "button" },
      createElement("b", { textContent: `${this.#numberOf(ply)}. ${side} ${frames[ply + 1].move.text}${MARKS[kindOf(loss)]}` }),
      ` ${before}, then ${describeChange(before, after, side)}. Better: `,
      ...moveNodes([this.#views[ply].move.text]));
    button.addEventListener("click", () => {
      this.#showGame(ply);
      this.#board.point(this.#views[ply].move);
    });
    return createElement("li", {}, button);
  }

  #plot() {
    const { frames } = this.#game;
    const chart = byId("review-chart");
    const last = Math.max(frames.length - 1, 1);
    const x = (ply) => (100 * ply) / last;
    const points = this.#views.map(({ black }, ply) => `${x(ply)},${50 - 48 * black}`);
    const now = x(this.#variation ?? this.#replay.ply);
    chart.removeAttribute("hidden");
    byId("review-key").hidden = false;
    chart.replaceChildren(
      createSvg("line", { x1: 0, x2: 100, y1: 50, y2: 50, "vector-effect": "non-scaling-stroke" }),
      createSvg("polygon", { points: `0,50 ${points.join(" ")} ${x(this.#views.length - 1)},50`, class: "area" }),
      createSvg("polyline", { points: points.join(" "), class: "black" }),
      ...this.#losses.flatMap((loss, ply) => (kindOf(loss)
        ? [createSvg("line", { x1: x(ply + 1), x2: x(ply + 1), y1: 50 - 48 * this.#views[ply].black, y2: 50 - 48 * this.#views[ply + 1].black, class: kindOf(loss) })]
        : [])),
      createSvg("line", { x1: now, x2: now, y1: 0, y2: 100, class: "now" }));
    const values = this.#views.map(({ black }) => black);
    chart.setAttribute("aria-label", `${JUDGE}'s evaluation over the game, for Black: `
      + `from ${formatSigned(values[0] ?? 0)} to ${formatSigned(values.at(-1) ?? 0)}, at least ${formatSigned(Math.min(...values))}, at most ${formatSigned(Math.max(...values))}`);
  }

  #onClick({ clientX }) {
    if (!this.isActive) return;
    const { left, width } = byId("review-chart").getBoundingClientRect();
    this.#showGame(Math.round(((clientX - left) / width) * (this.#game.frames.length - 1)));
  }

  // Put the judge's line from the position on the board in place of the game's moves.
  #showBetter() {
    const { frames } = this.#game;
    const ply = this.#replay.ply;
    const { pv } = this.#views[ply];
    const line = createBoard(frames[0].fen, [...frames.slice(1, ply + 1).map(({ move }) => move), ...pv]);
    [this.#variation, this.#isOver] = [ply, line.outcome() !== null];
    this.#replay.open(framesOf(frames[0].fen, line.moves), { at: ply });
    this.#replay.go(ply + 1);
    this.#board.reveal();
    byId("review-note").replaceChildren(`${JUDGE}'s line from move ${this.#numberOf(ply)} on: `, ...moveNodes(pv));
  }

  #showGame(ply = this.#variation ?? this.#replay.ply) {
    const { frames } = this.#game;
    if (this.hasLine) {
      this.#variation = null;
      this.#replay.open(frames, { at: ply });
      this.#describe();
    } else {
      this.#replay.go(ply);
    }
    this.#board.reveal();
    this.update(ply);
  }
}
