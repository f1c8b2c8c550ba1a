// The page that watches evolution: a run's curves, the standings and the games of its generation.
//
// It asks the server each second whether the run has saved something, and then for that. The games of
// a generation are played by the server when they are asked for; how long that took decides how soon
// they are asked for again.

import { Board } from "/static/board.js";
import { Chart, figure, make } from "/static/chart.js";
import { Replay } from "/static/replay.js";
import { ask } from "/static/server.js";
import { showPlate } from "/static/told.js";

const EVERY = 1000; // milliseconds between questions
const LIST_EVERY = 5; // questions about the run for one about the list of runs
const REST = 9; // times as long as the server played do its games stay
const LEAST_REST = 5000;
const SILENT = 600; // seconds after which a run that saves nothing may have been killed

const CHARTS = [
  {
    title: "Performance", unit: "mean payoff of the parents' games (+1, 0 or −2)", range: [-1, 1], smoothed: 20,
    series: [
      { name: "curve/heuristic", label: "against the heuristic player" },
      { name: "curve/material", label: "against the piece counter at 1 ply" },
    ],
  },
  { title: "K, the worth of a king", unit: "in men", series: [{ name: "king/mean", label: "mean of the parents" }], needs: "step/mean" },
  { title: "Step size", unit: "of the mutations of a weight", series: [{ name: "step/mean", label: "mean of the parents" }] },
  {
    title: "Progress", unit: "mean payoff of the champion (+1, 0 or −1)", range: [-1, 1], smoothed: 20,
    series: [{ name: "champion/progress", label: "against the champions before it" }],
  },
  { title: "Error", unit: "of a position's value, by what follows", series: [{ name: "td/error", label: "mean of |v(x′) − v(x)|" }] },
  {
    title: "Social pool", unit: "how many",
    series: [{ name: "pool/size", label: "strategies in the pool" }, { name: "pool/users", label: "players who use one" }],
  },
];

const $ = (id) => document.getElementById(id);

const about = (...parts) => ask(`/api/runs${parts.map((part) => `/${encodeURIComponent(part)}`).join("")}`);

const watched = {
  name: new URLSearchParams(location.search).get("run"),
  seen: null, // what the server said of it last
  generation: null, // its games, as the server played them
  game: null, // the one on the board
  of: null, // the version of the run that they belong to
  busy: false,
  resting: 0, // until when no games are asked for
  message: "", // what there is to be said
};
const charts = CHARTS.map((chart) => ({ chart: new Chart(chart), ...chart }));
const board = new Board($("board"), { label: "Position of the game" });
const replay = new Replay({ board, controls: $("controls"), score: $("score"), onShow: showPlayers });

function showPlayers({ fen }) {
  for (const side of ["black", "white"]) {
    const plate = $((side === "black") === replay.flipped ? "below" : "above");
    showPlate(plate, side, watched.game[side], "", { turn: fen.startsWith(side[0].toUpperCase()) });
  }
}

const say = (text) => {
  if ($("status").textContent !== text) $("status").textContent = text;
};

const ago = (seconds) => {
  const [amount, unit] = [[86400, "day"], [3600, "hour"], [60, "minute"], [1, "second"]]
    .map(([length, name]) => [Math.floor(seconds / length), name]).find(([count]) => count >= 1) ?? [0, "second"];
  return amount ? `${amount} ${unit}${amount > 1 ? "s" : ""} ago` : "just now";
};

// The list of runs

const showRuns = (runs) => {
  $("none").hidden = runs.length > 0;
  $("there").hidden = !runs.length;
  if (!runs.length) return;
  const known = runs.some(({ name }) => name === watched.name);
  if (!known) {
    if (watched.name) watched.message = `There is no run ${watched.name} here: this is ${runs[0].name}.`;
    choose(runs[0].name);
  }
  const told = [...runs].sort((one, other) => one.name.localeCompare(other.name));
  const names = [...$("run").options].map(({ value }) => value);
  if (names.join("/") !== told.map(({ name }) => name).join("/")) {
    $("run").replaceChildren(...told.map(({ name }) => make("option", { value: name })));
  }
  told.forEach(({ name, generation, running }, index) => {
    $("run").options[index].textContent = `${name} (generation ${generation}${running ? ", running" : ""})`;
  });
  $("run").value = watched.name;
};

