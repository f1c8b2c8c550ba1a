// Answers the requests of the pages in the browser, in place of the server of checkers-play.
// In the static site it stands for server.js, and agents think in a worker.

import { readStored, store } from "../storage.js";
import { AGENTS, JUDGE, OPPONENTS } from "./catalog.js";

const DEFAULT_SECONDS = 10; // a move
const MAX_SECONDS = 60;
const MAX_DEPTH = 64;
const ARCHIVE = "games"; // keys in the storage
const CHAMPION = "champion";
const EVOLVED = "evolved"; // the agent that the page "Evolution" makes

let messages = 0;

// Returns a function that sends {action, ...} to a worker, and resolves to its answer.
const connect = (file) => {
  let worker = null;
  const waiting = new Map();
  const start = () => {
    worker = new Worker(new URL(file, import.meta.url), { type: "module" });
    worker.addEventListener("message", ({ data: { id, result, error } }) => {
      const { resolve, reject } = waiting.get(id) ?? {};
      waiting.delete(id);
      if (error === undefined) resolve?.(result);
      else reject?.(new Error(error));
    });
    worker.addEventListener("error", () => {
      for (const { reject } of waiting.values()) reject(new Error("The engine could not be started."));
      waiting.clear();
      worker = null;
    });
  };
  return (message, signal) => {
    if (!worker) start();
    messages += 1;
    const id = message.id ?? messages;
    worker.postMessage({ ...message, id });
    if (message.action === "stop") return {};
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      signal?.addEventListener("abort", () => {
        waiting.delete(id);
        worker?.postMessage({ action: "stop", id });
        reject(signal.reason);
      });
    });
  };
};

const askAgent = connect("./worker.js");
const askJudge = connect("./worker.js"); // its own, so that it does not wait for an agent that thinks
const askEvolution = connect("./evolution.js");

// Agents

const evolvedAgents = () => {
  const champion = readStored(CHAMPION);
  if (!champion) return [];
  const about = `champion of generation ${champion.generation} of your own run`;
  return [{ name: EVOLVED, label: EVOLVED, about, limit: "depth", default: 4 }];
};

const findAgent = (name) => {
  const agents = [...AGENTS, ...evolvedAgents()];
  const entry = agents.find((each) => each.name === name);
  if (!entry) throw new Error(`No agent '${String(name).slice(0, 200)}' is on offer: ${agents.map((each) => each.name).join(", ")} are.`);
  return entry;
};

// Weights that a message brings along, for an agent that has no file.
const weightsOf = (agent) => (agent === EVOLVED ? { weights: readStored(CHAMPION) } : {});

// Offer the run's champion in a page's lists, and choose the agent that the address names: ?agent=NAME.
const offerAgents = () => {
  const wanted = new URLSearchParams(location.search).get("agent");
  for (const list of document.querySelectorAll("select[data-field=agent]")) {
    for (const { name, label, about, limit, default: standard } of evolvedAgents()) {
      const option = Object.assign(document.createElement("option"), { value: name, textContent: label });
      Object.assign(option.dataset, { label, about, limit, most: MAX_DEPTH, standard });
      list.append(option);
    }
    const option = [...list.options].find(({ value }) => value === wanted);
    const anyPlayer = document.querySelector('[name=opponent][value=""]');
    if (option && anyPlayer) option.selected = anyPlayer.checked = true;
  }
};

const showRuns = async (path, version) => {
  const run = await askEvolution({ action: "show", path, version });
  if (run.champion) store(CHAMPION, await askEvolution({ action: "champion" }));
  return run;
};

