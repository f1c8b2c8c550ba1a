// A game between a person and an agent, with the rules, words and records of training/app/game.py and messages.py.

import { BLACK, Board, popcount, SIDES, START, WHITE } from "./rules.js";

export const MAX_PLIES = 2000;
const WIN = ["1-0", "0-1"]; // by Black, by White
const DRAW = "1/2-1/2";
const UNFINISHED = "*";
const MOVES_TO_GO = 30; // over which an agent spreads the rest of its time
const MOST_SHARES = 4; // that one move takes at most
const INCREMENT_SHARE = 0.7;
const REASONS = {
  "no pieces": (loser) => `${loser} has no pieces left`,
  "no legal move": (loser) => `${loser} cannot move`,
  repetition: () => "the same position has come up for the third time",
  "no progress": () => "40 moves by each side without a capture or a man's advance",
  "max moves": () => "the game has reached its number of moves",
};

// Words

const joinWords = (items, word = "and") =>
  (items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} ${word} ${items.at(-1)}`);
const texts = (moves) => moves.map(({ text }) => text);
const isKing = ({ kings }, square) => (kings >>> (square - 1) & 1) === 1;

const sideAt = ({ black, white }, square) => {
  if (black >>> (square - 1) & 1) return BLACK;
  return white >>> (square - 1) & 1 ? WHITE : null;
};

/** A sentence about a move, before the board makes it. */
export const describeMove = (board, { squares, captured, row }) => {
  const [start, ...path] = squares;
  const piece = isKing(board, start) ? "king" : "man";
  const promotes = piece === "man" && isKing({ kings: row[2] }, path.at(-1));
  const verb = `${captured.length ? "jumps" : "moves"} from ${start} to ${joinWords(path, "then")}`;
  const capture = captured.length ? `, capturing on ${joinWords(captured)}` : "";
  return `${SIDES[board.turn]}'s ${piece} ${verb}${capture}${promotes ? ", and becomes a king" : ""}.`;
};

/** A sentence about the captures of the side to move; an empty text without a capture. */
export const explainForcedCapture = (board) => {
  const moves = board.legalMoves;
  if (!moves[0]?.captured.length) return "";
  const isMultiple = moves.some(({ squares }) => squares.length > 2);
  const rest = isMultiple ? " A capture goes on as long as the same piece can jump." : "";
  return `${SIDES[board.turn]} must capture: ${joinWords(texts(moves), "or")}.${rest}`;
};

/** Why these squares are not a whole legal move. */
export const explainIllegalMove = (board, squares) => {
  if (!squares.length || !squares.every((square) => square >= 1 && square <= 32)) return "A move is a list of squares from 1 to 32.";
  const [side, start, end] = [SIDES[board.turn], squares[0], squares.at(-1)];
  const owner = sideAt(board, start);
  if (owner === null) return `There is no piece on ${start}.`;
  if (owner !== board.turn) return `The piece on ${start} is ${SIDES[owner]}'s, and ${side} is to move.`;
  const moves = board.legalMoves.filter((move) => move.squares[0] === start);
  if (!moves.length) {
    const captures = explainForcedCapture(board);
    return captures ? `${captures} The piece on ${start} cannot.` : `The piece on ${start} is blocked.`;
  }
  const longer = moves.filter((move) => squares.every((square, index) => move.squares[index] === square));
  if (squares.length > 1 && longer.length) return `The capture is not finished: ${joinWords(texts(longer), "or")}.`;
  const choice = `The piece on ${start} can go ${joinWords(texts(moves), "or")}.`;
  if (moves[0].captured.length) return `A capture must be made when there is one. ${choice}`;
  if (sideAt(board, end) !== null && squares.length > 1) return `Square ${end} is taken. ${choice}`;
  const [piece, steps] = isKing(board, start) ? ["king", "in any diagonal direction"] : ["man", "diagonally forward"];
  return `A ${piece} goes one square ${steps}. ${choice}`;
};

