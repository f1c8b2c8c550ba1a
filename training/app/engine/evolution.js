// Worker of the page "Evolution": coevolution as in the papers, small enough to watch, and its measurements.
//
// The regime is that of training/regimes/coevolution.py, the requests are those of training/app/runs_page.py.

import { genomeSize, Material, Network } from "./evaluators.js";
import { BLACK, Board, ROW, START } from "./rules.js";
import { chooseWithoutSearch, findMove, finish, FULL_WIDTH, randomNumbers, Search, shuffleRows } from "./search.js";

const NAME = "live";
const CHAMPION = "evolved"; // as an agent of the site
const NETWORK = "blondie24-1999";
const PARENTS = 5;
const OPPONENTS = 3; // games of each member as Black
const DEPTH = 2;
const MAX_MOVES = 100;
const GENERATIONS = 500;
const WEIGHT = 0.2;
const STEP = 0.05;
const KING = 1.5;
const PAYOFF = { win: 1, draw: 0, loss: -2 };
const MEASURE_EVERY = 5; // generations
const RECORDS = 4; // generations whose games can be shown

const seed = crypto.getRandomValues(new Uint32Array(1))[0];
const random = randomNumbers(seed);
const uniform = () => (random(2 ** 32) + 0.5) / 2 ** 32;
const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());

const SIZE = genomeSize(NETWORK);
const TAU = 1 / Math.sqrt(2 * Math.sqrt(SIZE - 1));

const firstMember = () => ({
  genome: Float64Array.from({ length: SIZE }, () => WEIGHT * (2 * uniform() - 1)), steps: new Float64Array(SIZE).fill(STEP), king: KING,
});

/** An offspring: step sizes mutate, then weights by them, and K by -0.1, 0 or 0.1. */
const mutate = ({ genome, steps, king }) => {
  const newSteps = steps.map((step) => step * Math.exp(TAU * normal()));
  return {
    genome: genome.map((weight, index) => weight + newSteps[index] * normal()), steps: newSteps,
    king: Math.min(Math.max(king + 0.1 * (random(3) - 1), 1), 3),
  };
};

// Players: functions from a board to a move

const searchPlayer = (evaluator, depth, breaksTies = false) => {
  const search = new Search(evaluator, FULL_WIDTH);
  return (board) => {
    const moves = board.legalMoves;
    if (moves.length === 1) return moves[0];
    const count = search.expandRoot(board);
    if (breaksTies) shuffleRows(search, count, random);
    return findMove(board, search.rows, finish(search.search(board, depth, count)) * ROW);
  };
};

const YARDSTICKS = {
  "curve/heuristic": (board) => chooseWithoutSearch("heuristic", board, random),
  "curve/material": searchPlayer(new Material(), 1, true),
};

const playGame = (black, white) => {
  const board = new Board(START, { repetition: 0, noProgress: 0, maxMoves: MAX_MOVES });
  while (!board.outcome()) board.push((board.turn === BLACK ? black : white)(board));
  return { board, winner: board.outcome().winner };
};

