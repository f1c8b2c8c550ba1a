// Page "Play": a game between a person and an agent.

import { Board } from "/static/board.js";
import { openingChooser, opponentChooser } from "/static/chooser.js";
import { byId, download, onSubmit, showError } from "/static/dom.js";
import { BLACK, SIDES, START, WHITE } from "/static/engine/rules.js";
import { ExplanationPanel } from "/static/explanation.js";
import { Game, newKey, randomBelow } from "/static/game.js";
import { askJudge, describeView, explainDifference, JUDGE, moverOf, toBlack } from "/static/opinion.js";
import { showAnalysis, showArchive, showBar, showClock, showPlate } from "/static/panels.js";
import { describePosition, readFen } from "/static/position.js";
import { Replay } from "/static/replay.js";
import { Review } from "/static/review.js";
import { request } from "/static/server.js";
import { playMove } from "/static/sound.js";
import { readStored, store, TAB } from "/static/storage.js";
import { DRAW, explainForcedCapture, explainIllegalMove } from "/static/words.js";

const LATE = 5000; // milliseconds beyond its time limit after which the page explains a late reply
const PRESENT = "present game"; // key in the storage of the tab: the last unfinished game's
const SOON = 3; // seconds of preparation that are not worth a word
const CONFIRM = 4000; // milliseconds in which a second click resigns or offers a draw
const SLOW = 1500; // milliseconds after which a missing opinion is explained
const TICK = 100; // milliseconds between two looks at the clock

const say = (text) => { byId("live").textContent = text; };
const answer = (text) => { // beside the buttons of the panel "Save"
  byId("answer").textContent = text;
  say(text);
};

let game = null;
let frames = null; // of the game, as shown
let search = null; // the agent's, while it is under way: {key, control}
let premove = null; // {from, to}: played as soon as it is the person's turn

const board = new Board(byId("board"), {
  onMove: play, onIllegal: explainIllegal, onSay: say, onPremove: (move) => { premove = move; },
});
const replay = new Replay({
  board, controls: byId("controls"), score: byId("score"), onShow: showFrame,
});
const review = new Review({ board, replay, onPlayOn: playOn });
const explanation = new ExplanationPanel(board, byId("explanation"), { say });
const readOpponent = opponentChooser(byId("setup"));
const readColour = () => document.querySelector("[name=colour]:checked").value;
const readOpening = openingChooser(byId("setup"));
const readClock = () => {
  const [minutes, increment] = byId("clock").value.split(" ").map(Number);
  return minutes ? { minutes, increment } : null;
};

// The game

// Change the game, keep it, and show it. Return false if the game refuses it.
function change(action) {
  showError(null);
  try {
    action();
  } catch (error) {
    refuse(error);
    return false;
  }
  stopSearch(); // it was for the position before
  game.save();
  show();
  archive();
  return true;
}

function play(move) {
  if (change(() => game.playMove(move))) reply();
}

function explainIllegal(squares) {
  refuse(new Error(explainIllegalMove(game.board, squares)));
}

function refuse(error) {
  showError(error);
  replay.go(replay.ply); // clears the chosen squares
}

function stopSearch() {
  search?.control.abort();
  search = null;
  byId("game").setAttribute("aria-busy", "false");
}

// Ask the agent about the game's position. Null after an error, and if the game has gone on meanwhile.
async function ask() {
  stopSearch();
  const own = { key: newKey(), control: new AbortController() };
  search = own;
  byId("game").setAttribute("aria-busy", "true");
  showActions();
  showError(null);
  try {
    const analysis = await request("/api/analysis", { ...game.question(), search: own.key }, own.control.signal);
    return search === own ? analysis : null;
  } catch (error) {
    if (search === own) showError(error);
    return null;
  } finally {
    if (search === own) {
      stopSearch();
      showActions();
    }
  }
}

