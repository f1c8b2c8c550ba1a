// Replay of a game on a board: buttons, a slider, keys and a list of moves.
//
//   const replay = new Replay({ board, controls, score, onShow });     elements for the buttons and, or null, the moves
//   replay.open(frames, { at, flipped });                              frames are those of framesOf() in rules.js
//
// A move of `legal` in the last frame can be chosen, or a `premove`. The page adds the listener `replay.onKey` to elements.

import { createElement, createSvg } from "/static/dom.js";

const PAUSE = 900; // milliseconds between moves
const IN_SIGHT = 0.5; // part of the board with which the page stays where it is, so that the next click meets the same button
const ICONS = {
  first: ["First position", "M5 5h2.5v14H5zM20 5v14l-11-7z"],
  back: ["Back", "M15.4 5 16.8 6.4 11.2 12l5.6 5.6L15.4 19l-7-7z"],
  play: ["Play", "M7 5v14l12-7z"],
  on: ["Forward", "M8.6 5 7.2 6.4 12.8 12l-5.6 5.6L8.6 19l7-7z"],
  last: ["Last position", "M4 5v14l11-7zM16.5 5H19v14h-2.5z"],
  flip: ["Turn the board", "M8 3 3.5 8H7v9h2V8h3.5zM16 21l4.5-5H17V7h-2v9h-3.5z"],
};
const STOP = "M6 5h4v14H6zM14 5h4v14h-4z";
const KEYS = {
  ArrowLeft: "back", ArrowRight: "on", Home: "first", End: "last", " ": "play", f: "flip", F: "flip",
};

const createIcon = (path) =>
  createSvg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, createSvg("path", { d: path }));

// The list items of a game's moves, two moves a row.
const scoreSheet = (frames, whiteFirst = frames[0].fen.startsWith("W")) => {
  const rows = [];
  frames.slice(1).forEach(({ move }, index) => {
    const turn = index + Number(whiteFirst);
    if (turn % 2 === 0 || !index) {
      const number = createElement("span", { className: "number", textContent: `${(turn >> 1) + 1}.` });
      rows.push(createElement("li", {}, number));
      if (turn % 2) rows.at(-1).append(createElement("span", { textContent: "…" }));
    }
    const button = createElement("button", { type: "button", textContent: move.text });
    button.dataset.ply = index + 1;
    rows.at(-1).append(button);
  });
  return rows;
};

// Mark the move of the position, and scroll its list (not the page) to it.
const markMove = (list, ply) => {
  list.querySelector("[aria-current]")?.removeAttribute("aria-current");
  const button = list.querySelector(`[data-ply="${ply}"]`);
  button?.setAttribute("aria-current", "step");
  list.scrollTop = button ? button.parentNode.offsetTop - list.clientHeight / 2 : 0;
};

export class Replay {
  #board;
  #controls;
  #score;
  #onShow;
  #frames = [];
  #ply = 0;
  #flipped = false;
  #timer = 0;
  #buttons = {};
  #slider;

  constructor({ board, controls, score = null, onShow = () => {} }) {
    Object.assign(this, { onKey: this.onKey.bind(this) });
    [this.#board, this.#controls, this.#score, this.#onShow] = [board, controls, score, onShow];
    controls.classList.add("controls");
    for (const [name, [title, path]] of Object.entries(ICONS)) {
      const button = createElement("button", { type: "button", title, onclick: () => this.#do(name) }, createIcon(path));
      button.setAttribute("aria-label", title);
      this.#buttons[name] = button;
    }
    this.#slider = createElement("input", { type: "range", min: 0, value: 0 });
    this.#slider.setAttribute("aria-label", "Move");
    this.#slider.addEventListener("input", () => this.go(Number(this.#slider.value)));
    controls.append(createElement("div", { className: "buttons" }, ...Object.values(this.#buttons)), this.#slider);
    score?.addEventListener("click", ({ target }) => {
      if (!target.dataset.ply) return;
      this.go(Number(target.dataset.ply));
      this.#board.reveal(IN_SIGHT);
    });
  }

  get ply() {
    return this.#ply;
  }

  get frames() {
    return this.#frames;
  }

  get flipped() {
    return this.#flipped;
  }

  get playing() {
    return this.#timer > 0;
  }

  open(frames, { at = 0, flipped = this.#flipped } = {}) {
    this.pause();
    [this.#frames, this.#flipped] = [[...frames], flipped];
    this.#fillControls();
    this.#show(at);
  }

  add(frame, { animate = true } = {}) {
    const isLast = this.#ply === this.#frames.length - 1;
    this.#frames.push(frame);
    this.#fillControls();
    if (isLast) this.#show(this.#ply + 1, animate);
    else this.#show(this.#ply);
  }

  go(ply) {
    this.pause();
    const to = Math.max(0, Math.min(ply, this.#frames.length - 1));
    this.#show(to, to === this.#ply + 1);
  }

  play() {
    if (this.#timer || this.#frames.length < 2) return;
    if (this.#ply === this.#frames.length - 1) this.go(0);
    this.#timer = setInterval(() => this.#advance(), PAUSE);
    this.#showPlayButton();
  }

  pause() {
    clearInterval(this.#timer);
    this.#timer = 0;
    this.#showPlayButton();
  }

  flip() {
    this.#flipped = !this.#flipped;
    this.#show(this.#ply);
  }

  onKey(event) {
    const { key, target } = event;
    const ownsKey = target.matches(key === " " ? "select, input, textarea, button, a" : "select, input, textarea");
    if (!(key in KEYS) || ownsKey || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    this.#do(KEYS[key]);
  }

  #do(name) {
    const actions = {
      first: () => this.go(0),
      back: () => this.go(this.#ply - 1),
      play: () => (this.playing ? this.pause() : this.play()),
      on: () => this.go(this.#ply + 1),
      last: () => this.go(this.#frames.length - 1),
      flip: () => this.flip(),
    };
    actions[name]();
    this.#board.reveal(IN_SIGHT);
  }

  #advance() {
    if (this.#ply < this.#frames.length - 1) this.#show(this.#ply + 1, true);
    if (this.#ply === this.#frames.length - 1) this.pause();
  }

  #fillControls() {
    this.#slider.max = this.#frames.length - 1;
    this.#score?.replaceChildren(...scoreSheet(this.#frames));
  }

  #show(ply, animate = false) {
    this.#ply = ply;
    const frame = this.#frames[ply];
    this.#slider.value = ply;
    const isLast = ply === this.#frames.length - 1;
    const [legal, premove] = isLast ? [frame.legal, frame.premove] : [[], ""];
    this.#board.show({ fen: frame.fen, last: frame.move, legal, premove, flipped: this.#flipped, animate });
    if (this.#score) markMove(this.#score, ply);
    this.#onShow(frame, ply);
  }

  #showPlayButton() {
    const [title, path] = this.playing ? ["Pause", STOP] : ICONS.play;
    const { play } = this.#buttons;
    play.title = title;
    play.setAttribute("aria-label", title);
    play.replaceChildren(createIcon(path));
  }
}
