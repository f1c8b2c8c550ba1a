// A game between a person and an agent: turns, clock, hints, takebacks, draw offers, result. The browser keeps it.

import { BLACK, Board, framesOf, popcount, SIDES, START, WHITE } from "/static/engine/rules.js";
import { formatSigned } from "/static/panels.js";
import { writePdn } from "/static/pdn.js";
import { readStored, store } from "/static/storage.js";
import { boardResult, describeMove, DRAW, texts, UNFINISHED, WIN } from "/static/words.js";

const MAX_PLIES = 2000;
const MAX_GAMES = 50; // in the storage
const GAMES = "keys"; // of the games in the storage, the oldest first
const MOVES_TO_GO = 30; // over which an agent spreads the rest of its time
const MOST_SHARES = 4; // that one move takes at most
const INCREMENT_SHARE = 0.7;

export const createBoard = (start = START, moves = []) => {
  const board = new Board(start);
  for (const move of moves) {
    if (board.ply === MAX_PLIES) throw new Error(`A game has at most ${MAX_PLIES} moves.`);
    board.push(move);
  }
  return board;
};

// Begin at a position (FEN), or after moves: {start, moves}.
export const readOpening = (text) => {
  const isPosition = /^\s*[BW?]\s*:/i.test(text);
  const moves = isPosition ? [] : text.replace(/\b[0-9]+\.+/g, " ").split(/[\s,]+/).filter(Boolean);
  const board = createBoard(isPosition ? text : START, moves);
  return { start: isPosition ? board.fen : START, moves: texts(board.moves) };
};

export const checkPlayable = (opening) => {
  if (createBoard(opening.start, opening.moves).outcome()) throw new Error("The game is over in that position: there is nothing to play.");
  return opening;
};

export const randomBelow = (limit) => crypto.getRandomValues(new Uint32Array(1))[0] % limit;

export const newKey = () => [1, 2, 3, 4].map(() => randomBelow(2 ** 32).toString(36)).join("-");

// What an agent is asked about a position of a game.
export const questionOf = (start, board, seed) => ({
  start, moves: texts(board.moves), repetition: board.repetition, no_progress: board.noProgress, seed,
});

// Clock: it starts after the first move, and a flag falls at 0.

class Clock {
  running = null;
  #since = 0;

  constructor({ minutes, increment }) {
    Object.assign(this, { increment, left: [minutes * 60, minutes * 60] });
  }