/** The result in PDN's notation, and the end of the game in words. */
export const boardResult = (board) => {
  const outcome = board.outcome();
  if (!outcome) return [UNFINISHED, ""];
  const reason = REASONS[outcome.reason](SIDES[board.turn]);
  if (outcome.winner === null) return [DRAW, `Drawn: ${reason}.`];
  return [WIN[outcome.winner], `${SIDES[outcome.winner]} wins: ${reason}.`];
};

// JSON

export const moveToJson = ({ text, squares, captured }) => ({ text, squares, captured });

/** Positions of a game, each with the move that led to it. */
export const framesToJson = (start, moves) => {
  const board = new Board(start);
  return [{ fen: board.fen, move: null }, ...moves.map((move) => {
    board.push(move);
    return { fen: board.fen, move: moveToJson(board.moves.at(-1)) };
  })];
};

/** A board after moves. */
export const createBoard = (start, moves) => {
  const board = new Board(start);
  for (const move of moves) {
    if (board.ply === MAX_PLIES) throw new Error(`A game has at most ${MAX_PLIES} moves.`);
    board.push(move);
  }
  return board;
};

// PDN

const TOKEN = /\s+|\{[^}]*\}|;[^\r\n]*|\$[0-9]+|[!?]+|[0-9]+\.+|\.{2,}|\[\s*(\w+)\s*"((?:[^"\\\r\n]|\\.)*)"\s*\]|(1\/2-1\/2|[0-2]-[0-2](?![0-9x*/-])|\*)|([0-9]+(?:[-x:][0-9]+)+)|\([^()]*\)/y;

/** Read the moves and the start of a single game. */
export const readPdn = (text) => {
  let [start, board, isOver] = [START, null, false];
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < text.length;) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (!match) {
      const word = /\S{1,60}/.exec(text.slice(at))?.[0] ?? text[at];
      throw new Error(`'${word}': expected a move such as 11-15, a result or a tag such as [Event "Match"]`);
    }
    const [, name, value, result, move] = match;
    if (isOver && (name || move)) throw new Error("The PDN holds several games: give one to go on with.");
    if (name?.toLowerCase() === "fen") start = value;
    if (result) isOver = board !== null && result !== "*";
    if (move) {
      board ??= new Board(start);
      board.push(move.replaceAll(":", "x"));
    }
  }
  if (!board && start === START && !text.includes("[")) throw new Error("The PDN holds 0 games: give one to go on with.");
  return { start, moves: texts((board ?? new Board(start)).moves) };
};

const wrap = (words, width = 80) => words.reduce((lines, word) => {
  if (lines.length && lines.at(-1).length + 1 + word.length <= width) lines[lines.length - 1] += ` ${word}`;
  else lines.push(word);
  return lines;
}, []).join("\n");

/** Write a game. */
export const writePdn = (tags, start, moves, result) => {
  const { Event = "?", Site = "?", Date: date = "????.??.??", Round = "?", Black = "?", White = "?", ...others } = tags;
  const position = start === START ? {} : { SetUp: "1", FEN: start };
  const all = { Event, Site, Date: date, Round, Black, White, Result: result, GameType: "21", ...position, ...others };
  const lines = Object.entries(all).map(([name, value]) => `[${name} "${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"]\n`);
  const first = Number(start.startsWith("W"));
  const words = moves.flatMap((move, index) => {
    const ply = index + first;
    if (ply % 2 === 0) return [`${ply / 2 + 1}.`, move];
    return index === 0 ? ["1...", move] : [move];
  });
  return `${lines.join("")}\n${wrap([...words, result])}\n`;
};

// Clock

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

// Game

const least = (one, other) => (one === undefined || one === null ? other : Math.min(one, other));

/** The fields with which a request starts a game against the same player. */
const playerToJson = ({ agent, opponent, level, limits }) => (opponent
  ? { opponent, level } : { agent, amount: limits.depth ?? null, seconds: limits.seconds ?? null });

