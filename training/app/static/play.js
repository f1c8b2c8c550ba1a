// The page to play on: which game it is, what the person does, and what is said about it.

import { Board } from "/static/board.js";
import { agentChooser, openingChooser } from "/static/chooser.js";
import { element } from "/static/dom.js";
import { Inside } from "/static/inside.js";
import { inWords } from "/static/position.js";
import { Replay } from "/static/replay.js";
import { ask } from "/static/server.js";
import { showBar, showKept, showPlate, showThought } from "/static/told.js";

const SLOW = 5000; // milliseconds over its time after which a reply is late
const SURE = 4000; // milliseconds in which a second click resigns

const START = [{ fen: element("board").dataset.start, move: null }];
const say = (text) => { element("live").textContent = text; };

let state = null; // the game, as the server told it last
let waiting = 0; // replies of the agent that are awaited

const board = new Board(element("board"), { onMove: play, onIllegal: refuse, onSay: say });
const replay = new Replay({
  board, controls: element("controls"), score: element("score"), onShow: showFrame,
});
const inside = new Inside(board, element("inside"), say);
const agentWanted = agentChooser(element("setup"));
const colourWanted = () => document.querySelector("[name=colour]:checked").value;
const openingWanted = openingChooser(element("setup"));

// What the server is asked for

function complain(error) {
  element("error").hidden = !error;
  element("error").textContent = error?.message ?? "";
}

let asked = 0; // requests that are not answered yet

function busy(change) {
  asked += change;
  element("game").setAttribute("aria-busy", asked > 0);
}

// Whether the game on the page is the one asked about, and did what was wanted: by the time of the
// answer there may be another one, which it says nothing about.
async function send(action, body = {}) {
  const { game } = state;
  complain(null);
  busy(1);
  try {
    const told = await ask(`/api/games/${game}/${action}`, body);
    if (state?.game !== game) return false;
    show(told);
    return true;
  } catch (error) {
    if (state?.game !== game) return false;
    complain(error);
    replay.go(replay.ply); // the squares chosen so far are forgotten
    return false;
  } finally {
    busy(-1);
  }
}

async function play({ squares }) {
  if (await send("move", { squares })) reply();
}

// The server is asked why a move cannot be made.
async function refuse(squares) {
  await send("move", { squares });
}

async function reply() {
  if (state.status !== "thinking") return;
  waiting += 1;
  showActions();
  const { game, seconds } = state;
  const late = setTimeout(() => {
    if (state?.game !== game) return;
    element("status").textContent += " On a new machine the kernels are compiled once, in about a minute.";
  }, (seconds ?? 0) * 1000 + SLOW);
  await send("reply");
  clearTimeout(late);
  waiting -= 1;
  showActions();
}

async function begin(event) {
  event.preventDefault();
  complain(null);
  try {
    const colour = colourWanted() || null;
    const rating = element("rating").value === "" ? null : Number(element("rating").value);
    const name = element("name").value;
    remember({ name, rating });
    const began = await ask("/api/games",
      { ...agentWanted().player, ...openingWanted(), colour, name, rating });
    location.hash = began.game;
    open(began);
    reply();
  } catch (error) {
    complain(error);
    element("new").open = true;
  }
}

function open(began) {
  state = null;
  element("new").open = false;
  show(began);
  board.focus();
}

async function restore() {
  const game = location.hash.slice(1);
  if (!game || game === state?.game) return;
  try {
    const told = await ask(`/api/games/${encodeURIComponent(game)}`);
    if (location.hash.slice(1) !== game) return;
    open(told);
    reply();
  } catch (error) {
    complain(error);
  }
}

// What is shown

function show(told) {
  if (state?.game === told.game && told.version < state.version) return;
  const before = state;
  state = told;
  const { frames, you, status } = told;
  const last = frames.length - 1;
  if (before && frames.length === before.frames.length + 1) {
    replay.add(frames[last], { animate: status !== "thinking" });
  } else {
    replay.open(frames, { at: last, flipped: before ? replay.flipped : you === "black" });
  }
  element("status").textContent = statusText();
  element("pdn").href = `/api/games/${told.game}/pdn`;
  for (const id of ["record", "thoughts", "pdn"]) element(id).hidden = false;
  if (told.hint) board.point(told.hint.move);
  showPlates();
  showActions();
  if (status === "over" && before?.status !== "over" && element("kept").open) loadKept();
}

