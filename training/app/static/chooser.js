// Fields of template/parts.html.jinja: an opponent, an agent with its limits, or an opening.

import { checkPlayable, randomBelow, readOpening } from "/static/game.js";
import { MAX_BOOK, readBook } from "/static/pdn.js";

// Returns a function that reads the fields: `player` is {agent, amount, seconds} for the server, `label` the agent's name.
// An empty amount is the agent's standard one, or none if the form's clock limits the moves.
export const agentChooser = (form) => {
  const [agent, amount, seconds, search, sort] = ["agent", "amount", "seconds", "search", "sort"].map(
    (name) => form.querySelector(`[data-field="${name}"]`));
  const clock = form.closest("form")?.querySelector("#clock");
  const showStandard = () => {
    amount.placeholder = clock?.value ? "as the clock allows" : agent.selectedOptions[0].dataset.standard ?? "";
  };
  const update = () => {
    const { limit, most, about } = agent.selectedOptions[0].dataset;
    for (const field of [amount, seconds]) {
      field.closest(".field").hidden = field.disabled = !limit; // the browser does not validate it then
    }
    form.querySelector("[data-field=unit]").textContent = limit === "depth" ? "Plies" : "Simulations";
    form.querySelector("[data-field=about]").textContent = about;
    Object.assign(amount, { max: most ?? "", value: "" });
    showStandard();
  };
  clock?.addEventListener("change", showStandard);
  agent.addEventListener("change", update);
  if (search) connectSearch(agent, search, sort);
  update();
  return () => {
    const { limit, label } = agent.selectedOptions[0].dataset;
    const number = (field) => (limit && field.value !== "" ? Number(field.value) : null);
    return { label, player: { agent: agent.value, amount: number(amount), seconds: number(seconds) } };
  };
};

// Show the agents whose name or kind has the text, the chosen one too, in an order.
const connectSearch = (agent, search, sort) => {
  const options = [...agent.options]; // by strength
  const byName = (one, other) => one.dataset.label.localeCompare(other.dataset.label);
  const update = () => {
    const text = search.value.trim().toLowerCase();
    const chosen = agent.selectedOptions[0];
    const has = (option) => `${option.textContent} ${option.dataset.about}`.toLowerCase().includes(text);
    const sorted = sort.value === "name" ? [...options].sort(byName) : options;
    agent.replaceChildren(...sorted.filter((option) => option === chosen || has(option)));
    chosen.selected = true;
  };
  search.addEventListener("input", update);
  sort.addEventListener("change", update);
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.preventDefault(); // it does not begin a game
  });
};

// A named opponent, or any agent. Returns a function that reads the fields: `player` is {opponent,
// level} or that of agentChooser, `face` the picture in icon.svg.
export const opponentChooser = (form) => {
  const readAgent = agentChooser(form.querySelector("#all-players"));
  const chosen = () => form.querySelector("[name=opponent]:checked");
  const levels = [...form.querySelectorAll("[data-levels]")];
  const levelOf = (opponent) => levels.find(({ dataset }) => dataset.levels === opponent)?.querySelector("select");
  const update = () => {
    const { value } = chosen();
    form.querySelector("#all-players").hidden = Boolean(value);
    for (const field of form.querySelector("#all-players").querySelectorAll("input, select")) {
      if (value) field.disabled = true; // the browser does not validate it then
      else if (!field.closest(".field").hidden) field.disabled = false;
    }
    if (!value) { // a long list
      const list = form.querySelector("#all-players [data-field=agent]");
      list.scrollTop = list.selectedOptions[0].offsetTop - list.clientHeight / 2;
    }
    for (const level of levels) {
      const [{ value: number, dataset: { elo } }] = level.querySelector("select").selectedOptions;
      level.previousElementSibling.querySelector(".elo").textContent = `level ${number}: ${elo}`;
      level.hidden = level.dataset.levels !== value;
    }
  };
  for (const level of levels) level.addEventListener("change", update);
  for (const radio of form.querySelectorAll("[name=opponent]")) radio.addEventListener("change", update);
  update();
  return () => {
    const { value, dataset } = chosen();
    if (!value) return { ...readAgent(), face: "agent" };
    const level = levelOf(value) ? Number(levelOf(value).value) : null;
    const label = level ? `${dataset.name}, level ${level}` : dataset.name;
    return { label, face: value, player: { opponent: value, ...(level && { level }) } };
  };
};

// Some openings need a text. Returns a function that reads the fields: {start, moves, standard}. Only games from the
// start and from the cards of the ballots are standard.
export const openingChooser = (form) => {
  const [choice, which] = ["opening", "which"].map((name) => form.querySelector(`[data-field=${name}]`));
  const fields = [...form.querySelectorAll("[data-opening]")];
  const [pasted, file] = ["textarea", "input[type=file]"].map((kind) => which.closest("[data-opening]").querySelector(kind));
  const [two, three] = [...choice.querySelectorAll("optgroup")].map(({ children }) => [...children]);
  const men = choice.querySelector("[data-men]").dataset.men.split(" ").map((squares) => squares.split(","));
  const ballots = {
    "two-move": () => randomOf(two).value,
    "three-move": () => randomOf(three).value,
    "eleven-man": () => `B:W${randomOf(men).map((square) => 33 - square)}:B${randomOf(men)}`,
  };
  const cards = new Map([...two, ...three].map(({ label, value }) => [label.slice(value.length).trim().toLowerCase(), value]));
  cards.delete(""); // without a name
  const update = () => fields.forEach((field) => { field.hidden = field.dataset.opening !== choice.value; });
  const showBook = () => {
    let book = [];
    try {
      book = readBook(pasted.value, cards);
    } catch { /* the reason is told when the game begins */ }
    const names = book.map(({ start, moves }, index) => `${index + 1}: ${moves.join(" ") || start}`);
    which.replaceChildren(...["A random one", ...names].map((name, index) => new Option(name, index)));
    which.closest(".field").hidden = names.length < 2;
  };
  file.addEventListener("change", async () => {
    pasted.value = await file.files[0]?.slice(0, MAX_BOOK + 1).text() ?? pasted.value; // a longer one is refused
    showBook();
  });
  pasted.addEventListener("input", showBook);
  choice.addEventListener("change", update);
  update();
  return () => {
    const field = fields.find(({ dataset }) => dataset.opening === choice.value);
    const text = field ? field.querySelector("input:not([type=file]), textarea").value.trim() : ballots[choice.value]?.() ?? choice.value;
    if (field && !text) throw new Error("Give the opening, or the game to go on with, or choose another one.");
    const card = cards.get(text.toLowerCase()) ?? text;
    const { start, moves } = choice.value === "pdn" ? openingOf(readBook(text, cards), Number(which.value)) : readOpening(card);
    return { ...checkPlayable({ start, moves }), standard: !text || [...two, ...three].some(({ value }) => value === card) };
  };
};

const randomOf = (items) => items[randomBelow(items.length)];

// The opening of a number from 1; for 0 a random one, as often as its weight says.
const openingOf = (book, number) => {
  if (number) return book[number - 1];
  let ticket = randomBelow(book.reduce((sum, { weight }) => sum + Number(weight), 0));
  return book.find(({ weight }) => (ticket -= weight) < 0);
};
