// Panel "Champions by generation": two generations of a run play each other, or the user.
//
// connectChampions({play, show}) returns a function of a run and its [[generation, weight file], ...]; `play` asks for the
// game of a card of the ballot, 0 for the start position, and `show` puts it on the board.

import { byId, createElement, onSubmit } from "/static/dom.js";

const SCORES = { "1-0": 0, "1/2-1/2": 1, "0-1": 2 }; // of Black: won, drawn, lost

export const connectChampions = ({ play, show }) => {
  const form = byId("pairing");
  const { black, white, card } = form.elements;
  const cards = card.options.length - 1;
  let shown = ""; // the run and its generations
  let files = new Map();
  let isChosen = false; // by the user: until then the latest champion plays the first
  let matches = 0; // an earlier match stops when a later one begins

  const say = (text) => { byId("match-score").textContent = text; };
  const stopMatch = () => {
    matches += 1;
    byId("match").textContent = `Match of ${2 * cards} games`;
  };

  const showLinks = () => {
    for (const side of [black, white]) {
      const link = byId(`play-${side.name}`);
      link.textContent = `generation ${side.value}`;
      link.href = `/?agent=${encodeURIComponent(files.get(side.value))}`;
    }
  };

  const playMatch = async () => {
    matches += 1;
    const [number, first, second] = [matches, black.value, white.value];
    const counts = [0, 0, 0]; // of the first: won, drawn, lost
    byId("match").textContent = "Stop the match";
    for (let game = 0; game < 2 * cards; game += 1) {
      const swapped = game % 2 === 1;
      const pair = swapped ? [second, first] : [first, second];
      const { result } = await play(...pair, (game >> 1) + 1);
      if (number !== matches) return;
      counts[swapped ? 2 - SCORES[result] : SCORES[result]] += 1;
      const [won, drawn, lost] = counts;
      say(`Generation ${first} against generation ${second}: ${won} won, ${drawn} drawn, ${lost} lost, of ${game + 1} games.`);
    }
    stopMatch();
  };

  const attempt = async (action) => {
    try {
      await action();
    } catch (error) {
      stopMatch();
      say(error.message);
    }
  };

  form.addEventListener("change", () => {
    isChosen = true;
    stopMatch();
    say("");
    showLinks();
  });
  onSubmit(form, () => attempt(async () => show(await play(black.value, white.value, card.value))));
  byId("match").addEventListener("click", () => {
    if (byId("match").textContent.startsWith("Stop")) stopMatch();
    else attempt(playMatch);
  });

  return (run, champions) => {
    byId("champions").hidden = !champions;
    if (!champions) return;
    byId("champions-none").hidden = champions.length > 0;
    form.hidden = !champions.length;
    const generations = champions.map(([generation]) => String(generation));
    const state = [run, ...generations].join("/");
    if (state === shown || !champions.length) return;
    const isOtherRun = !shown.startsWith(`${run}/`);
    shown = state;
    isChosen &&= !isOtherRun;
    files = new Map(champions.map(([generation, file]) => [String(generation), file]));
    for (const [side, otherwise] of [[black, generations.at(-1)], [white, generations[0]]]) {
      const chosen = isChosen && files.has(side.value) ? side.value : otherwise;
      side.replaceChildren(...generations.map((value) => createElement("option", { value, textContent: value })));
      side.value = chosen;
    }
    if (isOtherRun) {
      stopMatch();
      say("");
    }
    showLinks();
  };
};
