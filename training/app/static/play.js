// Page "Play": a game between a person and an agent.

import { Board } from "/static/board.js";
import { agentChooser, openingChooser } from "/static/chooser.js";
import { byId } from "/static/dom.js";
import { ExplanationPanel } from "/static/explanation.js";
import { showAnalysis, showArchive, showBar, showPlate } from "/static/panels.js";
import { describePosition } from "/static/position.js";
import { Replay } from "/static/replay.js";
import { request } from "/static/server.js";

const LATE = 5000; // milliseconds beyond its time limit after which the page explains a late reply
const SOON = 3; // seconds of preparation that are not worth a word
const CONFIRM = 4000; // milliseconds in which a second click resigns

const START = [{ fen: byId("board").dataset.start, move: null }];
const say = (text) => { byId("live").textContent = text; };

let state = null; // the game, as of the server's last response
let replies = 0; // requests for the agent's move without a response

const board = new Board(byId("board"), { onMove: play, onIllegal: explainIllegal, onSay: say });
const replay = new Replay({
  board, controls: byId("controls"), score: byId("score"), onShow: showFrame,
});
const explanation = new ExplanationPanel(board, byId("explanation"), say);
const readAgent = agentChooser(byId("setup"));
const readColour = () => document.querySelector("[name=colour]:checked").value;
const readOpening = openingChooser(byId("setup"));

// Requests

function showError(error) {
  byId("error").hidden = !error;
  byId("error").textContent = error?.message ?? "";
}

let requests = 0; // without a response

function countRequests(change) {
  requests += change;
  byId("game").setAttribute("aria-busy", requests > 0);
}

// Send an action and show the new state. Returns whether that succeeded. A response for another
// game than the page's present one is ignored.
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
    showError(error);
    replay.go(replay.ply); // clears the chosen squares
    return false;
  } finally {
    countRequests(-1);
  }
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
    byId("status").textContent += " On a new machine the kernels are compiled once, in about a minute.";
  }, (seconds ?? 0) * 1000 + LATE);
  await send("reply");
  clearTimeout(timer);
  replies -= 1;
  showActions();
}

async function start(event) {
  event.preventDefault();
  showError(null);
  try {
    const colour = readColour() || null;
    const rating = byId("rating").value === "" ? null : Number(byId("rating").value);
    const name = byId("name").value;
    storePerson({ name, rating });
    const response = await request("/api/games",
      { ...readAgent().player, ...readOpening(), colour, name, rating });
    location.hash = response.key;
    open(response);
    reply();
  } catch (error) {
    showError(error);
    byId("new").open = true;
  }
}

