// Page "Evolution": a run's curves, and the standings and games of its current generation.
// The server replays the games of a generation on request, and the time of a replay decides when the next one is asked for.

import { Board } from "/static/board.js";
import { connectChampions } from "/static/champions.js";
import { Chart, formatNumber } from "/static/chart.js";
import { byId, createElement } from "/static/dom.js";
import { framesOf, START } from "/static/engine/rules.js";
import { connectLaunch } from "/static/launch.js";
import { showPlate } from "/static/panels.js";
import { writePdn } from "/static/pdn.js";
import { Replay } from "/static/replay.js";
import { describeRun } from "/static/run_summary.js";
import { request } from "/static/server.js";
import { describeOutcome } from "/static/words.js";

const POLL_INTERVAL = 1000; // milliseconds
const POLLS_PER_LIST = 5; // polls of the run for one of the list of runs
const REST_FACTOR = 9; // pause between replays, in times of the last replay
const MIN_REST = 5000; // milliseconds
const SILENCE = 600; // seconds without a checkpoint after which a run may have been killed

const CHARTS = [
  {
    title: "Performance", unit: "mean payoff of the parents' games (+1, 0 or −2)", range: [-1, 1], smoothing: 20,
    series: [
      { name: "curve/heuristic", label: "against the heuristic player" },
      { name: "curve/material", label: "against the piece counter at 1 ply" },
    ],
  },
  { title: "K, the worth of a king", unit: "in men", series: [{ name: "king/mean", label: "mean of the parents" }], needs: "step/mean" },
  { title: "Step size", unit: "of the mutations of a weight", series: [{ name: "step/mean", label: "mean of the parents" }] },
  {
    title: "Saturation", unit: "share of the test positions that the champion values beyond ±0.99", range: [0, 1], smoothing: 20,
    series: [{ name: "champion/saturated", label: "of the champion" }],
  },
  {
    title: "Progress", unit: "mean payoff of the champion (+1, 0 or −1)", range: [-1, 1], smoothing: 20,
    series: [{ name: "champion/progress", label: "against the champions before it" }],
  },
  { title: "Error", unit: "of a position's value, by what follows", series: [{ name: "td/error", label: "mean of |v(x′) − v(x)|" }] },
  {
    title: "Social pool", unit: "how many",
    series: [{ name: "pool/size", label: "strategies in the pool" }, { name: "pool/users", label: "players who use one" }],
  },
];

const requestRun = (...parts) =>
  request(`/api/runs${parts.map((part) => `/${encodeURIComponent(part)}`).join("")}`);

const page = {
  name: new URLSearchParams(location.search).get("run"),
  run: null, // the run's last state from the server
  generation: null, // its replay
  replayVersion: null, // version of the run at the replay
  game: null, // on the board
  isReplaying: false,
  nextReplay: 0, // earliest time of the next replay
  started: null, // a run that the page has started, until it is listed
  message: "",
};
const charts = CHARTS.map((chart) => ({ chart: new Chart(chart), ...chart }));
const board = new Board(byId("board"), { label: "Position of the game" });
const replay = new Replay({ board, controls: byId("controls"), score: byId("score"), onShow: showPlayers });

function showPlayers({ fen }) {
  for (const side of ["black", "white"]) {
    const plate = byId((side === "black") === replay.flipped ? "below" : "above");
    showPlate(plate, side, page.game[side], "", { turn: fen.startsWith(side[0].toUpperCase()) });
  }
}

const say = (text) => {
  if (byId("status").textContent !== text) byId("status").textContent = text;
};

const formatAge = (seconds) => {
  const [amount, unit] = [[86400, "day"], [3600, "hour"], [60, "minute"], [1, "second"]]
    .map(([length, name]) => [Math.floor(seconds / length), name]).find(([count]) => count >= 1) ?? [0, "second"];
  return amount ? `${amount} ${unit}${amount > 1 ? "s" : ""} ago` : "just now";
};

const showRuns = (runs) => {
  byId("no-runs").hidden = runs.length > 0;
  byId("runs").hidden = !runs.length;
  if (!runs.length) return;
  const has = (wanted) => runs.some(({ name }) => name === wanted);
  if (has(page.started)) {
    if (page.started !== page.name) selectRun(page.started);
    page.started = null;
  }
  const isListed = has(page.name);
  if (!isListed) {
    if (page.name) page.message = `There is no run ${page.name} here: this is ${runs[0].name}.`;
    selectRun(runs[0].name);
  }
  const byName = [...runs].sort((one, other) => one.name.localeCompare(other.name));
  const names = [...byId("run").options].map(({ value }) => value);
  if (names.join("/") !== byName.map(({ name }) => name).join("/")) {
    byId("run").replaceChildren(...byName.map(({ name }) => createElement("option", { value: name })));
  }
  byName.forEach(({ name, generation, running }, index) => {
    byId("run").options[index].textContent = `${name} (generation ${generation}${running ? ", running" : ""})`;
  });
  byId("run").value = page.name;
};

