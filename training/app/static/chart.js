// A line chart over generations, as SVG in the size of its element.
//
//   const chart = new Chart({ title, unit, series: [{ name, label }], range, smoothing });
//   chart.show(history);        history[name] holds a number or null for each generation from 0 on
//
// The vertical axis covers at least `range`; `smoothing` is the number of generations in a running mean.

import { createElement, createSvg } from "/static/dom.js";

const MARGIN = { left: 54, right: 14, top: 10, bottom: 24 };
const STEPS = [1, 2, 2.5, 5, 10];
const KEYS = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 };

// A number with three significant digits or more, and a true minus sign.
export const formatNumber = (number) =>
  Number(number.toPrecision(Math.abs(number) >= 100 ? 4 : 3)).toLocaleString("en", { maximumFractionDigits: 6 })
    .replace("-", "−");

// The same for a number on an axis, so that its neighbours a step away differ.
const formatTick = (number, step) =>
  number.toLocaleString("en", { maximumFractionDigits: Math.max(1 - Math.floor(Math.log10(step)), 0) }).replace("-", "−");

// About `count` round numbers that cover the range from `least` to a greater `most`.
const ticks = (least, most, count) => {
  const span = most - least;
  const unit = 10 ** Math.floor(Math.log10(span / count));
  const step = unit * STEPS.find((factor) => factor * unit * count >= span * 0.999);
  const [first, last] = [Math.floor(least / step + 1e-9), Math.ceil(most / step - 1e-9)];
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
};

// The mean of the last `count` numbers at each one.
const runningMean = (points, count) => points.map(([x], index) => {
  const window = points.slice(Math.max(index + 1 - count, 0), index + 1);
  return [x, window.reduce((sum, [, y]) => sum + y, 0) / window.length];
});

export class Chart {
  #options;
  #plot = createSvg("svg", { class: "plot", tabindex: 0, role: "slider" });
  #marks = createSvg("g", {});
  #readout = createElement("p", { className: "readout" });
  #lines = [];
  #last = 0;
  #here = null; // the generation under the pointer, or null for the last one
  #scale;
  #size = ""; // of the plot that is drawn

  constructor({ title, unit, series, range = [Infinity, -Infinity], smoothing = 1 }) {
    this.#options = { title, unit, series, range, smoothing };
    const legend = createElement("ul", { className: "legend" }, ...series.map(({ label }, index) => {
      const line = createSvg("line", { x1: 1, x2: 27, y1: 6, y2: 6, class: `line series-${index}` });
      return createElement("li", {}, createSvg("svg", { viewBox: "0 0 28 12", "aria-hidden": "true" }, line), label);
    }));
    const meanNote = smoothing > 1 ? `; thick: mean of the last ${smoothing}` : "";
    const caption = createElement("figcaption", {}, createElement("h2", { textContent: title }), legend,
      createElement("p", { className: "unit", textContent: `${unit}, by generation${meanNote}` }));
    this.element = createElement("figure", { className: "curve panel" }, caption, this.#plot, this.#readout);
    this.#plot.setAttribute("aria-label", `${title} by generation`);
    this.#plot.addEventListener("pointermove", (event) => this.#point(event));
    this.#plot.addEventListener("pointerdown", (event) => this.#point(event));
    this.#plot.addEventListener("pointerleave", () => this.#read(null));
    this.#plot.addEventListener("keydown", (event) => this.#onKey(event));
    new ResizeObserver(() => {
      if (this.#size !== this.#sizeOfPlot()) this.#render();
    }).observe(this.#plot);
  }

  show(history) {
    const { series, smoothing } = this.#options;
    this.#lines = series.map(({ name, label }, index) => {
      const points = (history[name] ?? []).map((y, x) => [x, y]).filter(([, y]) => y !== null);
      return { label, index, points, mean: smoothing > 1 ? runningMean(points, smoothing) : points };
    });
    this.#last = Math.max((history.generation?.length ?? 1) - 1, 0);
    this.#render();
  }

  #sizeOfPlot() {
    return `${this.#plot.clientWidth}x${this.#plot.clientHeight}`;
  }

