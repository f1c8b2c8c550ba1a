// What is told in words and figures: an agent's thought, and the results against people.

import { element, make } from "/static/dom.js";

export const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;

const evaluation = (value) => {
  if (value >= 1) return "it sees its win";
  if (value <= -1) return "it sees its loss";
  return `${signed(value)} (from −1, lost, to +1, won)`;
};

const duration = (seconds) => {
  if (seconds >= 1) return `${seconds.toFixed(1)} s`;
  return seconds < 0.01 ? `${(seconds * 1000).toFixed(2)} ms` : `${Math.round(seconds * 1000)} ms`;
};

// A bar beside the board: `value` from -1 to 1 for `side`, null if it is not known; `label` is whose it is.
export const showBar = (bar, value, side, label, flipped) => {
  const known = value !== null;
  bar.className = `bar ${side} ${(side === "white") === flipped ? "from-top" : "from-bottom"}`;
  bar.classList.toggle("unknown", !known);
  bar.firstElementChild.style.height = `${known ? 50 * (value + 1) : 50}%`;
  bar.title = known ? `${signed(value)} for ${label}` : `No evaluation by ${label}`;
  bar.setAttribute("aria-valuenow", value ?? 0);
  bar.setAttribute("aria-valuetext", bar.title);
};

// The line of a player above or below the board.
export const showPlate = (plate, side, name, about, { turn = false, thinking = false } = {}) => {
  plate.classList.toggle("turn", turn);
  plate.classList.toggle("thinking", thinking);
  plate.querySelector(".disc").className = `disc ${side}`;
  plate.querySelector(".name").textContent = name;
  plate.querySelector(".about").textContent = about;
};

// Fill the panel `thoughts`; rows that the agent has nothing for are left out.
export const showThought = (thought, label, otherwise, panel = element("thoughts")) => {
  const simulates = thought && thought.depth === null;
  const facts = {
    value: thought?.value === null ? null : thought && evaluation(thought.value),
    line: thought?.line.join(" ") || null,
    depth: thought?.depth ? `${thought.depth} ${thought.depth === 1 ? "ply" : "plies"}` : null,
    nodes: thought?.nodes ? thought.nodes.toLocaleString("en") : null,
    seconds: thought ? duration(thought.seconds) : null,
  };
  panel.querySelector("[data-fact=agent]").textContent = label ?? "it";
  panel.querySelector("[data-fact=counted]").textContent = simulates ? "Simulations" : "Positions";
  for (const [name, text] of Object.entries(facts)) {
    panel.querySelector(`[data-row="${name}"]`).hidden = !text;
    panel.querySelector(`dd[data-fact="${name}"]`).hidden = !text;
    panel.querySelector(`dd[data-fact="${name}"]`).textContent = text ?? "";
  }
  const moves = thought?.line.map((move) => make("span", { className: "move", textContent: move })) ?? [];
  panel.querySelector("dd[data-fact=line]").replaceChildren(...moves.flatMap((move) => [move, " "]));
  const nothing = panel.querySelector("[data-fact=nothing]");
  nothing.hidden = Boolean(facts.value);
  nothing.textContent = thought ? "It gives no evaluation." : otherwise;
};

const rated = ({ rating, rated: games }) => (rating
  ? `${Math.round(rating.mean)} ± ${Math.round(rating.sd)}, class ${rating.grade} (${games} rated)`
  : "no rated game yet");

// The results of all agents against people.
export const showKept = (place, { folder, games, standings }) => {
  const head = ["Agent", "Won", "Drawn", "Lost", "Rating"].map((text) => make("th", { scope: "col", textContent: text }));
  const rows = standings.map((line) => make("tr", {},
    make("td", { textContent: line.agent }),
    ...[line.wins, line.draws, line.losses].map((count) => make("td", { textContent: count })),
    make("td", { textContent: rated(line) })));
  const table = make("div", { className: "scroll" },
    make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows)));
  const how = "Rated as Blondie24 was by its 165 games: from 1600 on, by the papers' formula, "
    + "the mean and the spread over 5000 random orders of the games.";
  const where = `${games} ${games === 1 ? "game is" : "games are"} kept in ${folder}.`;
  place.replaceChildren(...(games ? [table, make("p", { className: "note", textContent: how })] : []),
    make("p", { className: "note", textContent: where }),
    ...(games ? [make("a", { className: "button", href: "/api/kept.pdn", textContent: "All games (PDN)" })] : []));
};
