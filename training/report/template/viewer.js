// The viewer: which game is open, which of its positions is shown, and what the reader does.

const PAUSE = 900; // milliseconds between moves
const viewer = element("viewer");
const state = { game: null, positions: [], moves: [], ply: 0, flipped: false };
let timer = 0;

const openGame = (game) => {
  const opening = league.openings[game.opening];
  Object.assign(state, replay(opening.start, game.moves), { game });
  element("game").value = game.number;
  element("heading").textContent = heading(game);
  element("ply").max = state.moves.length;
  element("moves").replaceChildren(...moveList(opening.plies));
  const { moves, positions } = state;
  const text = pdn(game, moves, positions[0].turn === "w");
  element("pdn").href = `data:text/plain;charset=utf-8,${encodeURIComponent(text)}`;
  element("pdn").download = `game-${game.number + 1}.pdn`;
  go(0);
};

// Open a game that the reader asked for: from now on the page's address leads to it.
const pick = (game) => {
  if (!game) return;
  openGame(game);
  history.replaceState(null, "", `#game-${game.number + 1}`);
};

const pickFirst = () => pick(listGames()[0]);

// The number of a move of each side, by how many moves were made before it.
const numberOf = (index) => {
  const turns = index + (state.positions[0].turn === "w");
  return { number: (turns >> 1) + 1, isBlack: turns % 2 === 0 };
};

const moveList = (openingPlies) => {
  const rows = [];
  state.moves.forEach(({ text }, index) => {
    const { number, isBlack } = numberOf(index);
    if (isBlack || !index) rows.push(make("li", {}, make("span", { textContent: `${number}.` })));
    if (!isBlack && !index) rows[0].append(make("span", { textContent: "…" }));
    const className = index < openingPlies ? "card" : "";
    const button = make("button", { type: "button", tabIndex: -1, textContent: text, className });
    button.dataset.ply = index + 1;
    rows.at(-1).append(button);
  });
  return rows;
};

const verdict = ({ score, reason }) =>
  `${RESULTS[score]}, ${VERDICTS[score]}: ${league.reasons[reason] || "not said why"}`;

const statusText = () => {
  const { game, positions, moves, ply } = state;
  const { number, isBlack } = numberOf(ply - 1);
  const made = ply ? `${number}${isBlack ? "." : "…"} ${moves[ply - 1].text}` : "Start";
  if (ply < moves.length) return `${made} · ${SIDES[positions[ply].turn]} to move`;
  return `${made} · ${verdict(game)}`;
};

const show = (glides = false) => {
  const { positions, moves, ply, flipped } = state;
  const move = moves[ply - 1];
  const board = drawBoard(positions[ply], move, positions[ply - 1], flipped);
  element("board").replaceChildren(board);
  if (move && glides) glide(board, move, flipped);
  element("board").setAttribute("aria-label", inWords(positions[ply]));
  element("status").textContent = statusText();
  element("ply").value = ply;
  showPlate("above", flipped ? "w" : "b");
  showPlate("below", flipped ? "b" : "w");
  markMove();
};

const showPlate = (id, side) => {
  const { game, positions, moves, ply } = state;
  const { cells, turn } = positions[ply];
  const name = league.players[side === "b" ? game.black : game.white];
  const left = cells.filter((cell) => cell && sideOf(cell) === side).length;
  const plate = element(id);
  plate.className = `plate ${SIDES[side].toLowerCase()}`;
  plate.classList.toggle("turn", side === turn && ply < moves.length);
  plate.replaceChildren(
    make("span", { className: "disc" }),
    make("span", { className: "name", textContent: name }),
    make("span", { className: "left", textContent: `${SIDES[side]}, ${left} left` }),
  );
};

// Mark the move that is shown, and bring it into the list's view (without moving the page).
const markMove = () => {
  const list = element("moves");
  list.querySelector("[aria-current]")?.removeAttribute("aria-current");
  const button = list.querySelector(`[data-ply="${state.ply}"]`);
  button?.setAttribute("aria-current", "step");
  list.scrollTop = button ? button.parentNode.offsetTop - list.clientHeight / 2 : 0;
};

const showTimer = () => viewer.querySelector("[data-go=play]").setAttribute("aria-pressed", timer > 0);

const stop = () => {
  clearInterval(timer);
  timer = 0;
  showTimer();
};

const advance = () => {
  state.ply += 1;
  if (state.ply === state.moves.length) stop();
  show(true);
};

const go = (ply) => {
  stop();
  const glides = ply === state.ply + 1;
  state.ply = Math.max(0, Math.min(ply, state.moves.length));
  show(glides && state.ply === ply);
};

const play = () => {
  if (timer) return stop();
  if (state.ply === state.moves.length) go(0);
  if (!state.moves.length) return;
  timer = setInterval(advance, PAUSE);
  showTimer();
};

const flip = () => {
  state.flipped = !state.flipped;
  show();
};

const ACTIONS = {
  first: () => go(0),
  back: () => go(state.ply - 1),
  play,
  on: () => go(state.ply + 1),
  last: () => go(state.moves.length),
  flip,
};
const KEYS = {
  Home: "first", ArrowLeft: "back", " ": "play", ArrowRight: "on", End: "last", f: "flip", F: "flip",
};

const onKey = (event) => {
  const { key, target } = event;
  const isTheirs = target.matches(key === " " ? "select, input, button, a" : "select, input");
  if (!(key in KEYS) || isTheirs || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  ACTIONS[KEYS[key]]();
};

// Links: #game-7 opens a game, #games?player=0&opponent=2 lists some.
const follow = () => {
  const [, number] = location.hash.match(/^#game-([0-9]+)$/) ?? [];
  const game = games.find((one) => one.number + 1 === Number(number));
  const [, query] = location.hash.match(/^#games\?(.*)$/) ?? [];
  if (!game && query === undefined) return;
  if (game) openGame(game);
  else {
    choose(query);
    pickFirst();
  }
  element("games").scrollIntoView();
  element("board").focus({ preventScroll: true }); // where the keys work
};

if (games.length) {
  choice.hidden = viewer.hidden = false;
  choice.addEventListener("change", pickFirst);
  choice.addEventListener("reset", () => setTimeout(pickFirst)); // when it has been reset
  element("game").addEventListener("change", ({ target }) => {
    pick(games.find((game) => game.number === Number(target.value)));
  });
  element("ply").addEventListener("input", ({ target }) => go(Number(target.value)));
  element("moves").addEventListener("click", ({ target }) => {
    if (target.dataset.ply) go(Number(target.dataset.ply));
  });
  viewer.addEventListener("click", ({ target }) => {
    ACTIONS[target.closest("[data-go]")?.dataset.go]?.();
  });
  viewer.addEventListener("keydown", onKey);
  addEventListener("hashchange", follow);
  openGame(listGames()[0]);
  follow();
}