async function reply() {
  if (game.status !== "thinking") return;
  const timer = setTimeout(() => {
    byId("status").textContent += " On a new machine each kind of player is compiled once: some ten seconds of computing.";
  }, (game.setup.seconds ?? 0) * 1000 + LATE);
  const analysis = await ask();
  clearTimeout(timer);
  if (analysis && change(() => game.playAgentMove(analysis))) playPremove();
}

async function giveHint() {
  const asked = frames;
  try {
    const { move, pv } = await askJudge(asked, asked.length - 1, null);
    if (asked === frames && change(() => game.giveHint(JUDGE, pv))) board.point(move);
  } catch (error) {
    if (asked === frames) showError(error);
  }
}

// Play the move that was chosen before the turn, if it is legal now.
function playPremove() {
  if (!premove || game.status !== "yours") return;
  const { from, to } = premove;
  premove = null;
  const moves = game.board.legalMoves.filter(({ squares }) => squares[0] === from && squares.at(-1) === to);
  if (moves.length === 1) play(moves[0]);
  else say(`${from} to ${to} is not possible now.`);
}

// Send a finished game to the archive, once.
async function archive() {
  const over = game;
  if (over.status !== "over" || over.isKept) return;
  try {
    await request("/api/archive", { seed: over.setup.seed, pdn: over.toPdn() });
    over.isKept = true;
    over.save();
    if (byId("archive").open) loadArchive();
  } catch (error) {
    if (over === game) showError(error);
  }
  if (over === game) showStatus();
}

function start() {
  const question = "Your game is not over. Begin another one? The browser's way back leads to this one.";
  if (game?.isBegun && game.status !== "over" && !window.confirm(question)) return;
  begin(readOpening, readOpponent().player, readColour(), readClock());
}

// Begin a game from a position, with the colour, the opponent and the clock of the game before.
function playOn(fen) {
  const { side, player, clock } = game.setup;
  begin(() => ({ start: fen, moves: [], standard: false }), player, SIDES[side].toLowerCase(), clock);
}

let isBeginning = false; // a second click begins no second game

async function begin(openingOf, player, colour, clock) {
  if (isBeginning) return;
  isBeginning = true;
  showError(null);
  try {
    const rating = byId("rating").value === "" ? null : Number(byId("rating").value);
    const name = byId("name").value.split(/\s+/).filter(Boolean).join(" ");
    store("person", { name, rating });
    const opening = openingOf();
    const agent = await request("/api/player", { ...player, has_clock: clock !== null });
    const begun = new Game({
      ...opening, ...agent, player, clock, rating, person: name || "Anonymous", seed: randomBelow(2 ** 32),
      side: { black: BLACK, white: WHITE }[colour] ?? randomBelow(2), startTime: new Date().toISOString(),
    });
    begun.save();
    if (game) location.hash = begun.key;
    else history.replaceState(null, "", `#${begun.key}`); // the way back leads to no page without a key
    open(begun);
  } catch (error) {
    showError(error);
    byId("new").open = true;
    byId("error").scrollIntoView({ block: "nearest" }); // the form has a button far below it, too
  } finally {
    isBeginning = false;
  }
}

function open(opened) {
  stopSearch();
  [game, frames, premove] = [opened, null, null];
  forgetQuestion();
  review.close();
  byId("new").open = false;
  show();
  board.focus();
  board.reveal();
  archive(); // unless that was done
  reply();
}

// Open the game that the page's address names, or else the one that this tab has left, unless it is over. An address that
// names an opponent or a position asks for a new game.
function restore() {
  const named = location.hash.slice(1);
  const key = named || (location.search ? null : readStored(PRESENT, TAB));
  if (!key || key === game?.key) return;
  const found = Game.load(key);
  if (found && (named || found.status !== "over")) {
    history.replaceState(null, "", `#${key}`);
    open(found);
  } else if (named) {
    showError(new Error("There is no such game any more."));
  } else {
    store(PRESENT, null, TAB);
  }
}

// Another tab may have played on.
function followOtherTab({ key }) {
  if (key !== `game ${game?.key}`) return;
  const newer = Game.load(game.key);
  if (!newer || newer.version <= game.version) return;
  stopSearch();
  game = newer;
  show();
}

