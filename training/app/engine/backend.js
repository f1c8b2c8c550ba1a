// Answers the requests of the pages in the browser, in place of the server of checkers-play.
//
// The pages' scripts call `request(path, body)` of server.js. In the static site that module is this one: games are kept
// in the browser's storage, and agents think in a worker.

import { AGENTS, BALLOTS, JUDGE, OPENING_NAMES, OPPONENTS } from "./catalog.js";
import {
  boardResult, createBoard, describeMove, explainForcedCapture, framesToJson, HumanGame, moveToJson, readPdn, writePdn,
} from "./game.js";
import { BLACK, readFen, SIDES, START, WHITE } from "./rules.js";

const DEFAULT_AGENT = "blondie24";
const DEFAULT_SECONDS = 10; // a move
const MAX_SECONDS = 60;
const MAX_DEPTH = 64;
const MAX_NODES = 1_000_000;
const MAX_LINES = 10;
const MAX_NAME = 60; // characters
const MAX_GAMES = 50; // in progress, in the storage
const COLOURS = { black: BLACK, white: WHITE };
const ARCHIVE = "games"; // keys in the storage
const CHAMPION = "champion";
const EVOLVED = "evolved"; // the agent that the page "Evolution" makes

// Storage

const readStorage = (key, otherwise) => {
  try {
    return JSON.parse(localStorage.getItem(key)) ?? otherwise;
  } catch {
    return otherwise; // it is switched off or damaged
  }
};

const writeStorage = (key, value) => {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // without storage a game lasts as long as its tab
  }
};

// Workers

let messages = 0;

// Returns a function that sends {action, ...} to a worker, and resolves to its answer; `stop` ends a search early.
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
  return (message) => {
    if (!worker) start();
    messages += 1;
    const id = messages;
    const answer = new Promise((resolve, reject) => { waiting.set(id, { resolve, reject }); });
    worker.postMessage({ id, ...message });
    return { answer, stop: () => worker?.postMessage({ action: "stop", id }) };
  };
};

const askAgent = connect("./worker.js");
const askJudge = connect("./worker.js"); // its own, so that it does not wait for an agent that thinks
const askEvolution = connect("./evolution.js");

// Agents

const kept = new Set(); // agents whose weights are stored for offline use

const keepWeights = (agent) => {
  if (!navigator.serviceWorker || kept.has(agent) || !AGENTS.find(({ name }) => name === agent)?.file) return;
  kept.add(agent);
  const address = new URL(`../../weights/${agent}.safetensors`, import.meta.url).href;
  navigator.serviceWorker.ready.then(({ active }) => active.postMessage(address));
};

const evolvedAgents = () => {
  const champion = readStorage(CHAMPION, null);
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
const weightsOf = (agent) => (agent === EVOLVED ? { weights: readStorage(CHAMPION, null) } : {});

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
  const run = await askEvolution({ action: "show", path, version }).answer;
  if (run.champion) writeStorage(CHAMPION, await askEvolution({ action: "champion" }).answer);
  return run;
};

const writeLabel = (name, options) => {
  const limits = Object.entries(options).map(([key, value]) => `${key} ${value}`).join(", ");
  return limits ? `${name} (${limits})` : name;
};

const checkNumber = (value, name, least, most) => {
  if (!(Number.isInteger(value) && value >= least && value <= most)) {
    throw new Error(`${name} must be from ${least} to ${most.toLocaleString("en")}.`);
  }
};

// An agent with the limits of its moves: {agent, label, name, opponent, level, limits}.
const chooseAgent = ({ agent = DEFAULT_AGENT, amount = null, seconds = null } = {}, hasClock = false) => {
  const entry = findAgent(agent);
  if (!entry.limit) {
    if (amount !== null || seconds !== null) throw new Error(`${entry.label} does not search: it takes no limits.`);
    return { agent, label: agent, name: agent, opponent: "", level: null, limits: {} };
  }
  const byClock = hasClock && amount === null;
  const depth = amount ?? entry.default;
  checkNumber(depth, "depth", 1, MAX_DEPTH);
  const most = seconds ?? DEFAULT_SECONDS;
  if (!(most > 0 && most <= MAX_SECONDS)) throw new Error(`The seconds a move must be above 0, and ${MAX_SECONDS} at most.`);
  const limits = byClock ? { seconds: most } : { depth, seconds: most };
  const label = writeLabel(agent, { ...(byClock ? {} : { depth }), ...(most === DEFAULT_SECONDS ? {} : { seconds: most }) });
  return { agent, label, name: label, opponent: "", level: null, limits };
};