function open(response) {
  state = null;
  byId("new").open = false;
  show(response);
  board.focus();
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

// Display

function show(response) {
  if (state?.key === response.key && response.version < state.version) return;
  const before = state;
  state = response;
  const { frames, side, status } = response;
  const last = frames.length - 1;
  if (before && frames.length === before.frames.length + 1) {
    replay.add(frames[last], { animate: status !== "thinking" });
  } else {
    replay.open(frames, { at: last, flipped: before ? replay.flipped : side === "black" });
  }
  byId("status").textContent = statusText();
  byId("pdn").href = `/api/games/${response.key}/pdn`;
  for (const id of ["record", "analysis", "pdn"]) byId(id).hidden = false;
  if (response.hint) board.point(response.hint.move);
  showPlates();
  showActions();
  if (status === "over" && before?.status !== "over" && byId("archive").open) loadArchive();
}

function statusText() {
  const { status, label, message, forced_capture: forcedCapture, unrated_reason: unrated } = state;
  if (status === "thinking") return `${message} ${label} is thinking.`;
  if (status === "yours") return `${message} ${forcedCapture || "Your move."}`;
  const rating = unrated ? `It does not count for ${label}'s rating: ${unrated}.`
    : `It counts for ${label}'s rating.`;
  return `${message} The game is kept. ${rating}`;
}

function showFrame(frame, ply) {
  byId("fen").value = frame.fen;
  const frames = state ? state.frames : [frame];
  const analysis = frames.slice(0, ply + 1).findLast((earlier) => earlier.analysis)?.analysis ?? null;
  const agentSide = state?.side === "black" ? "white" : "black";
  showAnalysis(analysis, state?.label, `${state?.label} has not moved yet.`);
  showBar(byId("bar"), analysis?.score ?? null, agentSide, state?.label, replay.flipped);
  showPlates();
  explanation.show(state?.agent ?? readAgent().player.agent, frame.fen);
}

function showPlates() {
  const below = replay.flipped ? "black" : "white";
  for (const [id, side] of [["below", below], ["above", below === "black" ? "white" : "black"]]) {
    const turn = state && state.status !== "over" && side === turnOf(state);
    const thinking = turn && state.status === "thinking";
    showPlate(byId(id), side, ...plateTexts(side), { turn, thinking });
  }
}

const turnOf = ({ frames }) => (frames.at(-1).fen.startsWith("B") ? "black" : "white");

function plateTexts(side) {
  if (!state) return [side === readColour() ? "You" : readAgent().label, ""];
  const { name, rating, label, pieces } = state;
  const count = `${pieces[side]} ${pieces[side] === 1 ? "piece" : "pieces"}`;
  if (side !== state.side) return [label, count];
  return [rating ? `${name} (${rating})` : name, count];
}

function showActions() {
  const status = state?.status;
  const visible = {
    "take-back": status === "yours" || status === "thinking",
    hint: status === "yours",
    draw: status === "yours",
    resign: status === "yours" || status === "thinking",
    interrupt: status === "thinking" && replies > 0,
    reply: status === "thinking" && replies === 0,
  };
  for (const [name, isVisible] of Object.entries(visible)) {
    document.querySelector(`[data-do="${name}"]`).hidden = !isVisible;
  }
  byId("start").hidden = status === "yours" || status === "thinking";
  byId("start").textContent = status === "over" ? "Play again" : "Play";
}

// Actions other than moves

let confirmTimer = 0;

const ACTIONS = {
  reply,
  interrupt: () => request(`/api/games/${state.key}/interrupt`, {}).catch(showError),
  resign: () => {
    const button = document.querySelector("[data-do=resign]");
    clearTimeout(confirmTimer);
    if (button.textContent !== "Resign") {
      button.textContent = "Resign";
      return send("resign");
    }
    button.textContent = "Really resign?";
    confirmTimer = setTimeout(() => { button.textContent = "Resign"; }, CONFIRM);
    return null;
  },
};

byId("actions").addEventListener("click", ({ target }) => {
  const action = target.dataset.do;
  if (action) (ACTIONS[action] ?? (() => send(action)))();
});

async function loadArchive() {
  try {
    showArchive(byId("archive-results"), await request("/api/archive"));
  } catch (error) {
    showError(error);
  }
}

function storePerson(person) {
  try {
    localStorage.setItem("person", JSON.stringify(person));
  } catch {
    // without storage the person types the name again
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
  try {
    const { name = "", rating = null } = JSON.parse(localStorage.getItem("person")) ?? {};
    byId("name").value = name;
    byId("rating").value = rating ?? "";
  } catch {
    // storage is switched off or damaged
  }
}

byId("setup").addEventListener("submit", start);
byId("setup").addEventListener("change", () => {
  if (!state) replay.open(START, { flipped: readColour() !== "white" });
});
byId("record").addEventListener("keydown", replay.onKey);
byId("archive").addEventListener("toggle", () => { if (byId("archive").open) loadArchive(); });
byId("copy-fen").addEventListener("click", async () => {
  byId("fen").select();
  await navigator.clipboard?.writeText(byId("fen").value).then(() => say("Copied."), () => {});
});
byId("read").addEventListener("click", () => say(describePosition(byId("fen").value)));
byId("pdn-file").addEventListener("change", async ({ target }) => {
  if (target.files[0]) byId("pdn-text").value = await target.files[0].text();
});
addEventListener("hashchange", restore);

restorePerson();
showPreparation().catch(() => {}); // a server that does not answer is reported with the first move
replay.open(START, { flipped: true });
byId("status").textContent = "Choose an opponent, and play.";
restore();
