// What the curves of a run show, in one or two sentences, from the measurements alone.
// The parents are judged by the piece counter, and by the heuristic player where the piece counter shows no change. A
// change counts if it is larger than CHANGE and than three standard errors; the noise of a point is estimated from
// neighbouring points, so a slow trend does not enlarge it.

const YARDSTICKS = [["curve/material", "the piece counter"], ["curve/heuristic", "the heuristic player"]];
const FEW_POINTS = 5; // with which nothing is said
const CHANGE = 0.15; // of the mean payoff, the least that is called a change
const ERRORS = 3; // standard errors
const MOST = 20; // points in a mean
const GROWTH = 1.5; // of the step sizes
const SATURATED = 0.3; // share of the test positions

const meanOf = (numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
const format = (number, digits = 2) => (Math.abs(number) < 10 ** -digits / 2 ? 0 : number).toFixed(digits).replace("-", "−");
const formatStep = (step) => String(Number(step.toPrecision(2)));

const pointsOf = (row = []) => row.map((value, generation) => ({ value, generation })).filter(({ value }) => value !== null);

// Means over `size` points, each with the generation of its last point.
const windowMeans = (points, size) => points.slice(size - 1).map(({ generation }, index) =>
  ({ generation, value: meanOf(points.slice(index, index + size).map(({ value }) => value)) }));

// The standard deviation of a point, from the differences of neighbours.
const noiseOf = (points) => {
  const squares = points.slice(1).map(({ value }, index) => (value - points[index].value) ** 2);
  return Math.sqrt(meanOf(squares) / 2);
};

// How the parents' results against a yardstick change: {kind, from, to, generation}.
const trendOf = (points) => {
  const size = Math.max(3, Math.min(MOST, Math.floor(points.length / 4)));
  const means = windowMeans(points, size);
  const noise = noiseOf(points.slice(1)); // the untrained parents of generation 0 are no neighbours
  const limit = Math.max(CHANGE, ERRORS * noise * Math.sqrt(2 / size));
  const [first, last] = [points[0], means.at(-1)];
  const best = Math.max(...means.map(({ value }) => value));
  const { generation } = means.findLast(({ value }) => value >= best - limit);
  if (best - last.value > limit) return { kind: "unlearns", from: best, to: last.value, generation };
  if (last.value - first.value <= Math.max(CHANGE, ERRORS * noise)) return { kind: "none", from: first.value, to: last.value };
  const reached = means.find(({ value }) => value >= best - limit).generation;
  return { kind: "learns", from: first.value, to: last.value, generation: reached };
};

const firstAndLast = (row) => {
  const values = pointsOf(row).map(({ value }) => value);
  const count = Math.max(1, Math.min(MOST, Math.floor(values.length / 4)));
  return values.length > 1 ? [values[0], meanOf(values.slice(-count))] : null;
};

// What else has changed: the step sizes and the saturation of the output.
const changesOf = (history) => {
  const steps = firstAndLast(history["step/mean"]);
  const shares = firstAndLast(history["champion/saturated"]);
  const changes = [];
  if (steps && (steps[1] >= steps[0] * GROWTH || steps[1] * GROWTH <= steps[0])) {
    changes.push(`the step sizes ${steps[1] > steps[0] ? "grow" : "shrink"} from ${formatStep(steps[0])} to ${formatStep(steps[1])}`);
  }
  if (shares && shares[1] >= SATURATED && shares[1] > shares[0]) {
    changes.push(`the champion's output saturates: ${Math.round(100 * shares[1])} % of the test positions are beyond ±0.99`);
  }
  return changes.length ? ` Meanwhile ${changes.join(", and ")}.` : "";
};

export const describeRun = ({ history, running }) => {
  const curves = YARDSTICKS.map(([name, label]) => ({ label, points: pointsOf(history[name]) }));
  const measured = curves.filter(({ points }) => points.length >= FEW_POINTS);
  if (!measured.length) {
    const count = Math.max(...curves.map(({ points }) => points.length));
    return count ? `There are too few points of the curve yet to say what it shows: ${count} of ${FEW_POINTS}.` : "";
  }
  const trends = measured.map(({ label, points }) => ({ label, ...trendOf(points) }));
  const { kind, label, from, to, generation } = trends.find((trend) => trend.kind !== "none") ?? trends[0];
  const [who, s] = history["td/error"]?.some((error) => error !== null) ? ["The learner", "s"] : ["The parents", ""];
  const change = `from ${format(from)} to ${format(to)} a game against ${label}`;
  const soFar = running ? ", so far" : "";
  const sentence = {
    unlearns: `${who} unlearn${s} from about generation ${generation} on: ${change}${soFar}.`,
    learns: `${who} learn${s}: ${change}${soFar}, most of it by generation ${generation}.`,
    none: `No clear change: ${who.toLowerCase()} score${s} ${format(to)} a game against ${label}${soFar}.`,
  }[kind];
  return sentence + changesOf(history);
};