const selectRun = (name) => {
  Object.assign(page, { name, run: null, generation: null, game: null, replayVersion: null, nextReplay: 0 });
  byId("tournament").hidden = true;
  history.replaceState(null, "", `/evolution?run=${encodeURIComponent(name)}`);
};

// The run and its curves

const runFacts = (run) => {
  const { running, regime, seed, generation, asked_generations: asked, preset_generations: planned, games_per_generation: games, history } = run;
  const last = (name) => history[name]?.findLast((number) => number !== null);
  const format = (number) => (number === undefined ? null : formatNumber(number));
  const speed = last("speed/games_per_cpu_second");
  const age = Date.now() / 1000 - run.save_time;
  const state = !running ? "ended, or interrupted" : age < SILENCE ? "running" : "silent: it may have been stopped";
  return [
    ["Regime", `${regime}, seed ${seed}`], ["State", state], ["Saved", formatAge(age)],
    asked ? ["Generations asked for", formatNumber(asked)]
      : ["Generations of the preset", planned ? formatNumber(planned) : null],
    ["Games a generation", games ? formatNumber(games) : "not known"],
    ["Games so far", games ? (games * generation).toLocaleString("en") : "not known"],
    ["Games a CPU second", speed === undefined ? "not measured yet" : formatNumber(speed)],
    ["K", last("td/error") === undefined ? format(last("king/mean")) : null],
    ["Step size", format(last("step/mean"))],
  ].filter(([, value]) => value !== null);
};

const showFacts = () => {
  const rows = runFacts(page.run).map(([name, value]) => createElement("div", {},
    createElement("dt", { textContent: name }), createElement("dd", { textContent: value })));
  const text = rows.map(({ textContent }) => textContent).join("");
  if (byId("facts").textContent !== text) byId("facts").replaceChildren(...rows);
};

const showRun = (run) => {
  const hasEnded = page.run?.running && !run.running;
  page.run = run;
  const { generation, champion, history } = run;
  const planned = run.asked_generations ?? run.preset_generations;
  byId("state").textContent = `Generation ${generation}`;
  byId("bar").hidden = !planned || generation > planned;
  if (planned) Object.assign(byId("bar"), { max: planned, value: generation });
  byId("play").hidden = !champion;
  byId("play").href = `/?agent=${encodeURIComponent(champion)}`;
  showChampions(page.name, run.champions);
  showFacts();
  byId("summary").textContent = describeRun(run);
  const has = (name) => history[name]?.some((number) => number !== null);
  const nonempty = charts.filter(({ series, needs }) => series.some(({ name }) => has(needs ?? name)));
  const visible = nonempty.length ? nonempty : charts.slice(0, 1);
  const titles = visible.map(({ title }) => title).join();
  if (byId("charts").dataset.titles !== titles) {
    byId("charts").dataset.titles = titles;
    byId("charts").replaceChildren(...visible.map(({ chart }) => chart.element));
  }
  for (const { chart } of visible) chart.show(history);
  if (hasEnded) page.message = `The run has ended at generation ${generation}.`;
  else if (run.running) page.message = "";
};

// Games of the current generation

const showGeneration = (generation) => {
  const { number, standings, survivors, outcome, games } = generation;
  page.generation = generation;
  byId("tournament").hidden = byId("replay").hidden = false;
  byId("generation").textContent = standings.length ? `Generation ${number}: the tournament` : `Generation ${number}: games of the curve`;
  byId("about").textContent = !standings.length
    ? "Temporal differences hold no tournament. These are the learner's games against the players of the performance curve."
    : page.run.running
      ? "The games that the run plays after its last checkpoint, played once more."
      : "The games that the run would play next, if it went on.";
  byId("table").hidden = !standings.length;
  byId("standings").replaceChildren(...standings.map(standingRow(survivors)));
  byId("outcome").textContent = outcome;
  const names = standings.map(({ name }) => name);
  const member = names.includes(byId("member").value) ? byId("member").value : "";
  byId("member").parentNode.hidden = !names.length;
  byId("member").replaceChildren(
    createElement("option", { value: "", textContent: `all members (${games.length} games)` }),
    ...names.map((name) => createElement("option", { value: name, textContent: name })));
  byId("member").value = member;
  showGames();
};

const createCell = (name, textContent, isFigure = false) =>
  createElement(name, { textContent, className: isFigure ? "figure" : "" });

const standingRow = (survivors) => ({ name, points, wins, draws, losses, king }, index) => {
  const head = createCell("th", name);
  head.scope = "row";
  return createElement("tr", { className: index + 1 === survivors ? "last" : "" },
    createCell("td", index + 1, true), head, createCell("td", formatNumber(points), true),
    ...[wins, draws, losses].map((count) => createCell("td", count, true)),
    createCell("td", king === null ? "" : formatNumber(king), true));
};