const chooseOpponent = ({ opponent, level = null, agent = null, amount = null, seconds = null }) => {
  if (agent !== null || amount !== null || seconds !== null) throw new Error("Give an opponent, or an agent with its limits, not both.");
  const found = OPPONENTS.find(({ id }) => id === opponent);
  if (!found) throw new Error(`No opponent '${String(opponent).slice(0, 200)}': there are ${OPPONENTS.map(({ id }) => id).join(", ")}.`);
  const options = {};
  if (found.levels.length) {
    checkNumber(level ?? 1, "level", 1, found.levels.length);
    options.nodes = found.levels[(level ?? 1) - 1].nodes;
  } else if (level !== null) {
    throw new Error(`${found.name} has no levels.`);
  } else if (found.depth !== null) {
    options.depth = found.depth;
  }
  const limits = Object.keys(options).length ? { ...options, seconds: DEFAULT_SECONDS } : {};
  const name = found.levels.length ? `${found.name}, level ${level ?? 1}` : found.name;
  return { agent: found.agent, label: writeLabel(found.agent, options), name, opponent, level, limits };
};

// Games

const randomNumber = (limit) => crypto.getRandomValues(new Uint32Array(1))[0] % limit;

const newKey = () => btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(16))))
  .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

const chooseOpening = (text) => {
  const cards = BALLOTS[text];
  const opening = cards ? cards[randomNumber(cards.length)] : text;
  const isFen = opening.includes(":");
  const start = isFen ? createBoard(opening, []).fen : START;
  const board = createBoard(start, isFen ? [] : opening.split(/\s+/).filter(Boolean));
  const moves = board.moves.map((move) => move.text);
  return { start, moves, standard: !opening || Object.values(BALLOTS).some((each) => each.includes(opening)) };
};

const checkPlayable = (opening) => {
  if (createBoard(opening.start, opening.moves).outcome()) throw new Error("The game is over in that position: there is nothing to play.");
  return opening;
};

const readClock = (clock) => {
  if (!clock) return null;
  const { minutes, increment } = { increment: 0, ...clock };
  if (!(minutes > 0 && minutes <= 180)) throw new Error("A clock has more than 0 minutes, and 180 at most.");
  if (!((increment ?? 0) >= 0 && (increment ?? 0) <= 60)) throw new Error("The seconds added a move must be from 0 to 60.");
  return { minutes, increment: increment ?? 0 };
};

const makeSetup = (fields) => {
  const colour = fields.colour ?? ["black", "white"][randomNumber(2)];
  if (!(colour in COLOURS)) throw new Error(`colour must be black or white, not '${colour}'.`);
  const person = (fields.name ?? "").split(/\s+/).filter(Boolean).join(" ");
  if (person.length > MAX_NAME) throw new Error(`A name has at most ${MAX_NAME} characters, all of them printable.`);
  const rating = fields.rating ?? null;
  if (rating !== null && !(Number.isInteger(rating) && rating >= 1 && rating <= 3000)) throw new Error("A rating is a number from 1 to 3000.");
  if (fields.pdn && fields.opening) throw new Error("Give an opening or a game to go on with, not both.");
  const opening = fields.pdn ? { ...readPdn(fields.pdn), standard: false } : chooseOpening((fields.opening ?? "").trim());
  const clock = readClock(fields.clock);
  const choice = fields.opponent ? chooseOpponent(fields) : chooseAgent(fields, clock !== null);
  return {
    ...choice, ...checkPlayable(opening), side: COLOURS[colour], person: person || "Anonymous", rating, clock,
    seed: randomNumber(2 ** 32), startTime: new Date().toISOString(),
  };
};