// Display

function show() {
  const before = frames;
  frames = game.frames();
  const { key, status, setup: { side } } = game;
  if (status !== "over") store(PRESENT, key, TAB);
  else if (readStored(PRESENT, TAB) === key) store(PRESENT, null, TAB);
  const last = frames.length - 1;
  if (frames.length === before?.length + 1) {
    replay.add(frames[last], { animate: status !== "thinking" });
    playMove(frames[last].move, status === "over");
  } else {
    replay.open(frames, { at: last, flipped: before ? replay.flipped : side === BLACK });
  }
  for (const id of ["record", "analysis", "pdn"]) byId(id).hidden = false;
}

function showStatus() {
  const text = statusText();
  if (byId("status").textContent !== text) byId("status").textContent = text; // else it is announced again
}

const isEarlier = () => game !== null && game.status !== "over" && replay.ply < frames.length - 1;

function statusText() {
  const { status, message, setup: { name } } = game;
  if (review.hasLine) return `${JUDGE}'s line, not the game.`;
  if (isEarlier()) return `You are looking at an earlier position. ${status === "yours" ? "It is your move." : `${name} is thinking.`}`;
  if (status === "thinking") return `${message} ${name} is thinking.`;
  if (status === "yours") return `${message} ${explainForcedCapture(game.board) || "Your move."}`;
  const unrated = game.unratedReason();
  const rating = unrated ? `It does not count for ${name}'s rating: ${unrated}.` : `It counts for ${name}'s rating.`;
  return `${message} ${nextStep()} ${game.isKept ? `The game is kept. ${rating}` : ""}`;
}

// What to try when the game is over: after a win the next stronger opponent, after a loss the next weaker one.
function nextStep() {
  const opponents = [...document.querySelectorAll("[name=opponent]")].filter(({ value }) => value);
  const place = opponents.findIndex(({ value }) => value === game.setup.player.opponent);
  const step = game.isWon ? 1 : -1;
  const next = place < 0 || game.result === DRAW ? null : opponents[place + step];
  return `Next: review the game, or play ${next ? `against ${next.dataset.name}` : "again"}.`;
}

function showFrame(frame, ply) {
  byId("fen").value = frame.fen;
  byId("answer").textContent = "";
  const shown = replay.frames; // the game's, or those of a better line
  const analysed = shown.slice(0, ply + 1).findLast(({ analysis }) => analysis) ?? null;
  const name = game?.setup.name;
  showAnalysis(analysed?.analysis ?? null, name, `${name} has not moved yet.`);
  showOpinion(shown, ply, analysed);
  showPlates();
  showActions();
  if (game) showStatus();
  review.update(ply);
  const agent = game?.setup.agent ?? readOpponent().player.agent ?? "blondie24";
  explanation.show(agent, frame.fen);
  byId("see-both").href = `/analyse?${new URLSearchParams({ fen: frame.fen, agent })}`;
}

let looking = new AbortController(); // of the question about the position that is shown

// Show the judge's view of a position, and where the opponent's own differs.
async function showOpinion(shown, ply, analysed) {
  looking.abort();
  looking = new AbortController();
  const { signal } = looking;
  byId("opinion").hidden = !game;
  if (!game) return;
  if (game.status === "over" && shown[ply] === frames.at(-1)) {
    showView({ "1-0": 1, "0-1": -1 }[game.result] ?? 0, game.reason, "", null);
    return;
  }
  const timer = setTimeout(() => {
    if (signal.aborted) return;
    [byId("verdict").textContent, byId("verdict-source").textContent] = ["…", `${JUDGE} is getting ready`];
  }, SLOW);
  try {
    const view = await askJudge(shown, ply, review.nodes, signal);
    if (signal.aborted) return;
    const source = view.exact?.plies === 0 ? "" : view.exact ? "by the endgame tables" : `by ${JUDGE}'s view`;
    showView(view.black, describeView(shown[ply].fen, view), source, analysed);
  } catch (error) {
    if (!signal.aborted) showView(null, error.message, "", null);
  } finally {
    clearTimeout(timer);
  }
}