  start(side) {
    [this.running, this.#since] = [side, performance.now()];
  }

  // Charge the running side for its move: `seconds`, or the time that has passed.
  stop(seconds = null) {
    if (this.running !== null) this.left[this.running] -= seconds ?? this.#passed();
    this.running = null;
  }

  remaining(side) {
    return Math.max(this.left[side] - (side === this.running ? this.#passed() : 0), 0);
  }

  // Limits of a move of an agent.
  limits(side) {
    const left = this.remaining(side);
    const share = left / MOVES_TO_GO + INCREMENT_SHARE * this.increment;
    const seconds = Math.max(Math.min(MOST_SHARES * share, left / 2), 0.01);
    return { seconds, share: Math.min(share, seconds) };
  }

  #passed() {
    return (performance.now() - this.#since) / 1000;
  }
}

// A game. `setup` is {player, agent, label, name, seconds, person, rating, side, start, moves, standard, clock, seed,
// startTime}: `player` are the fields by which the agent is asked, `label` its name in records, `name` that for people.
export class Game {
  key = newKey();
  analyses = {}; // the agent's, by the number of moves after each
  hints = 0;
  takebacks = 0;
  interruptions = 0;
  version = 0; // grows with every change
  isAgentChanged = false; // its weight file has changed since the game began
  isKept = false; // in the archive
  result = UNFINISHED;
  reason = "";
  message = ""; // the last event in words

  constructor(setup) {
    this.setup = setup;
    this.board = createBoard(setup.start, setup.moves);
    this.clock = setup.clock ? new Clock(setup.clock) : null;
  }

  get status() {
    if (this.result !== UNFINISHED) return "over";
    return this.board.turn === this.setup.side ? "yours" : "thinking";
  }

  get #pliesAfterOpening() {
    return this.board.ply - this.setup.moves.length;
  }

  frames() {
    const frames = framesOf(this.setup.start, this.board.moves);
    for (const [ply, analysis] of Object.entries(this.analyses)) frames[ply].analysis = analysis;
    if (this.status === "yours") frames.at(-1).legal = this.board.legalMoves;
    if (this.status === "thinking") frames.at(-1).premove = "bw"[this.setup.side];
    return frames;
  }

  // What the agent is asked for its move.
  question() {
    const { player, seed, start, side } = this.setup;
    return { ...player, ...questionOf(start, this.board, seed), clock: this.clock?.limits(1 - side) ?? null };
  }

  get isWon() {
    return this.result === WIN[this.setup.side];
  }

  // The end of the game as the person sees it.
  get verdict() {
    return this.reason.replace(/^(Black|White) wins/, this.isWon ? "You won" : "You lost");
  }

  // Why the game does not rate the agent; an empty text if it does.
  unratedReason() {
    if (this.setup.rating === null) return "you gave no rating of your own";
    if (!this.setup.standard) return "it did not begin from the start or a card of the ballots";
    if (this.hints) return "a hint was given";
    if (this.takebacks) return "a move was taken back";
    if (this.interruptions) return "the agent was told to move at once";
    return this.isAgentChanged ? "the agent's weight file has changed since it began" : "";
  }

  playMove(move) {
    this.#checkPersonsTurn();
    this.message = describeMove(this.board, move);
    if (this.#push(move, null)) this.#updateResult();
  }

  // `analysis` is the answer to question().
  playAgentMove(analysis) {
    const move = this.board.parseMove(analysis.move);
    this.isAgentChanged ||= analysis.label !== this.setup.label;
    this.message = describeMove(this.board, move);
    if (!this.#push(move, analysis.seconds)) return;
    this.analyses[this.board.ply] = analysis;
    this.#updateResult();
  }

  // Whether the person's time is up. The agent's time is that of its search.
  get isFlagDown() {
    return this.clock !== null && this.status === "yours" && this.clock.remaining(this.setup.side) <= 0;
  }

  loseOnTime() {
    const side = this.board.turn;
    this.message = "";
    this.#finish(WIN[1 - side], `${SIDES[1 - side]} wins: ${SIDES[side]}'s time is up.`);
  }

  get isBegun() {
    return this.#pliesAfterOpening > 0;
  }

  get canTakeBack() {
    return this.status !== "over" && !this.clock && this.#pliesAfterOpening >= this.#pliesOfTurn;
  }

  // Since the person's last turn, that move too.
  get #pliesOfTurn() {
    return this.status === "thinking" ? 1 : 2;
  }

  takeBack() {
    this.#checkNotOver();
    if (this.clock) throw new Error("No move is taken back in a game with a clock.");
    if (!this.canTakeBack) throw new Error("There is no move of yours to take back.");
    for (let plies = this.#pliesOfTurn; plies > 0; plies -= 1) {
      delete this.analyses[this.board.ply];
      this.board.pop();
    }
    this.takebacks += 1;
    this.#update("Taken back: it is your move again.");
  }

  // `pv` are the texts of a line that begins with the move.
  giveHint(adviser, pv) {
    this.#checkPersonsTurn();
    this.hints += 1;
    const [move, ...replies] = pv;
    this.#update(`${adviser} would play ${move}${replies.length ? `, expecting ${replies.join(" ")}` : ""}.`);
  }

  interruptAgent() {
    if (this.status !== "thinking") throw new Error("The agent is not thinking.");
    this.interruptions += 1;
  }

  offerDraw() {
    this.#checkPersonsTurn();
    const [isAccepted, reason] = this.#answerDrawOffer();
    this.message = "";
    if (isAccepted) this.#finish(DRAW, `Drawn by agreement: ${reason}`);
    else this.#update(`The offer of a draw is declined: ${reason}`);
  }

  resign() {
    this.#checkNotOver();
    const { side } = this.setup;
    this.message = "";
    this.#finish(WIN[1 - side], `${SIDES[1 - side]} wins: ${SIDES[side]} resigned.`);
  }

  toPdn() {
    const { side, person, label, startTime, rating, start, clock } = this.setup;
    const [own, agent] = [SIDES[side], SIDES[1 - side]];
    const tags = {
      Event: "A game against an agent", Site: "checkers-play", Date: startTime.slice(0, 10).replaceAll("-", "."), Round: "-",
      [own]: person, [agent]: label, [`${own}Type`]: "human", [`${agent}Type`]: "program",
      ...(rating === null ? {} : { [`${own}Rating`]: String(rating) }),
      ...(clock ? { TimeControl: `${clock.minutes * 60}+${clock.increment}` } : {}),
      ...(this.status === "over" ? { Termination: this.reason } : {}),
      Rated: this.unratedReason() ? "no" : "yes",
    };
    return writePdn(tags, start, texts(this.board.moves), this.result);
  }

  // Storage: the time of the person's move goes on while the page is closed.

  save() {
    const { board, clock, ...fields } = this;
    const left = clock && [clock.remaining(BLACK), clock.remaining(WHITE)];
    const keys = (readStored(GAMES) ?? []).filter((key) => key !== this.key);
    for (const old of keys.slice(0, 1 - MAX_GAMES)) store(`game ${old}`, null);
    store(GAMES, [...keys.slice(1 - MAX_GAMES), this.key]);
    store(`game ${this.key}`, { ...fields, moves: texts(board.moves), left, time: Date.now() });
  }

  // Null if there is no game of this key.
  static load(key) {
    const stored = readStored(`game ${key}`);
    try {
      const { setup, moves, left, time, ...fields } = stored;
      if (!setup.player) return null; // it is of another version
      const game = new Game(setup);
      for (const move of moves.slice(setup.moves.length)) game.board.push(move);
      Object.assign(game, fields);
      game.message = game.verdict;
      if (game.clock) game.#setClock(left, (Date.now() - time) / 1000);
      return game;
    } catch {
      return null; // it is none, or damaged
    }
  }

  #setClock(left, passed) {
    this.clock.left = left;
    if (this.status === "over" || !this.#pliesAfterOpening) return;
    if (this.status === "yours") left[this.setup.side] -= Math.max(passed, 0);
    this.clock.start(this.board.turn);
  }

  // Make a move and press the clock; return false if the mover's flag fell before.
  #push(move, seconds) {
    const side = this.board.turn;
    if (this.clock) {
      const isFirst = this.clock.running === null;
      this.clock.stop(seconds);
      if (this.clock.left[side] <= 0) {
        this.loseOnTime();
        return false;
      }
      if (!isFirst) this.clock.left[side] += this.clock.increment;
    }
    this.board.push(move);
    this.clock?.start(this.board.turn);
    return true;
  }

  // The agent accepts if its evaluation at its last move was 0 or less for it; without one unless it has more pieces.
  #answerDrawOffer() {
    if (this.#pliesAfterOpening < 2) return [false, "the game has hardly begun."];
    const { name, side } = this.setup;
    const score = this.analyses[this.board.ply]?.score ?? null;
    if (score !== null) {
      return [score <= 0, `${name} sees ${score <= 0 ? "no advantage" : "an advantage"} for itself, at ${formatSigned(score)}.`];
    }
    const difference = popcount(this.board.black) - popcount(this.board.white);
    const isAhead = (side === BLACK ? -difference : difference) > 0;
    return [!isAhead, `${name} has ${isAhead ? "more pieces" : "no more pieces than you"}.`];
  }

  #checkNotOver() {
    if (this.status === "over") throw new Error("The game is over.");
  }

  #checkPersonsTurn() {
    this.#checkNotOver();
    if (this.status === "thinking") throw new Error(`It is ${this.setup.name}'s turn.`);
  }

  #updateResult() {
    const [result, reason] = boardResult(this.board);
    if (result === UNFINISHED) this.#update(this.message);
    else this.#finish(result, reason);
  }

  #finish(result, reason) {
    Object.assign(this, { result, reason });
    this.clock?.stop();
    this.#update(`${this.message} ${this.verdict}`.trim());
  }

  #update(message) {
    this.message = message;
    this.version += 1;
  }
}
