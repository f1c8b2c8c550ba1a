// Panels around the board: evaluation bar, players, analysis, and results against people.

import { byId, createElement } from "/static/dom.js";

export const formatSigned = (number) => {
  const digits = Math.abs(number).toFixed(2);
  return `${number < 0 && digits !== "0.00" ? "−" : "+"}${digits}`;
};

// Moves of a text, none of which is broken over two lines.
export const moveNodes = (moves) => moves.flatMap((move, index) =>
  [index ? " " : "", createElement("span", { className: "move", textContent: move })]);

const describeScore = (score) => {
  if (score >= 1) return "it sees its win";
  if (score <= -1) return "it sees its loss";
  return `${formatSigned(score)} (from −1, lost, to +1, won)`;
};

const formatDuration = (seconds) => {
  if (seconds >= 1) return `${seconds.toFixed(1)} s`;
  return seconds < 0.01 ? `${(seconds * 1000).toFixed(2)} ms` : `${Math.round(seconds * 1000)} ms`;
};

// Show `score`, from -1 to 1 for `side` or null, as a bar; `label` is the agent's.
export const showBar = (bar, score, side, label, flipped) => {
  const isKnown = score !== null;
  bar.className = `bar ${side} ${(side === "white") === flipped ? "from-top" : "from-bottom"}`;
  bar.classList.toggle("unknown", !isKnown);
  bar.firstElementChild.style.height = `${isKnown ? 50 * (score + 1) : 50}%`;
  bar.title = isKnown ? `${formatSigned(score)} for ${label}` : `No evaluation by ${label}`;
  bar.setAttribute("aria-valuenow", score ?? 0);
  bar.setAttribute("aria-valuetext", bar.title);
};

const formatClock = (seconds) => {
  const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60];
  const digits = seconds < 10 ? rest.toFixed(1) : String(Math.floor(rest));
  return `${minutes}:${digits.padStart(seconds < 10 ? 4 : 2, "0")}`;
};

// Show the seconds left on a plate's clock; null for a game without one.
export const showClock = (plate, seconds) => {
  const clock = plate.querySelector(".clock");
  clock.hidden = seconds === null;
  if (seconds === null) return;
  clock.textContent = formatClock(seconds);
  clock.classList.toggle("short", seconds < 10);
};

// Fill the line of a player above or below the board.
// `face` is a picture in icon.svg, `clock` the seconds left or null.
export const showPlate = (plate, side, name, about, { turn = false, thinking = false, face = "", clock = null } = {}) => {
  plate.classList.toggle("turn", turn);
  plate.classList.toggle("thinking", thinking);
  plate.querySelector(".disc").className = `disc ${side}`;
  plate.querySelector(".name").textContent = name;
  plate.querySelector(".about").textContent = about;
  const picture = plate.querySelector(".face");
  picture.hidden = !face;
  if (face && !picture.src.endsWith(`#${face}`)) picture.src = `/static/icon.svg#${face}`;
  showClock(plate, clock);
};

// Fill the panel `analysis`, with a row for each fact that the agent gives. Without an analysis the
// panel shows `placeholder`.
export const showAnalysis = (analysis, label, placeholder) => {
  const panel = byId("analysis");
  const { score, pv, depth, nodes, seconds } = analysis ?? {};
  const facts = {
    score: analysis && score !== null ? describeScore(score) : null,
    pv: pv?.join(" ") || null,
    depth: depth ? `${depth} ${depth === 1 ? "ply" : "plies"}` : null,
    nodes: nodes ? nodes.toLocaleString("en") : null,
    seconds: analysis ? formatDuration(seconds) : null,
  };
  panel.querySelector("[data-fact=agent]").textContent = label ?? "it";
  panel.querySelector("[data-fact=unit]").textContent = depth === null ? "Simulations" : "Positions";
  for (const [name, text] of Object.entries(facts)) {
    panel.querySelector(`[data-row="${name}"]`).hidden = !text;
    panel.querySelector(`dd[data-fact="${name}"]`).hidden = !text;
    panel.querySelector(`dd[data-fact="${name}"]`).textContent = text ?? "";
  }
  panel.querySelector("dd[data-fact=pv]").replaceChildren(...moveNodes(pv ?? []));
  const note = panel.querySelector("[data-fact=note]");
  note.hidden = Boolean(facts.score);
  note.textContent = analysis ? "It gives no evaluation." : placeholder;
};

const describeRating = ({ rating, rated_games: games }) => (rating
  ? `${Math.round(rating.mean)} ± ${Math.round(rating.sd)}, class ${rating.grade} (${games} rated)`
  : "no rated game yet");

// Fill `place` with the results of all agents against people; onExport() saves the games.
export const showArchive = (place, { folder, games, results }, onExport) => {
  const head = ["Agent", "Won", "Drawn", "Lost", "Rating"].map((textContent) =>
    createElement("th", { scope: "col", textContent }));
  const cell = (textContent) => createElement("td", { textContent });
  const rows = results.map((line) => createElement("tr", {},
    ...[line.agent, line.wins, line.draws, line.losses, describeRating(line)].map(cell)));
  const table = createElement("div", { className: "scroll" }, createElement("table", {},
    createElement("thead", {}, createElement("tr", {}, ...head)), createElement("tbody", {}, ...rows)));
  const note = (textContent) => createElement("p", { className: "note", textContent });
  const method = note("Rated as Blondie24 was by its 165 games: from 1600 on, by the papers' formula, "
    + "the mean and the spread over 5000 random orders of the games.");
  const count = note(`${games} ${games === 1 ? "game is" : "games are"} kept in ${folder}.`);
  const button = createElement("button", { type: "button", textContent: "All games (PDN)", onclick: onExport });
  place.replaceChildren(...(games ? [table, method, count, button] : [count]));
};