/** A game; `setup` is {agent, label, name, opponent, level, limits, seed, side, person, rating, start, moves, standard, startTime, clock}. */
export class HumanGame {
  analyses = {};
  hints = 0;
  takebacks = 0;
  interruptions = 0;
  version = 0;
  result = UNFINISHED;
  reason = "";
  message = "";

  constructor(setup) {
    this.setup = setup;
    this.board = createBoard(setup.start, setup.moves);
    this.clock = setup.clock ? new Clock(setup.clock) : null;
  }

  get isOver() {
    return this.result !== UNFINISHED;
  }

  get isAgentsTurn() {
    return !this.isOver && this.board.turn !== this.setup.side;
  }

  unratedReason() {
    if (this.setup.rating === null) return "you gave no rating of your own";
    if (!this.setup.standard) return "it did not begin from the start or a card of the ballots";
    if (this.hints) return "a hint was given";
    if (this.takebacks) return "a move was taken back";
    return this.interruptions ? "the agent was told to move at once" : "";
  }

  /** Limits of the agent's move: its own, and those of its clock. */
  limits() {
    const { limits, side } = this.setup;
    if (!this.clock || !Object.keys(limits).length) return limits;
    const { seconds, share } = this.clock.limits(1 - side);
    return { ...limits, seconds: least(limits.seconds, seconds), share };
  }

  playMove(squares) {
    this.checkPersonsTurn();
    const move = this.board.legalMoves.find((each) => each.squares.join() === squares.join());
    if (!move) throw new Error(explainIllegalMove(this.board, squares));
    if (this.checkFlag()) return;
    this.message = describeMove(this.board, move);
    if (this.#push(move, null)) this.#updateResult();
  }

  playAgentMove(analysis) {
    const move = this.board.parseMove(analysis.move.squares.join(analysis.move.captured.length ? "x" : "-"));
    this.message = describeMove(this.board, move);
    if (!this.#push(move, analysis.seconds)) return;
    this.analyses[this.board.ply] = analysis;
    this.#updateResult();
  }

  /** End the game if the person's time is up; return whether it is. */
  checkFlag() {
    if (!this.clock || this.isOver || this.isAgentsTurn || this.clock.remaining(this.board.turn) > 0) return false;
    this.#loseOnTime();
    return true;
  }

  #push(move, seconds) {
    const side = this.board.turn;
    if (this.clock) {
      const isFirst = this.clock.running === null;
      this.clock.stop(seconds);
      if (this.clock.left[side] <= 0) {
        this.#loseOnTime();
        return false;
      }
      if (!isFirst) this.clock.left[side] += this.clock.increment;
    }
    this.board.push(move);
    this.clock?.start(this.board.turn);
    return true;
  }

  #loseOnTime() {
    const side = this.board.turn;
    this.message = "";
    this.#finish(WIN[1 - side], `${SIDES[1 - side]} wins: ${SIDES[side]}'s time is up.`);
  }

  takeBack() {
    this.#checkNotOver();
    if (this.clock) throw new Error("No move is taken back in a game with a clock.");
    const plies = this.isAgentsTurn ? 1 : 2;
    if (this.#pliesAfterOpening() < plies) throw new Error("There is no move of yours to take back.");
    for (let ply = 0; ply < plies; ply += 1) {
      delete this.analyses[this.board.ply];
      this.board.pop();
    }
    this.takebacks += 1;
    this.#update("Taken back: it is your move again.");
  }

  giveHint({ move, pv }) {
    this.checkPersonsTurn();
    this.hints += 1;
    const replies = pv.slice(1).map((text) => ` ${text}`).join("");
    this.#update(`${this.setup.name} would play ${move.text} in your place${replies ? `, expecting${replies}` : ""}.`);
  }

  interruptAgent() {
    if (!this.isAgentsTurn) throw new Error("The agent is not thinking.");
    this.interruptions += 1;
  }

  offerDraw() {
    this.checkPersonsTurn();
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
      ...(this.isOver ? { Termination: this.reason } : {}),
      Rated: this.unratedReason() ? "no" : "yes",
    };
    return writePdn(tags, start, texts(this.board.moves), this.result);
  }

