"""The static page's engine against the kernels: moves, evaluations and searches, in Node."""

import numpy as np
import pytest

import agents
from agents.agent import PlayerAgent
from agents.baselines.material import Material
from agents.evaluator import evaluate_position
from agents.search.player import AlphaBeta
from agents.search.workspace import VISITED, clear
from checkers_env import Board
from checkers_env.fen import START
from training.app.static_site import weight_file

pytestmark = pytest.mark.browser

POSITIONS = 20_000
EVALUATED = {
    "blondie24-1999": 1000,
    "blondie24": 1000,
    "c10": 1000,
    "learns": 1000,
    "learns-squares": 1000,
    "c5-n0.001": 1000,
    "strong": 1000,
    "material": 1000,
}
SEARCHES = {  # plies, positions
    "blondie24-1999": (4, 30),
    "blondie24": (4, 30),
    "c10": (5, 20),
    "c5-n0.001": (5, 30),
    "learns-squares": (5, 30),
    "strong": (10, 40),
    "material": (6, 30),
}
LEAST_PIECES = 15  # in searches: strong has endgame tables in Python

DRIVER = """
import { Material } from "./engine/evaluators.js";
import { Board, readFen } from "./engine/rules.js";
import { finish, FULL_WIDTH, Search, SELECTIVE } from "./engine/search.js";
import { answer as ask, readPlayer } from "./engine/worker.js";

globalThis.fetch = async ({ pathname }) => {
  const name = pathname.split("/").at(-1);
  return { ok: true, arrayBuffer: () => Uint8Array.from(readFileSync(`weights/${name}`)).buffer };
};
const { positions = [], games = [], explained = {} } = asked;
const { analysed = [], evaluations = {}, searches = {} } = asked;
answer = { evaluations: {}, searches: {}, explained: {}, analysed: [] };
for (const [agent, fens] of Object.entries(explained)) {
  answer.explained[agent] = [];
  for (const fen of fens) {
    answer.explained[agent].push(await ask({ action: "explain", agent, fen }));
  }
}
for (const question of analysed) {
  answer.analysed.push(await ask({ action: "analyse", seed: 0, ...question }));
}
answer.moves = positions.map((fen) => {
  const board = new Board(fen);
  const moves = board.legalMoves.map(({ text, squares, captured }) => [text, squares, captured]);
  return [board.fen, moves];
});
answer.games = games.map(({ moves, start, repetition }) => {
  const board = new Board(start, { repetition });
  return moves.map((text) => { board.push(text); return [board.fen, board.outcome()]; });
});
for (const [name, fens] of Object.entries(evaluations)) {
  const { evaluator } = await readPlayer(name);
  const state = new Int32Array(evaluator.stateSize);
  answer.evaluations[name] = fens.map((fen) => {
    const position = readFen(fen);
    return [0, 1].map((view) => {
      evaluator.start(state, 0, position, view);
      return evaluator.evaluate(state, 0, position, view);
    });
  });
}
for (const [name, { depth, lines }] of Object.entries(searches)) {
  const { evaluator, isSelective } = await readPlayer(name);
  answer.searches[name] = lines.map((fens) => {
    const search = new Search(evaluator, isSelective ? SELECTIVE : FULL_WIDTH);
    return fens.map((fen) => {
      const board = new Board(fen);
      const count = search.expandRoot(board);
      const row = finish(search.search(board, depth, count));
      return [board.legalMoves[row].squares, search.result.value, search.nodes];
    });
  });
}
"""


@pytest.fixture(scope="module")
def ask(run_js):
    """Return a function that asks the engine, and returns its answer."""
    return lambda **question: run_js(DRIVER, **question)


def random_game(rng, start=START, repetition=3):
    """Return the positions of a random game, and its moves."""
    board, fens = Board(start, max_moves=None, repetition=repetition, no_progress=40), []
    while not board.outcome():
        board.push(board.legal_moves[rng.integers(len(board.legal_moves))])
        fens.append((board.fen(), board.outcome()))
    return fens, list(map(str, board.moves))


def crowded_position(rng):
    """Return a position of random pieces, most of them kings: long captures, many routes."""
    squares = rng.permutation(32)[: rng.integers(2, 25)] + 1
    count = min(int(rng.integers(1, 13)), len(squares) - 1)
    sides = squares[:count], squares[count:][:12]
    texts = [
        ",".join(
            f"{'K' if rng.random() < 0.7 or (square > 28, square < 5)[side] else ''}{square}"
            for square in sorted(pieces)
        )
        for side, pieces in enumerate(sides)
    ]
    return Board(f"{'BW'[rng.integers(2)]}:W{texts[1]}:B{texts[0]}").fen()


