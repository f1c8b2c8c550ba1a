// Page "Play": a game between a person and an agent.

import { Board } from "/static/board.js";
import { openingChooser, opponentChooser } from "/static/chooser.js";
import { byId, onSubmit, showError } from "/static/dom.js";
import { ExplanationPanel } from "/static/explanation.js";
import { askJudge, describeView, explainDifference, JUDGE, moverOf, toBlack } from "/static/opinion.js";
import { showAnalysis, showArchive, showBar, showClock, showPlate } from "/static/panels.js";
import { describePosition, readFen } from "/static/position.js";
import { Replay } from "/static/replay.js";
import { Review } from "/static/review.js";
import { request } from "/static/server.js";
import { playMove } from "/static/sound.js";
import { readStored, store, TAB } from "/static/storage.js";

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

let state = null; // the game, as of the server's last response
let stateTime = 0; // milliseconds of performance.now() at that response
let replies = 0; // requests for the agent's move without a response
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

// Requests

let requests = 0; // without a response

function countRequests(change) {
  requests += change;
  byId("game").setAttribute("aria-busy", requests > 0);
}

// Send an action and show the new state. Returns whether that succeeded. A response for another
// game than the page's present one is ignored. After a failure the game may have gone on: the answer
// was lost on its way, or the game is open in another tab, too. Then the page goes on from there.
async function send(action, body = {}) {
  const { key } = state;
  showError(null);
  countRequests(1);
  try {
    const response = await request(`/api/games/${key}/${action}`, body);
    if (state?.key !== key) return false;
    show(response);
    return true;
  } catch (error) {
    if (state?.key !== key) return false;
    const newer = await fetchNewer();
    if (state?.key !== key) return false;
    if (newer) {
      show(newer);
      reply();
      return false;
    }
    showError(error);
    replay.go(replay.ply); // clears the chosen squares
    return false;
  } finally {
    countRequests(-1);
  }
}

// The game as it stands, if it is newer than the page's; else null.
async function fetchNewer() {
  const { key, version } = state;
  const response = await request(`/api/games/${key}`).catch(() => null);
  return response?.version > version ? response : null;
}

async function play({ squares }) {
  if (await send("move", { squares })) reply();
}

// The server's refusal of the move explains it.
async function explainIllegal(squares) {
  await send("move", { squares });
}

async function reply() {
  if (state.status !== "thinking") return;
  replies += 1;
  showActions();
  const { key, seconds } = state;
  const timer = setTimeout(() => {
    if (state?.key !== key) return;
    byId("status").textContent += " On a new machine each kind of player is compiled once: some ten seconds of computing.";
  }, (seconds ?? 0) * 1000 + LATE);
  await send("reply");
  clearTimeout(timer);
  replies -= 1;
  showActions();
  playPremove();
}

// Play the move that was chosen before the turn, if it is legal now.
function playPremove() {
  if (!premove || state?.status !== "yours") return;
  const { from, to } = premove;
  premove = null;
  const move = state.frames.at(-1).legal.filter(({ squares }) => squares[0] === from && squares.at(-1) === to);
  if (move.length === 1) play(move[0]);
  else say(`${from} to ${to} is not possible now.`);
}

async function start() {
  await begin(readOpening, { ...readOpponent().player, colour: readColour() || null, clock: readClock() });
}

// Begin a game from a position, with the colour, the opponent and the clock of the game before.
function playOn(fen) {
  const { side, player, time_control: clock } = state;
  begin(() => ({ opening: fen }), { ...player, colour: side, clock });
}

let isBeginning = false; // a second click begins no second game

async function begin(openingOf, terms) {
  if (isBeginning) return;
  isBeginning = true;
  showError(null);
  try {
    const rating = byId("rating").value === "" ? null : Number(byId("rating").value);
    const name = byId("name").value;
    store("person", { name, rating });
    const response = await request("/api/games",
      { ...terms, ...openingOf(), name, rating });
    if (state) location.hash = response.key;
    else history.replaceState(null, "", `#${response.key}`); // the way back leads to no page without a key
    open(response);
    reply();
  } catch (error) {
    showError(error);
    byId("new").open = true;
    byId("error").scrollIntoView({ block: "nearest" }); // the form has a button far below it, too
  } finally {
    isBeginning = false;
  }
}

function open(response) {
  state = premove = null;
  forgetQuestion();
  review.close();
  byId("new").open = false;
  show(response);
  board.focus();
  board.reveal();
}

// Load the game that the page's address names.
async function restore() {
  const key = location.hash.slice(1);
  if (!key || key === state?.key) return;
  try {
    const response = await request(`/api/games/${encodeURIComponent(key)}`);
    if (location.hash.slice(1) !== key) return;
    open(response);
    reply();
  } catch (error) {
    showError(error);
  }
}