const choose = (name) => {
  Object.assign(watched, { name, seen: null, generation: null, game: null, of: null, resting: 0 });
  $("tournament").hidden = true;
  history.replaceState(null, "", `/evolution?run=${encodeURIComponent(name)}`);
};

// What the run is, and its curves

const facts = ({ running, saved, regime, seed, generation, planned, games, history }) => {
  const last = (name) => history[name]?.findLast((number) => number !== null);
  const shown = (number) => (number === undefined ? null : figure(number));
  const speed = last("speed/games_per_cpu_second");
  const silence = Date.now() / 1000 - saved;
  const state = !running ? "ended, or interrupted" : silence < SILENT ? "running" : "silent: it may have been stopped";
  return [
    ["Regime", `${regime}, seed ${seed}`], ["State", state], ["Saved", ago(silence)],
    ["Generations of the preset", planned ? figure(planned) : null],
    ["Games a generation", games ? figure(games) : "not known"],
    ["Games so far", games ? (games * generation).toLocaleString("en") : "not known"],
    ["Games a CPU second", speed === undefined ? "not measured yet" : figure(speed)],
    ["K", last("td/error") === undefined ? shown(last("king/mean")) : null],
    ["Step size", shown(last("step/mean"))],
  ].filter(([, value]) => value !== null);
};

const showFacts = () => {
  const rows = facts(watched.seen).map(([name, value]) =>
    make("div", {}, make("dt", { textContent: name }), make("dd", { textContent: value })));
  const text = rows.map(({ textContent }) => textContent).join("");
  if ($("facts").textContent !== text) $("facts").replaceChildren(...rows);
};

const showRun = (seen) => {
  const ended = watched.seen?.running && !seen.running;
  watched.seen = seen;
  const { generation, planned, champion, history } = seen;
  $("state").textContent = `Generation ${generation}`;
  $("bar").hidden = !planned || generation > planned;
  if (planned) Object.assign($("bar"), { max: planned, value: generation });
  $("play").hidden = !champion;
  $("play").href = `/?agent=${encodeURIComponent(champion)}`;
  showFacts();
  const has = (name) => history[name]?.some((number) => number !== null);
  const shown = charts.filter(({ series, needs }) => series.some(({ name }) => has(needs ?? name)));
  const there = shown.length ? shown : charts.slice(0, 1);
  const titles = there.map(({ title }) => title).join();
  if ($("charts").dataset.shown !== titles) {
    $("charts").dataset.shown = titles;
    $("charts").replaceChildren(...there.map(({ chart }) => chart.element));
  }
  for (const { chart } of there) chart.show(history);
  if (ended) watched.message = `The run has ended at generation ${generation}.`;
  else if (seen.running) watched.message = "";
};

// The games of its generation

const showGeneration = (generation) => {
  const { number, standings, survive, outcome, games } = generation;
  watched.generation = generation;
  $("tournament").hidden = $("replay").hidden = false;
  $("generation").textContent = standings.length ? `Generation ${number}: the tournament` : `Generation ${number}: games of the curve`;
  $("about").textContent = !standings.length
    ? "Temporal differences hold no tournament. These are the learner's games against the players of the performance curve."
    : watched.seen.running
      ? "The games that the run plays after its last checkpoint, played once more."
      : "The games that the run would play next, if it went on.";
  $("table").hidden = !standings.length;
  $("standings").replaceChildren(...standings.map(standing(survive)));
  $("outcome").textContent = outcome;
  const names = standings.map(({ name }) => name);
  const chosen = names.includes($("member").value) ? $("member").value : "";
  $("member").parentNode.hidden = !names.length;
  $("member").replaceChildren(make("option", { value: "", textContent: `all members (${games.length} games)` }),
    ...names.map((name) => make("option", { value: name, textContent: name })));
  $("member").value = chosen;
  listGames();
};

const cell = (name, textContent, figures = false) => make(name, { textContent, className: figures ? "figure" : "" });