function showView(black, words, source, analysed) {
  showBar(byId("bar"), black, "black", source ? `Black ${source}` : "Black", replay.flipped);
  byId("verdict").textContent = words;
  byId("verdict-source").textContent = source;
  const score = analysed?.analysis.score ?? null;
  const mover = analysed && (moverOf(analysed.fen) === "black" ? "W" : "B"); // the agent has just moved
  const own = score === null ? null : toBlack(mover, score);
  byId("difference").textContent = own === null || black === null ? "" : explainDifference(game.setup.name, own, black, game.setup.agent === "material");
}

function showPlates() {
  const below = replay.flipped ? "black" : "white";
  for (const [id, side] of [["below", below], ["above", below === "black" ? "white" : "black"]]) {
    const turn = game !== null && game.status !== "over" && side === SIDES[game.board.turn].toLowerCase();
    const thinking = turn && game.status === "thinking";
    const [name, about, face] = plateTexts(side);
    showPlate(byId(id), side, name, about, { turn, thinking, face, clock: secondsLeft(side) });
  }
}

function plateTexts(side) {
  if (!game) {
    const { label, face } = readOpponent();
    return side === (readColour() || "black") ? ["You", "", ""] : [label, "", face];
  }
  const { person, rating, name, player } = game.setup;
  const { cells } = readFen(replay.frames[replay.ply].fen);
  const pieces = cells.filter((piece) => piece.toLowerCase() === side[0]).length;
  const count = `${pieces} ${pieces === 1 ? "piece" : "pieces"}`;
  if (side !== SIDES[game.setup.side].toLowerCase()) return [name, count, player.opponent || "agent"];
  const own = person === "Anonymous" ? "You" : person;
  return [rating ? `${own} (${rating})` : own, count, ""];
}

function showActions() {
  const status = game?.status;
  const isPlaying = status === "yours" || status === "thinking";
  const visible = {
    present: isEarlier(),
    "take-back": isPlaying && game.canTakeBack && !isEarlier(),
    hint: status === "yours" && !isEarlier(),
    draw: status === "yours" && !isEarlier(),
    resign: isPlaying,
    interrupt: status === "thinking" && search !== null,
    reply: status === "thinking" && search === null,
    review: status === "over" && !review.isActive,
    new: game && !byId("new").open,
  };
  const focused = document.activeElement;
  for (const [name, isVisible] of Object.entries(visible)) {
    document.querySelector(`[data-do="${name}"]`).hidden = !isVisible;
  }
  byId("start").hidden = isPlaying && !byId("new").open;
  byId("start").textContent = status === "over" && !byId("new").open ? "Play again" : "Play";
  if (focused.hidden && byId("actions").contains(focused)) { // else the focus would be lost
    byId("actions").querySelector("[data-do]:not([hidden])")?.focus();
  }
}

// Clock

function secondsLeft(side) {
  if (!game) return readClock() && readClock().minutes * 60;
  return game.clock && game.clock.remaining(side === "black" ? BLACK : WHITE);
}

function tick() {
  if (!game?.clock || game.status === "over") return;
  const below = replay.flipped ? "black" : "white";
  for (const side of ["black", "white"]) showClock(byId(side === below ? "below" : "above"), secondsLeft(side));
  if (game.isFlagDown) change(() => game.loseOnTime());
}

// Actions other than moves

let confirmTimer = 0;

function forgetQuestion() {
  clearTimeout(confirmTimer);
  for (const button of document.querySelectorAll("[data-asked]")) {
    button.textContent = button.dataset.asked;
    delete button.dataset.asked;
  }
}

// End the game, when the button is clicked a second time.
function confirm(button, question, action) {
  const isConfirmed = "asked" in button.dataset;
  forgetQuestion();
  if (isConfirmed) {
    change(action);
    return;
  }
  button.dataset.asked = button.textContent;
  button.textContent = question;
  confirmTimer = setTimeout(forgetQuestion, CONFIRM);
}