// Go on with the game that this tab has left, if it is still there and not over. An address that names
// an opponent or a position asks for a new game.
async function resume() {
  const key = readStored(PRESENT, TAB);
  if (location.hash || location.search || !key) return;
  const response = await request(`/api/games/${encodeURIComponent(key)}`).catch(() => null);
  if (state || location.hash) return; // a game has begun meanwhile
  if (!response || response.status === "over") {
    store(PRESENT, null, TAB);
    return;
  }
  history.replaceState(null, "", `#${key}`);
  open(response);
  reply();
}

function remember({ key, status }) {
  if (status !== "over") store(PRESENT, key, TAB);
  else if (readStored(PRESENT, TAB) === key) store(PRESENT, null, TAB);
}

// Display

function show(response) {
  if (state?.key === response.key && response.version < state.version) return;
  const before = state;
  [state, stateTime] = [response, performance.now()];
  remember(response);
  const { frames, side, status } = response;
  const last = frames.length - 1;
  if (status === "thinking") frames[last].premove = side[0];
  if (before && frames.length === before.frames.length + 1) {
    replay.add(frames[last], { animate: status !== "thinking" });
    playMove(frames[last].move, status === "over");
  } else {
    replay.open(frames, { at: last, flipped: before ? replay.flipped : side === "black" });
  }
  showStatus();
  byId("pdn").href = `/api/games/${response.key}/pdn`;
  for (const id of ["record", "analysis", "pdn"]) byId(id).hidden = false;
  if (response.hint) board.point(response.hint.move);
  showPlates();
  showActions();
  if (status === "over" && before?.status !== "over" && byId("archive").open) loadArchive();
}

function showStatus() {
  const text = statusText();
  if (byId("status").textContent !== text) byId("status").textContent = text; // else it is announced again
}

const isEarlier = () => state !== null && state.status !== "over" && replay.ply < state.frames.length - 1;

function statusText() {
  const { status, label, message, forced_capture: forcedCapture, unrated_reason: unrated } = state;
  if (review.hasLine) return `${JUDGE}'s line, not the game.`;
  if (isEarlier()) return `You are looking at an earlier position. ${status === "yours" ? "It is your move." : `${label} is thinking.`}`;
  if (status === "thinking") return `${message} ${label} is thinking.`;
  if (status === "yours") return `${message} ${forcedCapture || "Your move."}`;
  const rating = unrated ? `It does not count for ${label}'s rating: ${unrated}.`
    : `It counts for ${label}'s rating.`;
  return `${message} The game is kept. ${rating}`;
}

function showFrame(frame, ply) {
  byId("fen").value = frame.fen;
  byId("answer").textContent = "";
  const { frames } = replay; // the game's, or those of a better line
  const analysed = frames.slice(0, ply + 1).findLast((earlier) => earlier.analysis) ?? null;
  const analysis = analysed?.analysis ?? null;
  showAnalysis(analysis, state?.label, `${state?.label} has not moved yet.`);
  showOpinion(frames, ply, analysed);
  showPlates();
  showActions();
  if (state) showStatus();
  review.update(ply);
  const agent = state?.agent ?? readOpponent().player.agent ?? "blondie24";
  explanation.show(agent, frame.fen);
  byId("see-both").href = `/analyse?${new URLSearchParams({ fen: frame.fen, agent })}`;
}

let opinions = 0; // shown so far: a later one drops the answer for an earlier one