const standing = (survive) => ({ name, points, wins, draws, losses, king }, index) => {
  const head = cell("th", name);
  head.scope = "row";
  return make("tr", { className: index + 1 === survive ? "last" : "" },
    cell("td", index + 1, true), head, cell("td", figure(points), true),
    ...[wins, draws, losses].map((count) => cell("td", count, true)), cell("td", figure(king), true));
};

const listGames = () => {
  const { at, games } = watched.generation;
  const member = $("member").value;
  const rows = games.map((game, number) => ({ ...game, number }))
    .filter(({ black, white }) => !member || member === black || member === white)
    .map(({ black, white, result, plies, number }) => {
      const button = make("button", { type: "button", textContent: number + 1 });
      button.setAttribute("aria-label", `Show game ${number + 1}`);
      Object.assign(button.dataset, { at, number });
      return make("tr", {}, make("td", {}, button), cell("td", black), cell("td", white),
        cell("td", result.replace("1/2-1/2", "½-½")), cell("td", plies, true));
    });
  const focused = $("games").contains(document.activeElement) ? document.activeElement.dataset.number : null;
  $("games").replaceChildren(...rows);
  if (focused) $("games").querySelector(`[data-number="${focused}"]`)?.focus({ preventScroll: true });
  markGame();
};

const markGame = () => {
  for (const button of $("games").querySelectorAll("button")) {
    const { at, number } = button.dataset;
    const open = at === watched.game?.at && Number(number) === watched.game.number;
    if (open) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  }
};

const openGame = async (at, number) => {
  const { name } = watched;
  const game = await about(name, "generation", at, "games", number);
  if (name !== watched.name) return;
  watched.game = { at, ...game };
  $("ending").textContent = `Generation ${game.generation}, game ${game.number + 1}. ${game.ending}`;
  $("pdn").value = game.pdn;
  replay.open(game.frames);
  markGame();
};

const refuseGames = (error) => {
  $("generation").textContent = "Games";
  $("about").textContent = `The games of this run cannot be shown: ${error.message}`;
  $("tournament").hidden = false;
  $("replay").hidden = true;
};

const lookAtGames = async () => {
  const { name, seen, generation } = watched;
  const wanted = watched.of !== seen.version && (!generation || $("follow").checked);
  if (watched.busy || !wanted || Date.now() < watched.resting) return;
  const began = Date.now();
  watched.busy = true;
  try {
    const found = await about(name, "generation");
    if (name !== watched.name) return;
    watched.of = seen.version;
    showGeneration(found);
    const decided = found.games.findIndex(({ result }) => !result.includes("/"));
    if (!watched.game) await openGame(found.at, Math.max(decided, 0));
  } catch (error) {
    if (name === watched.name && !watched.generation) refuseGames(error);
  } finally {
    const rest = Math.max(LEAST_REST, REST * (Date.now() - began));
    if (name === watched.name) watched.resting = Date.now() + rest;
    watched.busy = false;
  }
};

// Asking

const lookAtRun = async () => {
  const { name, seen } = watched;
  const query = seen ? `?version=${seen.version}` : "";
  const told = await ask(`/api/runs/${encodeURIComponent(name)}${query}`);
  if (name !== watched.name) return;
  if (told.version) showRun(told);
  else showFacts(); // there is no news
};

let questions = 0;

const look = async () => {
  if (questions % LIST_EVERY === 0 || !watched.name) showRuns((await about()).runs);
  questions += 1;
  if (!watched.name) return;
  await lookAtRun();
  if (watched.seen) lookAtGames(); // which may take long: the curves go on meanwhile
};

const lookOn = async () => {
  if (!document.hidden) {
    try {
      await look();
      say(watched.message);
    } catch (error) {
      say(error.message);
      questions = 0;
    }
  }
  setTimeout(lookOn, EVERY);
};

$("run").addEventListener("change", () => {
  watched.message = "";
  choose($("run").value);
});
$("member").addEventListener("change", listGames);
$("games").addEventListener("click", ({ target }) => {
  const { at, number } = target.closest("button")?.dataset ?? {};
  if (at) openGame(at, number).catch((error) => { watched.message = error.message; });
});
$("stage").addEventListener("keydown", replay.onKey);
lookOn();