function statusText() {
  const { status, label, message, advice, uncounted } = state;
  if (status === "thinking") return `${message} ${label} is thinking.`;
  if (status === "yours") return `${message} ${advice || "Your move."}`;
  const rated = uncounted ? `It does not count for ${label}'s rating: ${uncounted}.`
    : `It counts for ${label}'s rating.`;
  return `${message} The game is kept. ${rated}`;
}

function showFrame(frame, ply) {
  element("fen").value = frame.fen;
  const shown = state ? state.frames : [frame];
  const { thought, agentsSide } = lastThought(shown, ply);
  showThought(thought, state?.label, `${state?.label} has not moved yet.`);
  showBar(element("bar"), thought?.value ?? null, agentsSide, state?.label, replay.flipped);
  showPlates();
  inside.show(state?.agent ?? agentWanted().player.agent, frame.fen);
}

function lastThought(frames, ply) {
  const agentsSide = state?.you === "black" ? "white" : "black";
  for (let at = ply; at >= 0; at -= 1) {
    if (frames[at]?.thought) return { thought: frames[at].thought, agentsSide };
  }
  return { thought: null, agentsSide };
}

function showPlates() {
  const below = replay.flipped ? "black" : "white";
  for (const [id, side] of [["below", below], ["above", below === "black" ? "white" : "black"]]) {
    const turn = state && state.status !== "over" && side === turnOf(state);
    const thinking = turn && state.status === "thinking";
    showPlate(element(id), side, ...plateText(side), { turn, thinking });
  }
}

const turnOf = ({ frames }) => (frames.at(-1).fen.startsWith("B") ? "black" : "white");

function plateText(side) {
  if (!state) return [side === colourWanted() ? "You" : agentWanted().label, ""];
  const { you, name, rating, label, pieces } = state;
  const left = `${pieces[side]} ${pieces[side] === 1 ? "piece" : "pieces"}`;
  if (side !== you) return [label, left];
  return [rating ? `${name} (${rating})` : name, left];
}

function showActions() {
  const status = state?.status;
  const shown = {
    "take-back": status === "yours" || status === "thinking",
    hint: status === "yours",
    draw: status === "yours",
    resign: status === "yours" || status === "thinking",
    hurry: status === "thinking" && waiting > 0,
    reply: status === "thinking" && waiting === 0,
  };
  for (const [name, visible] of Object.entries(shown)) {
    document.querySelector(`[data-do="${name}"]`).hidden = !visible;
  }
  element("start").hidden = status === "yours" || status === "thinking";
  element("start").textContent = status === "over" ? "Play again" : "Play";
}

// What the person does besides moving

let sure = 0;

const ACTIONS = {
  reply,
  hurry: () => ask(`/api/games/${state.game}/hurry`, {}).catch(complain),
  resign: () => {
    const button = document.querySelector("[data-do=resign]");
    clearTimeout(sure);
    if (button.textContent !== "Resign") {
      button.textContent = "Resign";
      return send("resign");
    }
    button.textContent = "Really resign?";
    sure = setTimeout(() => { button.textContent = "Resign"; }, SURE);
    return null;
  },
};

element("actions").addEventListener("click", ({ target }) => {
  const action = target.dataset.do;
  if (action) (ACTIONS[action] ?? (() => send(action)))();
});

async function loadKept() {
  try {
    showKept(element("kept-told"), await ask("/api/kept"));
  } catch (error) {
    complain(error);
  }
}

function remember(person) {
  try {
    localStorage.setItem("person", JSON.stringify(person));
  } catch {
    // it is asked for again then
  }
}

function recall() {
  try {
    const { name = "", rating = null } = JSON.parse(localStorage.getItem("person")) ?? {};
    element("name").value = name;
    element("rating").value = rating ?? "";
  } catch {
    // nobody has been here before
  }
}

element("setup").addEventListener("submit", begin);
element("setup").addEventListener("change", () => {
  if (!state) replay.open(START, { flipped: colourWanted() !== "white" });
});
element("record").addEventListener("keydown", replay.onKey);
element("kept").addEventListener("toggle", () => { if (element("kept").open) loadKept(); });
element("copy-fen").addEventListener("click", async () => {
  element("fen").select();
  await navigator.clipboard?.writeText(element("fen").value).then(() => say("Copied."), () => {});
});
element("read").addEventListener("click", () => say(inWords(element("fen").value)));
element("pdn-file").addEventListener("change", async ({ target }) => {
  if (target.files[0]) element("pdn-text").value = await target.files[0].text();
});
addEventListener("hashchange", restore);

recall();
replay.open(START, { flipped: true });
element("status").textContent = "Choose an opponent, and play.";
restore();