@pytest.fixture(scope="module")
def positions():
    rng, found = np.random.default_rng(28), []
    while len(found) < POSITIONS // 2:
        found += [fen for fen, _ in random_game(rng)[0]]
    found = found[: POSITIONS // 2]
    return found + [crowded_position(rng) for _ in range(POSITIONS - len(found))]


def sample(positions, count, seed, least=0):
    """Return positions in which the game goes on."""
    chosen = []
    for index in np.random.default_rng(seed).permutation(len(positions)):
        board = Board(positions[index])
        pieces = (board.black | board.white).bit_count()
        if pieces >= least and len(board.legal_moves) > 1:
            chosen.append(positions[index])
        if len(chosen) == count:
            break
    return chosen


def test_moves_of_20000_positions_are_equal(ask, positions):
    expected = []
    for fen in positions:
        moves = Board(fen).legal_moves
        expected.append([fen, [[str(m), list(m.squares), list(m.captured)] for m in moves]])
    assert len(expected) == POSITIONS
    assert max(len(moves) for _, moves in expected) > 20
    assert any(len(move[1]) > 5 for _, moves in expected for move in moves)
    for found, wanted in zip(ask(positions=positions)["moves"], expected, strict=True):
        assert found == wanted


def test_games_end_by_the_same_rules(ask):
    rng = np.random.default_rng(7)
    starts = [(START, 3)] * 40 + [("B:WK29,K30:BK3,K4", 0)] * 20
    games = [random_game(rng, start, repetition or None) for start, repetition in starts]
    expected = [[[fen, out and out._asdict()] for fen, out in fens] for fens, _ in games]
    reasons = {game[-1][1]["reason"] for game in expected}
    assert reasons == {"no pieces", "no legal move", "repetition", "no progress"}
    asked = [
        {"start": start, "repetition": repetition, "moves": moves}
        for (start, repetition), (_, moves) in zip(starts, games, strict=True)
    ]
    assert ask(games=asked)["games"] == expected


def player(name, depth):
    if name == "material":
        return PlayerAgent(name, AlphaBeta(Material(), depth))
    return agents.make(name, depth=depth)


def test_evaluations_are_equal(ask, positions):
    fens = {name: sample(positions, count, 1) for name, count in EVALUATED.items()}
    for name, found in ask(evaluations=fens)["evaluations"].items():
        evaluator = player(name, 1).player.evaluator
        expected = np.array(
            [
                [evaluate_position(evaluator, Board(fen).position, view) for view in range(2)]
                for fen in fens[name]
            ]
        )
        np.testing.assert_array_equal(np.array(found), expected, name)
        assert len(np.unique(expected)) > 50


def test_searches_are_equal(ask, positions):
    """Moves, values and numbers of positions visited are equal, not only moves up to ties.

    Of each game two positions are searched. The table knows the second one from the first search.
    """
    asked, expected = {}, {}
    for name, (depth, count) in SEARCHES.items():
        agent, lines, expected[name] = player(name, depth), [], []
        for fen in sample(positions[: POSITIONS // 2], count, depth, LEAST_PIECES):
            clear(agent.ws)
            agent.ws.counts[VISITED] = 0
            first = searched(agent, Board(fen))
            later = two_plies_on(fen, first[0])
            lines.append([fen, *later])
            expected[name].append([first, *(searched(agent, Board(after)) for after in later)])
        asked[name] = {"depth": depth, "lines": lines}
    found = ask(searches=asked)["searches"]
    for name in SEARCHES:
        assert found[name] == expected[name], name


def two_plies_on(fen, squares):
    """Return a position after a move and a reply, if the game goes on there."""
    board = Board(fen)
    board.push(next(move for move in board.legal_moves if list(move.squares) == squares))
    replies = []
    for reply in board.legal_moves:
        board.push(reply)
        replies.append(board.fen())
        board.pop()
    return sample(replies, 1, 0, LEAST_PIECES)


def searched(agent, board):
    """Return the squares of a player's move, the value, and the number of positions visited."""
    move = agent.act(board)
    value = float(agent.ws.frames[0]["value"])
    if agent.name == "strong" and abs(value) <= 0.5:  # a search with tables halves evaluations
        value *= 2
    return [list(move.squares), value, int(agent.ws.counts[VISITED])]


def close(found, expected):
    """Return whether two JSON values are equal, numbers to 1e-4: float64 there, float32 here."""
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(
            close(found[key], value) for key, value in expected.items()
        )
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(close, found, expected))
    if isinstance(expected, float):
        return found == pytest.approx(expected, rel=1e-5, abs=1e-4)
    return bool(found == expected)


def test_explanations_are_equal(ask, positions):
    names = [*SEARCHES, "random"]
    fens = sample(positions, 25, 2)
    for name, found in ask(explained=dict.fromkeys(names, fens))["explained"].items():
        agent = agents.make(name)
        for fen, reply in zip(fens, found, strict=True):
            expected = agents.explain(agent, Board(fen)).to_json()
            for key, value in expected.items():
                assert close(reply["result"][key], value), (name, fen, key)


def test_analyses_are_equal(ask, positions):
    """Of positions, and of games in which a position may come up again."""
    asked, expected = [], []
    for agent, depth in (("blondie24", 4), ("c5-n0.001", 5)):
        for start in sample(positions, 25, 5):
            asked.append({"agent": agent, "limits": {"depth": depth}, "start": start, "moves": []})
            expected.append(agents.analyse(agent, Board(start), depth=depth))
    for question, reply, analysis in zip(
        asked, ask(analysed=asked)["analysed"], expected, strict=True
    ):
        result = reply["result"]
        assert result["pv"] == list(map(str, analysis.pv)), question
        assert Board(question["start"]).parse_move(result["move"]) == analysis.move
        assert (result["score"], result["depth"]) == (analysis.score, analysis.depth)


@pytest.mark.parametrize("damage", [
    lambda content: b"<html>", lambda content: content[:5000], lambda content: content + b"\0",
    lambda content: content[:4000] + bytes([content[4000] ^ 1]) + content[4001:],
])  # fmt: skip
def test_damaged_weight_file_is_refused(run_js, damage):
    script = """
        import { loadWeights } from "./engine/weights.js";
        import { CHECKSUMS } from "./engine/catalog.js";
        const { buffer } = Uint8Array.from(asked.content);
        answer = await loadWeights(buffer, "it", CHECKSUMS["blondie24-1999"]).then(
          () => "accepted", ({ message }) => message);
    """
    content = weight_file("blondie24-1999").read_bytes()
    assert run_js(script, content=list(content)) == "accepted"
    said = run_js(script, content=list(damage(content)))
    assert said == "'it' is not a valid weight file: it is damaged or cut off"
