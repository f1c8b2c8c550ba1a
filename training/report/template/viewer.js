// The viewer: which game is open, and what is said about the position that is shown.

import { Board } from "/static/board.js";
import { byId, createElement } from "/static/dom.js";
import { framesOf } from "/static/engine/rules.js";
import { writePdn } from "/static/pdn.js";
import { describePosition, readFen } from "/static/position.js";
import { Replay } from "/static/replay.js";
import { choice, choose, games, heading, league, listGames, RESULTS } from "./choice.js";

const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEF"; // of squares 1 to 32
const SIDES = { b: "Black", w: "White" };
const VERDICTS = ["White won", "drawn", "Black won"];
const viewer = byId("viewer");
const replay = new Replay({
  board: new Board(byId("board")), controls: byId("controls"), score: byId("moves"), onShow: show,
});
let opened = null; // the game

// A move is two letters, or those of a path in brackets.
const readMoves = (packed) => (packed.match(/\w\w|\W\w+\W/g) ?? []).map((move) => (
  { squares: [...move.replace(/\W/g, "")].map((letter) => LETTERS.indexOf(letter) + 1) }
));

const openGame = (game) => {
  opened = game;
  const { start, plies } = league.openings[game.opening];
  const frames = framesOf(start, readMoves(game.moves));
  replay.open(frames);
  for (const button of [...byId("moves").querySelectorAll("button")].slice(0, plies)) button.className = "card";
  byId("game").value = game.number;
  byId("heading").textContent = heading(game);
  const [Black, White] = [game.black, game.white].map((player) => league.players[player]);
  const tags = {
    Event: document.title, Round: String(game.number + 1), Black, White, Termination: league.reasons[game.reason],
  };
  const text = writePdn(tags, start, frames.slice(1).map(({ move }) => move.text), RESULTS[game.score]);
  byId("pdn").href = `data:text/plain;charset=utf-8,${encodeURIComponent(text)}`;
  byId("pdn").download = `game-${game.number + 1}.pdn`;
};

// Open a game that the reader asked for: from now on the page's address leads to it.
const pick = (game) => {
  if (!game) return;
  openGame(game);
  history.replaceState(null, "", `#game-${game.number + 1}`);
};

const pickFirst = () => pick(listGames()[0]);

const verdict = ({ score, reason }) =>
  `${RESULTS[score]}, ${VERDICTS[score]}: ${league.reasons[reason] || "not said why"}`;

function show({ fen, move }, ply) {
  const { frames, flipped } = replay;
  const { cells, turn } = readFen(fen);
  const isOver = ply === frames.length - 1;
  const turns = ply - 1 + Number(frames[0].fen.startsWith("W"));
  const made = move ? `${(turns >> 1) + 1}${turns % 2 ? "…" : "."} ${move.text}` : "Start";
  byId("status").textContent = `${made} · ${isOver ? verdict(opened) : `${SIDES[turn]} to move`}`;
  byId("board").setAttribute("aria-label", describePosition(fen));
  showPlate(byId("above"), flipped ? "w" : "b", cells, !isOver && turn);
  showPlate(byId("below"), flipped ? "b" : "w", cells, !isOver && turn);
}

function showPlate(plate, side, cells, turn) {
  const name = league.players[side === "b" ? opened.black : opened.white];
  const left = cells.filter((cell) => cell.toLowerCase() === side).length;
  plate.className = `plate ${SIDES[side].toLowerCase()}`;
  plate.classList.toggle("turn", side === turn);
  plate.replaceChildren(
    createElement("span", { className: "disc" }),
    createElement("span", { className: "name", textContent: name }),
    createElement("span", { className: "left", textContent: `${SIDES[side]}, ${left} left` }),
  );
}

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
  byId("games").scrollIntoView();
  byId("moves").focus({ preventScroll: true }); // where the keys work
};

if (games.length) {
  choice.hidden = viewer.hidden = false;
  choice.addEventListener("change", pickFirst);
  choice.addEventListener("reset", () => setTimeout(pickFirst)); // when it has been reset
  byId("game").addEventListener("change", ({ target }) => {
    pick(games.find((game) => game.number === Number(target.value)));
  });
  viewer.addEventListener("keydown", (event) => {
    replay.onKey(event);
    if (event.defaultPrevented) event.stopPropagation(); // the board's own keys are for choosing moves
  }, true);
  addEventListener("hashchange", follow);
  openGame(listGames()[0]);
  follow();
}