const payoffOf = (winner, side) => (winner === null ? PAYOFF.draw : winner === side ? PAYOFF.win : PAYOFF.loss);
const mean = (numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
const nextTask = () => new Promise((resolve) => { setTimeout(resolve, 0); }); // messages are read then

const run = { generation: 0, saveTime: Date.now() / 1000, parents: Array.from({ length: PARENTS }, firstMember), records: [] };
const history = {
  generation: [], "curve/heuristic": [], "curve/material": [], "king/mean": [], "step/mean": [], "speed/games_per_cpu_second": [],
};

const measure = async (players) => {
  const results = {};
  for (const [name, opponent] of Object.entries(YARDSTICKS)) {
    const payoffs = [];
    for (const player of players) {
      payoffs.push(payoffOf(playGame(player, opponent).winner, 0), payoffOf(playGame(opponent, player).winner, 1));
      await nextTask();
    }
    results[name] = mean(payoffs);
  }
  return results;
};

const record = (curves, speed) => {
  const values = {
    generation: run.generation, "king/mean": mean(run.parents.map(({ king }) => king)),
    "step/mean": mean(run.parents.map(({ steps }) => mean(steps))), "speed/games_per_cpu_second": speed, ...curves,
  };
  for (const [name, column] of Object.entries(history)) column.push(values[name] ?? null);
};

const opponentsOf = (member, count) => {
  const others = Array.from({ length: count }, (_, index) => index).filter((index) => index !== member);
  return Array.from({ length: OPPONENTS }, () => others.splice(random(others.length), 1)[0]);
};

const standingOf = (games, points, member, name, king) => {
  const own = games.filter(({ pair }) => pair.includes(member));
  const wins = own.filter(({ winner, pair }) => winner !== null && pair[winner] === member).length;
  const draws = own.filter(({ winner }) => winner === null).length;
  return { name, points: points[member], wins, draws, losses: own.length - wins - draws, king };
};

const step = async () => {
  const begun = performance.now();
  const members = [...run.parents, ...run.parents.map(mutate)];
  const names = members.map((_, index) => (index < PARENTS ? `parent ${index + 1}` : `offspring ${index - PARENTS + 1}`));
  const players = members.map(({ genome, king }) => searchPlayer(new Network(NETWORK, genome, king), DEPTH));
  const points = members.map(() => 0);
  const games = [];
  for (let black = 0; black < members.length; black += 1) {
    for (const white of opponentsOf(black, members.length)) {
      const { board, winner } = playGame(players[black], players[white]);
      points[black] += payoffOf(winner, 0);
      points[white] += payoffOf(winner, 1);
      games.push({ pair: [black, white], board, winner });
      await nextTask();
    }
  }
  const ranks = members.map((_, index) => ({ index, chance: uniform() }))
    .sort((one, other) => points[other.index] - points[one.index] || one.chance - other.chance);
  run.parents = ranks.slice(0, PARENTS).map(({ index }) => members[index]);
  run.generation += 1;
  const standings = members.map(({ king }, member) => standingOf(games, points, member, names[member], king))
    .sort((one, other) => other.points - one.points);
  run.records = [...run.records, { number: run.generation, standings, names, games }].slice(-RECORDS);
  const speed = games.length / ((performance.now() - begun) / 1000);
  const isMeasured = run.generation === 1 || run.generation % MEASURE_EVERY === 0;
  const curves = isMeasured ? await measure(ranks.slice(0, PARENTS).map(({ index }) => players[index])) : {};
  record(curves, speed);
  run.saveTime = Date.now() / 1000;
};

const evolve = async () => {
  while (run.generation < GENERATIONS) await step();
};

const headerOf = ({ names }, { pair, board, winner }) => ({
  black: names[pair[0]], white: names[pair[1]], result: winner === null ? "1/2-1/2" : winner === BLACK ? "1-0" : "0-1", plies: board.ply,
});

const showRun = (version) => {
  const now = String(run.generation);
  if (version === now) return {};
  return {
    version: now, running: run.generation < GENERATIONS, save_time: run.saveTime, champion: run.generation ? CHAMPION : null, generation: run.generation, history,
    regime: NETWORK, seed, preset_generations: GENERATIONS, games_per_generation: 2 * PARENTS * OPPONENTS,
  };
};

const findRecord = (number) => {
  const found = run.records.find((each) => each.number === number);
  if (!found) throw new Error("The run has gone on since then.");
  return found;
};

const showGeneration = async () => {
  while (!run.records.length) await nextTask();
  const { number, standings, names, games } = run.records.at(-1);
  return {
    version: String(number), number, survivors: PARENTS, standings, games: games.map((game) => headerOf({ names }, game)),
    outcome: `The best ${PARENTS} are the next parents; equals are drawn by lot.`,
  };
};

const showGame = (version, number) => {
  const found = findRecord(Number(version));
  const game = found.games[Number(number)];
  if (!game) throw new Error(`There are ${found.games.length} games, counted from 0.`);
  return {
    ...headerOf(found, game), ...game.board.outcome(), generation: found.number, number: Number(number),
    moves: game.board.moves.map(({ text }) => text),
    tags: { Event: `A run in the browser, generation ${found.number}`, Round: String(Number(number) + 1) },
  };
};

const show = (path, version) => {
  const [, name, part, generation, , number] = path.split("/");
  if (!name) return { runs: [{ name: NAME, generation: run.generation, running: run.generation < GENERATIONS, save_time: run.saveTime }] };
  if (name !== NAME) throw new Error(`There is no run '${name}'.`);
  if (!part) return showRun(version);
  return generation === undefined ? showGeneration() : showGame(generation, number);
};

/** Weights of the best parent, and what it takes to play with them. */
const showChampion = () => {
  const [{ genome, king }] = run.parents;
  return { network: NETWORK, genome: Array.from(genome, Math.fround), king, generation: run.generation };
};

globalThis.addEventListener("message", async ({ data: { id, action, path, version } }) => {
  try {
    globalThis.postMessage({ id, result: await (action === "champion" ? showChampion() : show(path, version)) });
  } catch (error) {
    globalThis.postMessage({ id, error: error.message });
  }
});

record({}, null);
setTimeout(evolve, 500); // the page comes first