const games = new Map(); // by key: {game, stop, search}

const save = (key, live) => {
  writeStorage(`game ${key}`, live.game.toStorage());
  if (live.game.isOver && !live.isArchived) {
    live.isArchived = true;
    const { setup, result } = live.game;
    const entry = { key, pdn: live.game.toPdn(), label: setup.label, agentSide: 1 - setup.side, result };
    writeStorage(ARCHIVE, [...readStorage(ARCHIVE, []).filter((each) => each.key !== key), entry]);
  }
  return live.game.toJson(key);
};

const forgetOldGames = () => {
  const keys = readStorage("keys", []);
  for (const old of keys.slice(0, -MAX_GAMES)) localStorage.removeItem(`game ${old}`);
  return keys.slice(-MAX_GAMES);
};

// Another tab may have played on: its game is the stored one.
const findGame = (key) => {
  const present = games.get(key);
  const stored = readStorage(`game ${key}`, null);
  if (present && !(stored?.version > present.game.version)) return present;
  if (!stored) throw new Error("There is no such game any more.");
  let game;
  try {
    game = HumanGame.fromStorage(stored);
  } catch {
    throw new Error("There is no such game any more.");
  }
  present?.stop();
  const live = Object.assign(present ?? { stop: () => {} }, { game, isArchived: game.isOver });
  games.set(key, live);
  return live;
};

const analyse = (live) => {
  const { setup, board } = live.game;
  const { answer, stop } = askAgent({
    action: "analyse", agent: setup.agent, ...weightsOf(setup.agent), limits: live.game.limits(), seed: setup.seed,
    start: setup.start, moves: board.moves.map(({ text }) => text),
  });
  live.stop = stop;
  answer.then(() => keepWeights(setup.agent), () => {});
  return answer;
};

const playAgentMove = async (key, live) => {
  while (live.game.isAgentsTurn) {
    const { version } = live.game;
    live.reply ??= analyse(live).finally(() => { live.reply = null; }); // two requests for a move search once
    const analysis = await live.reply;
    findGame(key);
    if (live.game.isAgentsTurn && live.game.version === version) live.game.playAgentMove(analysis);
  }
  return save(key, live);
};

const giveHint = async (key, live) => {
  live.game.checkPersonsTurn();
  const { version } = live.game;
  const analysis = await analyse(live);
  findGame(key);
  if (live.game.version !== version) throw new Error("The game has gone on meanwhile.");
  live.game.giveHint(analysis);
  return { hint: analysis, ...save(key, live) };
};

const change = (action) => (key, live, body) => {
  action(live.game, body);
  live.stop();
  return save(key, live);
};

const GAME_ACTIONS = {
  move: change((game, { squares = [] }) => game.playMove(squares)),
  reply: playAgentMove,
  hint: giveHint,
  interrupt: (key, live) => {
    live.game.interruptAgent();
    live.stop();
    return {};
  },
  "take-back": change((game) => game.takeBack()),
  draw: change((game) => game.offerDraw()),
  resign: change((game) => game.resign()),
};

const startGame = (fields) => {
  const live = { game: new HumanGame(makeSetup(fields)), stop: () => {}, isArchived: false };
  const key = newKey();
  games.set(key, live);
  writeStorage("keys", [...forgetOldGames(), key]);
  return save(key, live);
};

const showGame = (key) => {
  const live = findGame(key);
  live.game.checkFlag();
  return save(key, live);
};

// Archive

const showArchive = () => {
  const archive = readStorage(ARCHIVE, []);
  const labels = [...new Set(archive.map(({ label }) => label))].sort();
  const results = labels.map((agent) => {
    const scores = archive.filter(({ label }) => label === agent)
      .map(({ agentSide, result }) => (result === "1/2-1/2" ? 0.5 : Number((result === "1-0") === (agentSide === BLACK))));
    const count = (score) => scores.filter((each) => each === score).length;
    return { agent, wins: count(1), draws: count(0.5), losses: count(0), rated_games: 0, rating: null };
  });
  return { folder: "this browser", games: archive.length, results };
};

