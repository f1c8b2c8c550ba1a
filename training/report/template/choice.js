// Which games are listed: those that fit the form above the viewer.

import { byId, createElement } from "/static/dom.js";

const MOST_LISTED = 500;
export const RESULTS = ["0-1", "1/2-1/2", "1-0"]; // by Black's score, doubled
const OF_PLAYER = ["black", "white", "won", "lost"]; // choices that need a player

export const league = JSON.parse(byId("league").textContent);
export const games = league.games.map(([number, black, white, opening, score, reason, moves]) => (
  { number, black, white, opening, score, reason, moves }
));
export const choice = byId("choice");

const is = (value, wanted) => wanted === "" || String(value) === wanted;

const fits = (game, wanted) => {
  const seats = [
    { player: game.black, opponent: game.white, side: "black", result: game.score },
    { player: game.white, opponent: game.black, side: "white", result: 2 - game.score },
  ];
  const results = { won: (seat) => seat.result === 2, lost: (seat) => seat.result === 0 };
  const hasResult = results[wanted.result] ?? (() => is(game.score, wanted.result));
  return is(game.opening, wanted.opening) && is(game.reason, wanted.reason) &&
    seats.some((seat) => hasResult(seat) &&
      ["player", "opponent", "side"].every((name) => is(seat[name], wanted[name])));
};

export const heading = ({ number, black, white }) =>
  `${number + 1}. ${league.players[black]} – ${league.players[white]}`;

const asOption = (game) => createElement("option", {
  value: game.number,
  textContent: `${heading(game)} · ${RESULTS[game.score]} · ${league.openings[game.opening].text}`,
});

// Choices that need a player are there only when one is chosen.
const limitChoices = () => {
  for (const select of [choice.side, choice.result]) {
    for (const option of select.options) {
      option.disabled = !choice.player.value && OF_PLAYER.includes(option.value);
    }
    if (select.selectedOptions[0].disabled) select.value = "";
  }
};

// List the games that fit; return them.
export const listGames = () => {
  limitChoices();
  const wanted = Object.fromEntries(new FormData(choice));
  const found = games.filter((game) => fits(game, wanted));
  byId("game").replaceChildren(...found.slice(0, MOST_LISTED).map(asOption));
  const count = `${found.length.toLocaleString("en")} game${found.length === 1 ? "" : "s"}`;
  const limit = found.length > MOST_LISTED ? `, of which the first ${MOST_LISTED} are listed` : "";
  byId("matching").textContent = count + limit;
  return found;
};

// Set the form to what a link says, and to anything where it says nothing.
export const choose = (query) => {
  const wanted = new URLSearchParams(query);
  for (const select of choice.querySelectorAll("select")) {
    select.value = wanted.get(select.name) ?? "";
    if (select.selectedIndex < 0) select.value = ""; // a link to what is not there
  }
};