const ACTIONS = {
  reply,
  hint: giveHint,
  "take-back": () => change(() => game.takeBack()),
  interrupt: () => {
    game.interruptAgent();
    game.save();
    request("/api/analysis/stop", { search: search.key }).catch(showError);
  },
  present: () => {
    replay.go(frames.length - 1);
    board.focus();
  },
  new: () => {
    byId("new").open = true;
    byId("new").scrollIntoView({ block: "nearest" });
    byId("new").querySelector("[name=opponent]:checked").focus();
  },
  review: () => {
    review.open({ frames, side: SIDES[game.setup.side].toLowerCase() });
    byId("review").focus({ preventScroll: true });
    showActions();
    byId("review").scrollIntoView({ block: "nearest" });
  },
  draw: (button) => confirm(button, "Really offer a draw?", () => game.offerDraw()),
  resign: (button) => confirm(button, "Really resign?", () => game.resign()),
};

let clicked = null; // the second click of a double click may meet another button than the first: it is not meant

byId("actions").addEventListener("click", ({ target, detail }) => {
  const isMeant = detail < 2 || target === clicked;
  clicked = target;
  if (isMeant) ACTIONS[target.dataset.do]?.(target);
});

async function loadArchive() {
  try {
    showArchive(byId("archive-results"), await request("/api/archive"), async () => {
      download("games.pdn", (await request("/api/archive/pdn")).pdn);
    });
  } catch (error) {
    showError(error);
  }
}

// Until the engine is compiled, on a new machine, show for how long that has gone on.
async function showPreparation() {
  const { seconds, typical } = await request("/api/preparation");
  byId("preparation").hidden = seconds === null || seconds < SOON;
  if (seconds === null) return;
  byId("preparation").querySelector("span").textContent = typical;
  const bar = byId("preparation").querySelector("progress");
  [bar.max, bar.value] = [typical, Math.min(seconds, typical)];
  setTimeout(showPreparation, 1000);
}

onSubmit(byId("setup"), start);
byId("setup").addEventListener("change", showPreview);
byId("setup").addEventListener("invalid", () => {
  showError(null);
  byId("new").open = true; // else the browser's complaint is hidden
}, true);
byId("new").addEventListener("toggle", showActions);
byId("record").addEventListener("keydown", replay.onKey);
byId("archive").addEventListener("toggle", () => { if (byId("archive").open) loadArchive(); });
byId("copy-fen").addEventListener("click", async () => {
  byId("fen").select();
  try {
    await navigator.clipboard.writeText(byId("fen").value);
    answer("Copied.");
  } catch {
    answer("The browser does not allow it here. The FEN is selected: copy it by the keys or the menu.");
  }
});
byId("read").addEventListener("click", () => answer(describePosition(byId("fen").value)));
byId("pdn").addEventListener("click", () => download("game.pdn", game.toPdn()));
addEventListener("hashchange", restore);
addEventListener("storage", followOtherTab);

// A position from the page "Analyse".
const position = new URLSearchParams(location.search).get("fen");
const openingChoice = byId("setup").querySelector("[data-field=opening]");
const openingText = byId("setup").querySelector("[data-opening=moves] input");
if (position) {
  openingChoice.value = "moves";
  openingChoice.dispatchEvent(new Event("change"));
  openingText.value = position;
}

// Before the first game, show the position of the page "Analyse" while it is chosen, else the start.
function showPreview() {
  if (game) return;
  const isPosition = position && openingChoice.value === "moves" && openingText.value === position;
  replay.open([{ fen: isPosition ? position : START, move: null }], { flipped: readColour() !== "white" });
}

const person = readStored("person");
byId("name").value = person?.name ?? "";
byId("rating").value = person?.rating ?? "";
showPreparation().catch(() => {}); // a server that does not answer is reported with the first move
showPreview();
byId("status").textContent = "Choose an opponent, and play.";
setInterval(tick, TICK);
restore();