const exportArchive = () => readStorage(ARCHIVE, []).map(({ pdn }) => pdn).join("\n");

// Two agents

const startComparison = ({ black, white, opening = "" }) => {
  if (!black?.agent || !white?.agent) throw new Error("Both sides need an agent.");
  const { start, moves } = checkPlayable(chooseOpening((opening ?? "").trim()));
  return {
    black: chooseAgent(black).label, white: chooseAgent(white).label, seed: randomNumber(2 ** 32),
    opening_plies: moves.length, frames: framesToJson(start, moves),
  };
};

const playComparison = async ({ player, start = START, moves = [], seed = 0 }) => {
  const board = createBoard(start, moves);
  if (board.outcome()) throw new Error("The game is over.");
  const { agent, limits } = chooseAgent(player);
  const analysis = await askAgent({ action: "analyse", agent, ...weightsOf(agent), limits, seed, start, moves }).answer;
  const move = board.parseMove(analysis.move.squares.join(analysis.move.captured.length ? "x" : "-"));
  const sentence = describeMove(board, move);
  board.push(move);
  const [result, reason] = boardResult(board);
  const frame = { fen: board.fen, move: moveToJson(board.moves.at(-1)), analysis };
  return { frame, message: `${sentence} ${reason}`.trim(), result, reason };
};

const exportComparison = ({ black = "?", white = "?", start = START, moves = [] }) => {
  const board = createBoard(start, moves);
  const [result, reason] = boardResult(board);
  const tags = { Event: "Two agents", Site: "checkers-play", Round: "-", Black: black, White: white, ...(reason ? { Termination: reason } : {}) };
  return { pdn: writePdn(tags, board.moves.length ? createBoard(start, []).fen : board.fen, board.moves.map(({ text }) => text), result) };
};

// Positions and analyses

const describePosition = ({ start = null, moves = null, pdn = null }) => {
  if (pdn && (start || moves)) throw new Error("Give a position with its moves, or a game, not both.");
  const game = pdn ? readPdn(pdn) : { start: start ?? START, moves: moves ?? [] };
  const board = createBoard(game.start, game.moves);
  const [result, reason] = boardResult(board);
  const frames = framesToJson(game.start, board.moves);
  if (!reason) frames.at(-1).legal = board.legalMoves.map(moveToJson);
  const first = board.moves.slice(0, 3).map(({ text }) => text).join(" ");
  return {
    frames, result, reason, opening: frames[0].fen === START ? OPENING_NAMES[first] ?? "" : "",
    forced_capture: reason ? "" : explainForcedCapture(board),
  };
};

// Each legal move, analysed for the side that replies with an equal part of the limits; the best first.
const analyseMoves = async (ask, question, board, limits) => {
  const moves = board.legalMoves;
  const part = {
    ...limits,
    ...(limits.depth ? { depth: Math.max(limits.depth - 1, 1) } : {}),
    ...(limits.nodes ? { nodes: Math.max(Math.floor(limits.nodes / moves.length), 1) } : {}),
    ...(limits.seconds ? { seconds: limits.seconds / moves.length } : {}),
  };
  const lines = await Promise.all(moves.map(async (move) => {
    const after = createBoard(question.start, [...question.moves, move.text]);
    const json = moveToJson(move);
    const outcome = after.outcome();
    if (outcome) return { move: json, score: outcome.winner === null ? 0 : 1, pv: [move.text], depth: null, nodes: null, seconds: 0 };
    const reply = await ask({ ...question, limits: part, moves: [...question.moves, move.text] }).answer;
    return { ...reply, move: json, score: reply.score === null ? null : -reply.score, pv: [move.text, ...reply.pv] };
  }));
  return lines.sort((one, other) => (other.score ?? -2) - (one.score ?? -2));
};