  /** What a page shows of the game. */
  toJson(key) {
    const { setup, board, clock } = this;
    const isPersonsTurn = !this.isOver && !this.isAgentsTurn;
    const frames = framesToJson(setup.start, board.moves);
    for (const [ply, analysis] of Object.entries(this.analyses)) frames[ply].analysis = analysis;
    if (isPersonsTurn) frames.at(-1).legal = board.legalMoves.map(moveToJson);
    return {
      key, version: this.version, agent: setup.agent, label: setup.name, opponent: setup.opponent, level: setup.level,
      player: playerToJson(setup), time_control: setup.clock, name: setup.person, rating: setup.rating, side: SIDES[setup.side].toLowerCase(),
      status: this.isOver ? "over" : isPersonsTurn ? "yours" : "thinking",
      clock: clock && {
        black: clock.remaining(BLACK), white: clock.remaining(WHITE),
        running: clock.running === null ? null : SIDES[clock.running].toLowerCase(),
      },
      seconds: setup.limits.seconds ?? null, frames, opening_plies: setup.moves.length,
      message: this.message, forced_capture: isPersonsTurn ? explainForcedCapture(board) : "",
      result: this.result, reason: this.reason, unrated_reason: this.unratedReason(),
    };
  }

  /** What is stored of the game. */
  toStorage() {
    const { setup, analyses, hints, takebacks, interruptions, version, result, reason } = this;
    const left = this.clock && [this.clock.remaining(BLACK), this.clock.remaining(WHITE)];
    return {
      setup, moves: texts(this.board.moves), analyses, hints, takebacks, interruptions, version, result, reason, left, time: Date.now(),
    };
  }

  /** The time of the person's move goes on while the page is closed; the agent's is that of its search. */
  static fromStorage({ setup, moves, left, time = Date.now(), ...fields }) {
    const game = new HumanGame(setup);
    for (const move of moves.slice(setup.moves.length)) game.board.push(move);
    Object.assign(game, fields, { message: fields.reason });
    if (game.clock) {
      game.clock.left = left;
      if (!game.isOver && moves.length > setup.moves.length) {
        if (!game.isAgentsTurn) game.clock.left[setup.side] -= Math.max(Date.now() - time, 0) / 1000;
        game.clock.start(game.board.turn);
      }
    }
    return game;
  }

  #pliesAfterOpening() {
    return this.board.ply - this.setup.moves.length;
  }

  #answerDrawOffer() {
    if (this.#pliesAfterOpening() < 2) return [false, "the game has hardly begun."];
    const { name } = this.setup;
    const score = this.analyses[this.board.ply]?.score ?? null;
    if (score !== null) {
      const value = `${score <= -0.005 ? "−" : "+"}${Math.abs(score).toFixed(2)}`;
      return [score <= 0, `${name} sees ${score <= 0 ? "no advantage" : "an advantage"} for itself, at ${value}.`];
    }
    const difference = popcount(this.board.black) - popcount(this.board.white);
    const isAhead = (this.setup.side === BLACK ? -difference : difference) > 0;
    return [!isAhead, `${name} has ${isAhead ? "more pieces" : "no more pieces than you"}.`];
  }

  #checkNotOver() {
    if (this.isOver) throw new Error("The game is over.");
  }

  checkPersonsTurn() {
    this.#checkNotOver();
    if (this.isAgentsTurn) throw new Error(`It is ${this.setup.name}'s turn.`);
  }

  #updateResult() {
    const [result, reason] = boardResult(this.board);
    if (result === UNFINISHED) this.#update(this.message);
    else this.#finish(result, reason);
  }

  #finish(result, reason) {
    Object.assign(this, { result, reason });
    this.clock?.stop();
    this.#update(`${this.message} ${reason}`.trim());
  }

  #update(message) {
    this.message = message;
    this.version += 1;
  }
}