// Show the judge's view of a position, and where the opponent's own differs.
async function showOpinion(frames, ply, analysed) {
  opinions += 1;
  const number = opinions;
  const isEnd = state?.status === "over" && frames[ply] === state.frames.at(-1);
  byId("opinion").hidden = !state;
  if (!state) return;
  if (isEnd) {
    const black = { "1-0": 1, "0-1": -1 }[state.result] ?? 0;
    showView(black, state.reason, "", null);
    return;
  }
  const timer = setTimeout(() => {
    if (number !== opinions) return;
    [byId("verdict").textContent, byId("verdict-source").textContent] = ["…", `${JUDGE} is getting ready`];
  }, SLOW);
  try {
    const view = await askJudge(frames, ply, review.nodes);
    if (number !== opinions) return;
    const source = view.exact?.plies === 0 ? "" : view.exact ? "by the endgame tables" : `by ${JUDGE}'s view`;
    showView(view.black, describeView(frames[ply].fen, view), source, analysed);
  } catch (error) {
    if (number === opinions) showView(null, error.message, "", null);
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
  byId("difference").textContent = own === null || black === null ? "" : explainDifference(state.label, own, black, state.agent === "material");
}

function showPlates() {
  const below = replay.flipped ? "black" : "white";
  for (const [id, side] of [["below", below], ["above", below === "black" ? "white" : "black"]]) {
    const turn = state && state.status !== "over" && side === turnOf(state);
    const thinking = turn && state.status === "thinking";
    const [name, about, face] = plateTexts(side);
    showPlate(byId(id), side, name, about, { turn, thinking, face, clock: secondsLeft(side) });
  }
}

const turnOf = ({ frames }) => moverOf(frames.at(-1).fen);

function plateTexts(side) {
  if (!state) {
    const { label, face } = readOpponent();
    return side === (readColour() || "black") ? ["You", "", ""] : [label, "", face];
  }
  const { name, rating, label, opponent } = state;
  const { cells } = readFen(replay.frames[replay.ply].fen);
  const pieces = cells.filter((piece) => piece.toLowerCase() === side[0]).length;
  const count = `${pieces} ${pieces === 1 ? "piece" : "pieces"}`;
  if (side !== state.side) return [label, count, opponent || "agent"];
  const person = name === "Anonymous" ? "You" : name;
  return [rating ? `${person} (${rating})` : person, count, ""];
}

function showActions() {
  const status = state?.status;
  const isPlaying = status === "yours" || status === "thinking";
  const visible = {
    present: isEarlier(),
    "take-back": isPlaying && !state.clock && !isEarlier(),
    hint: status === "yours" && !isEarlier(),
    draw: status === "yours" && !isEarlier(),
    resign: isPlaying,
    interrupt: status === "thinking" && replies > 0,
    reply: status === "thinking" && replies === 0,
    review: status === "over" && !review.isActive,
    new: state && !byId("new").open,
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
  if (!state?.clock) return readPlannedSeconds();
  const passed = state.clock.running === side ? (performance.now() - stateTime) / 1000 : 0;
  return Math.max(state.clock[side] - passed, 0);
}

const readPlannedSeconds = () => (state || !readClock() ? null : readClock().minutes * 60);

let flagged = ""; // key and version of the game whose fallen flag the server has been told of

function tick() {
  if (!state?.clock || state.status === "over") return;
  const below = replay.flipped ? "black" : "white";
  for (const side of ["black", "white"]) showClock(byId(side === below ? "below" : "above"), secondsLeft(side));
  const version = `${state.key} ${state.version}`;
  if (state.status !== "yours" || secondsLeft(state.side) > 0 || flagged === version) return;
  flagged = version;
  request(`/api/games/${state.key}`).then((response) => {
    if (response.key !== state?.key) return;
    show(response);
    if (response.status !== "over") flagged = ""; // the server's clock is a little later
  }, showError);
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

// Send an action that ends the game, when its button is clicked a second time.
function confirm(action, question) {
  const button = document.querySelector(`[data-do=${action}]`);
  const isConfirmed = "asked" in button.dataset;
  forgetQuestion();
  if (isConfirmed) return send(action);
  button.dataset.asked = button.textContent;
  button.textContent = question;
  confirmTimer = setTimeout(forgetQuestion, CONFIRM);
  return null;
}

const ACTIONS = {
  reply,
  interrupt: () => request(`/api/games/${state.key}/interrupt`, {}).catch(showError),
  present: () => {
    replay.go(state.frames.length - 1);
    board.focus();
  },
  new: () => {
    byId("new").open = true;
    byId("new").scrollIntoView({ block: "nearest" });
    byId("new").querySelector("[name=opponent]:checked").focus();
  },
  review: () => {
    const { frames, side } = state;
    review.open({ frames, side });
    byId("review").focus({ preventScroll: true });
    showActions();
    byId("review").scrollIntoView({ block: "nearest" });
  },
  draw: () => confirm("draw", "Really offer a draw?"),
  resign: () => confirm("resign", "Really resign?"),
};

let clicked = null; // the second click of a double click may meet another button than the first: it is not meant

byId("actions").addEventListener("click", ({ target, detail }) => {
  const isMeant = detail < 2 || target === clicked;
  clicked = target;
  const action = target.dataset.do;
  if (action && isMeant) (ACTIONS[action] ?? (() => send(action)))();
});

async function loadArchive() {
  try {
    showArchive(byId("archive-results"), await request("/api/archive"));
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

function restorePerson() {
  const { name = "", rating = null } = readStored("person") ?? {};
  byId("name").value = name;
  byId("rating").value = rating ?? "";
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
byId("pdn-file").addEventListener("change", async ({ target }) => {
  if (target.files[0]) byId("pdn-text").value = await target.files[0].text();
});
addEventListener("hashchange", restore);

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
  if (state) return;
  const isPosition = position && openingChoice.value === "moves" && openingText.value === position;
  replay.open([{ fen: isPosition ? position : byId("board").dataset.start, move: null }], { flipped: readColour() !== "white" });
}

restorePerson();
showPreparation().catch(() => {}); // a server that does not answer is reported with the first move
showPreview();
byId("status").textContent = "Choose an opponent, and play.";
setInterval(tick, TICK);
restore();
resume();