  #render() {
    const { clientWidth: width, clientHeight: height } = this.#plot;
    if (!width || !this.#lines.length) return;
    this.#size = this.#sizeOfPlot();
    const up = ticks(...this.#span(), height > 160 ? 6 : 3);
    const end = Math.max(this.#last, 1);
    const along = ticks(0, end, Math.min(end, width / 60)).filter((x) => x <= end && Number.isInteger(x));
    const [low, high] = [up[0], up.at(-1)];
    const x = (generation) => MARGIN.left + generation / end * (width - MARGIN.left - MARGIN.right);
    const y = (number) => MARGIN.top + (high - number) / (high - low) * (height - MARGIN.top - MARGIN.bottom);
    this.#scale = { x, y, end, height };
    const rows = up.map((number) => createSvg("g", {},
      createSvg("line", { x1: x(0), x2: x(end), y1: y(number), y2: y(number), class: number ? "grid" : "zero" }),
      this.#text(formatTick(number, up[1] - up[0]), x(0) - 8, y(number) + 4, "up")));
    const columns = along.map((generation) => this.#text(formatTick(generation, 1), x(generation), height - 6, "along"));
    const path = (points) => points.map(([a, b]) => `${x(a).toFixed(1)},${y(b).toFixed(1)}`).join(" ");
    const line = (points, kind) => createSvg("polyline", { points: path(points), class: `line ${kind}` });
    const lines = this.#lines.flatMap(({ index, points, mean }) => [
      ...(points === mean ? [] : [line(points, `raw series-${index}`)]), line(mean, `series-${index}`)]);
    this.#plot.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.#plot.replaceChildren(...rows, ...columns, ...lines, this.#marks);
    this.#read(this.#here);
  }

  // The range of the vertical axis.
  #span() {
    const { range } = this.#options;
    const values = this.#lines.flatMap(({ points }) => points.map(([, y]) => y));
    const [least, most] = [Math.min(range[0], ...values), Math.max(range[1], ...values)];
    if (least > most) return [0, 1];
    const room = least < most ? 0 : Math.abs(least) / 4 || 1;
    return [least - room, most + room];
  }

  #text(text, x, y, kind) {
    return createSvg("text", { x, y, class: kind }, text);
  }

  #point({ clientX }) {
    const { left } = this.#plot.getBoundingClientRect();
    const { x, end } = this.#scale;
    this.#read(Math.round((clientX - left - x(0)) / (x(end) - x(0)) * end));
  }

  #onKey(event) {
    const now = this.#here ?? this.#last;
    const to = event.key in KEYS ? now + KEYS[event.key] : { Home: 0, End: this.#last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.#read(to);
  }

  // Show the numbers of a generation; null is the last one.
  #read(generation) {
    if (!this.#scale) return;
    const at = Math.max(0, Math.min(generation ?? this.#last, this.#last));
    this.#here = generation === null ? null : at;
    const { smoothing } = this.#options;
    const readings = this.#lines.map(({ label, index, points, mean }) => {
      const place = points.findLastIndex(([x]) => x <= at);
      return { label, index, point: points[place], mean: mean[place] };
    }).filter(({ point }) => point);
    const texts = readings.map(({ label, point, mean }) =>
      `${label} ${formatNumber(point[1])}${smoothing > 1 ? ` (mean ${formatNumber(mean[1])})` : ""}`);
    const latest = Math.max(...readings.map(({ point }) => point[0]));
    const text = readings.length ? `Generation ${latest}: ${texts.join("; ")}` : "Nothing measured yet";
    this.#readout.textContent = text;
    for (const [name, value] of [["min", 0], ["max", this.#last], ["now", at], ["text", text]]) {
      this.#plot.setAttribute(`aria-value${name}`, value);
    }
    const { x, y, height } = this.#scale;
    const hair = createSvg("line", { x1: x(at), x2: x(at), y1: MARGIN.top, y2: height - MARGIN.bottom, class: "here" });
    const dots = readings.map(({ index, mean }) =>
      createSvg("circle", { cx: x(mean[0]), cy: y(mean[1]), r: 4, class: `dot series-${index}` }));
    this.#marks.replaceChildren(...(this.#here === null ? [] : [hair]), ...dots);
  }
}
