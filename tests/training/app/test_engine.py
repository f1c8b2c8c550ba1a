"""The static page's engine against the kernels: moves, evaluations and searches, in Node."""

import json
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

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
from training.app.messages import describe_move, explain_forced_capture, explain_illegal_move

pytestmark = pytest.mark.browser

ENGINE = Path(str(files("training.app") / "engine"))
ZOO = Path(str(files("agents") / "zoo"))
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
NAN = bytes([0, 0, 192, 127])

DRIVER = """
import { readFileSync } from "node:fs";
import { Board, readFen } from "./rules.js";
import { Material } from "./evaluators.js";
import { finish, FULL_WIDTH, Search, SELECTIVE } from "./search.js";
import { describeMove, explainForcedCapture, explainIllegalMove } from "./game.js";
import { loadWeights } from "./weights.js";
import { answer as ask } from "./worker.js";

const [question, zoo] = process.argv.slice(2);
const asked = JSON.parse(readFileSync(question));
const { damaged = [], words = [], positions = [], games = [] } = asked;
const { explained = {}, analysed = {}, evaluations = {}, searches = {} } = asked;
const bytes = (path) => Uint8Array.from(readFileSync(path)).buffer;
const read = (path) => loadWeights(bytes(path), path);
const load = async (name) =>
  (name === "material" ? { evaluator: new Material() } : read(`${zoo}/${name}.safetensors`));
const answer = { evaluations: {}, searches: {}, damaged: [], explained: {}, analysed: {} };
globalThis.fetch = async (url) =>
  ({ ok: true, arrayBuffer: () => bytes(`${zoo}/${url.pathname.split("/").at(-1)}`) });
for (const [agent, fens] of Object.entries(explained)) {
  answer.explained[agent] = [];
  for (const fen of fens) {
    answer.explained[agent].push(await ask({ action: "explain", agent, fen }));
  }
}
for (const [agent, { depth, fens }] of Object.entries(analysed)) {
  answer.analysed[agent] = [];
  for (const start of fens) {
    const question = { action: "analyse", agent, limits: { depth }, seed: 0, start, moves: [] };
    answer.analysed[agent].push(await ask(question));
  }
}
answer.words = words.map(([fen, squares]) => {
  const board = new Board(fen);
  return [
    explainForcedCapture(board), explainIllegalMove(board, squares),
    ...board.legalMoves.map((move) => describeMove(board, move)),
  ];
});
for (const path of damaged) {
  answer.damaged.push(await read(path).then(() => "it was accepted", ({ message }) => message));
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
  const { evaluator } = await load(name);
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
  const { evaluator, isSelective } = await load(name);
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
process.stdout.write(JSON.stringify(answer));
"""


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    """Return a function that asks the engine, and returns its answer."""
    node = shutil.which("node")
    assert node, "these tests need Node"
    folder = tmp_path_factory.mktemp("engine")
    shutil.copytree(ENGINE, folder, dirs_exist_ok=True)
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "driver.js").write_text(DRIVER)

    def ask(**question):
        (folder / "question.json").write_text(json.dumps(question))
        command = [node, "driver.js", "question.json", str(ZOO)]
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
        assert run.returncode == 0, run.stderr
        return json.loads(run.stdout)

    return ask


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


def test_words_are_equal(ask, positions):
    rng, asked, expected = np.random.default_rng(3), [], []
    for fen in sample(positions, 1500, 4):
        board = Board(fen)
        move = board.legal_moves[rng.integers(len(board.legal_moves))]
        squares = list(move.squares)[: rng.integers(1, 4)] + rng.integers(0, 34, 1).tolist()
        if squares in [list(it.squares) for it in board.legal_moves]:
            continue
        asked.append([fen, squares])
        said = [describe_move(board, it) for it in board.legal_moves]
        texts = explain_forced_capture(board), explain_illegal_move(board, squares)
        expected.append([*texts, *said])
    assert ask(words=asked)["words"] == expected
    assert len({text for _, text, *_ in expected}) > 300


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
    depths = {"blondie24": 4, "c5-n0.001": 5}
    fens = sample(positions, 25, 5)
    asked = {name: {"depth": depth, "fens": fens} for name, depth in depths.items()}
    for name, found in ask(analysed=asked)["analysed"].items():
        agent = agents.make(name)
        for fen, reply in zip(fens, found, strict=True):
            analysis, result = (
                agents.analyse(agent, Board(fen), depth=depths[name]),
                reply["result"],
            )
            assert result["pv"] == list(map(str, analysis.pv)), (name, fen)
            assert result["move"]["squares"] == list(analysis.move.squares)
            assert (result["score"], result["depth"]) == (analysis.score, analysis.depth)


def damaged_files():
    """Yield broken weight files, and what the error says of each."""
    content = (ZOO / "blondie24-1999.safetensors").read_bytes()
    yield b"<html>", "it has 6 bytes"
    yield b"\xff" * 100, "its header is cut off"
    yield content[:300], "its header is cut off"
    yield content[:5000], "it is cut off: its array genome ends at byte 6968 of 4648"
    yield content + b"\0", "it has 6969 bytes of numbers in place of 6968"
    yield content[:8] + b"\xff" + content[9:], "its header is no UTF-8 text"
    yield content.replace(b"{", b"[", 1), "its header is no JSON"
    yield content[:-8] + NAN + content[-4:], "weights that are no numbers"
    yield content.replace(b"blondie24-1999", b"blondie24-9999"), "known are blondie24-1999"
    yield content.replace(b"blondie24-1999", b"blondie24-2001"), "blondie24-2001 has 5047"
    yield content.replace(b"F32", b"I32"), "is I32, not F64, F32 or U8"
    yield content.replace(b"[1742]", b"[1741]"), "has 6968 bytes for 1741 numbers"
    yield content.replace(b"checkers-laboratory", b"checkers-lavatories"), "it has no 'checkers-"
    yield content.replace(b'"king\\": 1.0', b'"king\\": 9.0'), "king is worth 9, not 1 to 5 men"
    packed = (ZOO / "strong.safetensors").read_bytes()
    yield packed[:2000] + packed[2001:] + b"\0", "the tables cannot be unpacked"
    sparse = (ZOO / "walks-3.safetensors").read_bytes()
    yield sparse[:-1] + bytes([sparse[-1] ^ 16]), "weights for"


def test_damaged_weight_files_are_refused_in_words(ask, tmp_path):
    paths, reasons = [], []
    for number, (content, reason) in enumerate(damaged_files()):
        paths.append(str(tmp_path / f"{number}.safetensors"))
        Path(paths[-1]).write_bytes(content)
        reasons.append(reason)
    for found, reason in zip(ask(damaged=paths)["damaged"], reasons, strict=True):
        assert "is not a valid weight file: " in found
        assert reason in found