const analysePosition = async ({ start = null, moves = null, agent = null, amount = null, seconds = null, nodes = null, lines = null }) => {
  const count = lines ?? 1;
  checkNumber(count, "lines", 1, MAX_LINES);
  const board = createBoard(start ?? START, moves ?? []);
  if (agent && nodes !== null) throw new Error("nodes is for the judge: give no agent, or amount or seconds.");
  if (!agent && (amount !== null || seconds !== null)) throw new Error("The judge is limited by nodes alone.");
  checkNumber(nodes ?? JUDGE.nodes, "nodes", 1, MAX_NODES);
  const choice = agent ? chooseAgent({ agent, amount, seconds })
    : { agent: JUDGE.agent, label: JUDGE.agent, limits: { nodes: nodes ?? JUDGE.nodes } };
  const outcome = board.outcome();
  if (outcome) {
    const value = outcome.winner === null ? 0 : outcome.winner === board.turn ? 1 : -1;
    return { label: choice.label, lines: [], exact: { value, plies: 0 } };
  }
  const ask = agent ? askAgent : askJudge;
  const question = {
    action: "analyse", agent: choice.agent, ...weightsOf(choice.agent), limits: choice.limits, seed: 0, start: start ?? START, moves: board.moves.map(({ text }) => text),
  };
  const analyses = count === 1 ? [await ask(question).answer] : await analyseMoves(ask, question, board, choice.limits);
  keepWeights(choice.agent);
  return { label: choice.label, lines: analyses.slice(0, count), exact: null };
};

const explain = async (query) => {
  if (!query.has("agent") || !query.has("fen")) throw new Error("Ask for ?agent=NAME&fen=FEN.");
  readFen(query.get("fen"));
  const { name } = findAgent(query.get("agent"));
  return askAgent({ action: "explain", agent: name, ...weightsOf(name), fen: query.get("fen") }).answer;
};

// Routes

const ROUTES = [
  [/^\/api\/games$/, (_, body) => startGame(body)],
  [/^\/api\/games\/([^/]+)$/, ([key]) => showGame(key)],
  [/^\/api\/games\/([^/]+)\/pdn$/, ([key]) => findGame(key).game.toPdn()],
  [/^\/api\/games\/([^/]+)\/([a-z-]+)$/, ([key, action], body) => {
    if (!Object.hasOwn(GAME_ACTIONS, action)) throw new Error("Not found.");
    return GAME_ACTIONS[action](key, findGame(key), body ?? {});
  }],
  [/^\/api\/archive$/, showArchive],
  [/^\/api\/archive\.pdn$/, exportArchive],
  [/^\/api\/preparation$/, () => ({ seconds: null, typical: 0 })],
  [/^\/api\/explain$/, (_, __, query) => explain(query)],
  [/^\/api\/compare$/, (_, body) => startComparison(body)],
  [/^\/api\/compare\/move$/, (_, body) => playComparison(body)],
  [/^\/api\/compare\/pdn$/, (_, body) => exportComparison(body)],
  [/^\/api\/position$/, (_, body) => describePosition(body)],
  [/^\/api\/analysis$/, (_, body) => analysePosition(body)],
  [/^\/api\/(runs.*)$/, ([path], _, query) => showRuns(path, query.get("version"))],
];

// Null fields are absent ones.
const withoutNulls = (body) => body && Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));

/** Answer a request as the server does. A `body` makes it one that changes something. */
export const request = async (path, body) => {
  const { pathname, searchParams } = new URL(path, "https://site.invalid");
  for (const [pattern, handle] of ROUTES) {
    const match = pattern.exec(pathname);
    if (match) return structuredClone(await handle(match.slice(1).map(decodeURIComponent), withoutNulls(body), searchParams));
  }
  throw new Error(`There is nothing at ${pathname}.`);
};

/** Save a text as a file of the user. */
export const download = (name, text) => {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
};

// Links to files that a server would write.
addEventListener("click", async (event) => {
  const link = event.target.closest?.('a[href^="/api/"]');
  if (!link) return;
  event.preventDefault();
  const path = link.getAttribute("href");
  download(link.download || path.split("/").at(-1), await request(path));
});

offerAgents();
navigator.serviceWorker?.register(new URL("../../sw.js", import.meta.url)).catch(() => {}); // the page works without it