// An agent with the limits of its moves: {agent, label, name, limits}.
const chooseAgent = ({ agent, amount, seconds }, hasClock) => {
  const entry = findAgent(agent);
  if (!entry.limit) return { agent, label: agent, name: agent, limits: {} };
  const byClock = hasClock && amount === null;
  const depth = amount ?? entry.default;
  if (!(Number.isInteger(depth) && depth >= 1 && depth <= MAX_DEPTH)) throw new Error(`depth must be from 1 to ${MAX_DEPTH}.`);
  const most = seconds ?? DEFAULT_SECONDS;
  if (!(most > 0 && most <= MAX_SECONDS)) throw new Error(`The seconds a move must be above 0, and ${MAX_SECONDS} at most.`);
  const limits = byClock ? { seconds: most } : { depth, seconds: most };
  const words = [...(byClock ? [] : [`depth ${depth}`]), ...(most === DEFAULT_SECONDS ? [] : [`seconds ${most}`])];
  const label = words.length ? `${agent} (${words.join(", ")})` : agent;
  return { agent, label, name: label, limits };
};

const choose = (fields, hasClock) => (fields.opponent ? OPPONENTS[fields.opponent][(fields.level ?? 1) - 1] : chooseAgent(fields, hasClock));

const showPlayer = ({ has_clock: hasClock, ...fields }) => {
  const { limits, ...player } = choose(fields, hasClock);
  return { ...player, seconds: limits.seconds ?? null };
};

const analyse = async ({ opponent, level, agent, amount, seconds, nodes, clock, search, ...question }, signal) => {
  const isJudge = !agent && !opponent;
  const chosen = isJudge ? { agent: JUDGE.agent, label: JUDGE.agent, limits: { nodes: nodes ?? JUDGE.nodes } }
    : choose({ opponent, level, agent, amount, seconds }, Boolean(clock));
  const isTimed = clock && Object.keys(chosen.limits).length > 0;
  const limits = isTimed ? { ...chosen.limits, ...clock, seconds: Math.min(chosen.limits.seconds, clock.seconds) } : chosen.limits;
  const message = {
    ...question, action: "analyse", agent: chosen.agent, ...weightsOf(chosen.agent), limits, blunder: chosen.blunder ?? 0, id: search,
  };
  const analysis = await (isJudge ? askJudge : askAgent)(message, signal);
  return { ...analysis, label: chosen.label, exact: null };
};

const explain = (query) => {
  const { name } = findAgent(query.get("agent"));
  return askAgent({ action: "explain", agent: name, ...weightsOf(name), fen: query.get("fen") });
};

const readArchive = () => readStored(ARCHIVE) ?? [];

const keepGame = ({ pdn }) => {
  store(ARCHIVE, [...readArchive(), { pdn }]);
  return {};
};

const tagOf = (pdn, name) => pdn.split(`[${name} "`)[1].split('"')[0];

const showArchive = () => {
  const games = readArchive().map(({ pdn }) => {
    const [side, win] = tagOf(pdn, "BlackType") === "program" ? ["Black", "1-0"] : ["White", "0-1"];
    const result = tagOf(pdn, "Result");
    return { agent: tagOf(pdn, side), score: result === win ? "wins" : result === "1/2-1/2" ? "draws" : "losses" };
  });
  const results = [...new Set(games.map(({ agent }) => agent))].sort().map((agent) => {
    const count = (score) => games.filter((each) => each.agent === agent && each.score === score).length;
    return { agent, wins: count("wins"), draws: count("draws"), losses: count("losses"), rated_games: 0, rating: null };
  });
  return { folder: "this browser", games: games.length, results };
};

const ROUTES = {
  player: showPlayer,
  analysis: analyse,
  "analysis/stop": ({ search }) => askAgent({ action: "stop", id: search }),
  explain,
  archive: (body) => (body instanceof URLSearchParams ? showArchive() : keepGame(body)),
  "archive/pdn": () => ({ pdn: readArchive().map(({ pdn }) => pdn).join("\n") }),
  preparation: () => ({ seconds: null, typical: 0 }),
};

// Answer a request as the server does: a route gets the body, or the query.
export const request = async (path, body, signal) => {
  const { pathname, searchParams } = new URL(path, location.href);
  const name = pathname.slice("/api/".length);
  if (name.startsWith("runs")) return showRuns(decodeURIComponent(name), searchParams.get("version"));
  return ROUTES[name](body ?? searchParams, signal);
};

offerAgents();
navigator.serviceWorker?.register(new URL("../../sw.js", import.meta.url)).catch(() => {}); // the page works without it