const showGames = () => {
  const { version, games } = page.generation;
  const member = byId("member").value;
  const rows = games.map((game, number) => ({ ...game, number }))
    .filter(({ black, white }) => !member || member === black || member === white)
    .map(({ black, white, result, plies, number }) => {
      const button = createElement("button", { type: "button", textContent: number + 1 });
      button.setAttribute("aria-label", `Show game ${number + 1}`);
      Object.assign(button.dataset, { version, number });
      return createElement("tr", {}, createElement("td", {}, button), createCell("td", black),
        createCell("td", white), createCell("td", result.replace("1/2-1/2", "½-½")), createCell("td", plies, true));
    });
  const table = byId("games");
  const focus = table.contains(document.activeElement) ? document.activeElement.dataset.number : null;
  table.replaceChildren(...rows);
  if (focus) table.querySelector(`[data-number="${focus}"]`)?.focus({ preventScroll: true });
  markGame();
};

const markGame = () => {
  for (const button of byId("games").querySelectorAll("button")) {
    const { version, number } = button.dataset;
    const isOpen = version === page.game?.version && Number(number) === page.game.number;
    if (isOpen) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  }
};

const openGame = async (version, number) => {
  const { name } = page;
  const game = await requestRun(name, "generation", version, "games", number);
  if (name !== page.name) return;
  page.game = { version, ...game };
  showGame(game, `Generation ${game.generation}, game ${game.number + 1}.`);
};

const showGame = ({ black, white, result, winner, reason, moves, tags }, title) => {
  byId("ending").textContent = `${title} ${describeOutcome({ winner, reason }, moves.length % 2)}`;
  byId("pdn").value = writePdn({ ...tags, Black: black, White: white }, START, moves, result);
  replay.open(framesOf(START, moves));
  markGame();
};

// A game between champions, which is none of the generation's games.
const showChampions = connectChampions({
  play: (...parts) => requestRun(page.name, "champions", ...parts),
  show: (game) => {
    page.game = { ...game, version: null };
    showGame(game, `Black: ${game.black}, White: ${game.white}.`);
    byId("board").scrollIntoView({ block: "nearest" });
    replay.play();
  },
});

const updateGames = async () => {
  const { name, run, generation } = page;
  const isOutdated = page.replayVersion !== run.version && (!generation || byId("follow").checked);
  if (page.isReplaying || !isOutdated || Date.now() < page.nextReplay) return;
  const startTime = Date.now();
  page.isReplaying = true;
  try {
    const latest = await requestRun(name, "generation");
    if (name !== page.name) return;
    page.replayVersion = run.version;
    showGeneration(latest);
    const firstWin = latest.games.findIndex(({ result }) => !result.includes("/"));
    if (!page.game) await openGame(latest.version, Math.max(firstWin, 0));
  } catch (error) {
    if (name !== page.name || page.generation) return;
    byId("generation").textContent = "Games";
    byId("about").textContent = `The games of this run cannot be shown: ${error.message}`;
    byId("tournament").hidden = false;
    byId("replay").hidden = true;
  } finally {
    const rest = Math.max(MIN_REST, REST_FACTOR * (Date.now() - startTime));
    if (name === page.name) page.nextReplay = Date.now() + rest;
    page.isReplaying = false;
  }
};

const updateRun = async () => {
  const { name, run } = page;
  const query = run ? `?version=${run.version}` : "";
  const response = await request(`/api/runs/${encodeURIComponent(name)}${query}`);
  if (name !== page.name) return;
  if (response.version) showRun(response);
  else showFacts(); // no new checkpoint
};

let polls = 0;

const updateLaunch = connectLaunch((name) => { page.started = name; });

const update = async () => {
  if (polls % POLLS_PER_LIST === 0 || !page.name || page.started) showRuns((await requestRun()).runs);
  polls += 1;
  updateLaunch(Boolean(page.name));
  if (!page.name) return;
  await updateRun();
  if (page.run) updateGames(); // without await: the curves do not wait for a long replay
};

const poll = async () => {
  if (!document.hidden) {
    try {
      await update();
      say(page.message);
    } catch (error) {
      say(error.message);
      polls = 0;
    }
  }
  setTimeout(poll, POLL_INTERVAL);
};

byId("run").addEventListener("change", () => {
  page.message = "";
  selectRun(byId("run").value);
});
byId("member").addEventListener("change", showGames);
byId("games").addEventListener("click", ({ target }) => {
  const { version, number } = target.closest("button")?.dataset ?? {};
  if (version) openGame(version, number).catch((error) => { page.message = error.message; });
});
byId("stage").addEventListener("keydown", replay.onKey);
poll();
