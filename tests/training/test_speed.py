"""The table of speeds, and the equal work of its reference programs."""

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import checkers_env
from agents.agent import PlayerAgent
from agents.blondie.architecture import BLONDIE_1999, BLONDIE_2001, NETWORK_LAYOUTS
from agents.evaluator import evaluate_position
from agents.match import play_game
from agents.reference import SlowSearch, slow_evaluate, slow_game, slow_network
from checkers_env.board import Board
from tests.training.commands import run_here
from training import speed
from training.evolution.metrics import sample_positions
from training.regimes.coevolution import Coevolution
from training.trainer.checkpoint import Checkpoint, save_checkpoint

NAMES = [
    "perft 9, bulk",
    "2001 network alone",
    "2001 network in the search",
    "self-play, a generation",
    "raw_env(), with last()",
    "env(), with last()",
    "make_vec(1024)",
]
NONE = speed.Effort(1, 1, 3, 16 * 50, 2, 1, 1, 1)


def contestants(name: str, depth: int) -> tuple[list[Any], list[SlowSearch]]:
    """Return two random networks as players, and the same two as slow ones."""
    shape = NETWORK_LAYOUTS[name]
    regime = Coevolution(shape.name, parents=1, depth=depth)
    states = [regime.init(seed) for seed in (1, 2)]
    fast = [regime.contenders(state)[0] for state in states]
    slow = [slow_network(shape, state.population.genomes[0], regime.king) for state in states]
    return fast, [SlowSearch(network, depth) for network in slow]


@pytest.mark.parametrize("name", [BLONDIE_1999.name, BLONDIE_2001.name])
def test_slow_network_has_the_values_of_the_fast_one(name: str) -> None:
    fast, slow = contestants(name, 1)
    for position in sample_positions()[::7]:
        for view in range(2):
            expected = evaluate_position(fast[0].evaluator, position, view)
            assert slow_evaluate(slow[0].network, position, view) == pytest.approx(
                expected, abs=5e-6
            )


def test_slow_search_makes_the_moves_of_the_fast_one() -> None:
    fast, slow = contestants("blondie24-2001", 3)
    agent = PlayerAgent("fast", fast[0], np.random.default_rng())
    for position in sample_positions()[::23]:
        board = Board.from_position(*position)
        board.push(agent.act(board))
        assert slow[0].select_successor(position) == (
            board.black,
            board.white,
            board.kings,
            board.turn,
        )


def test_slow_games_end_as_fast_ones_do() -> None:
    fast, slow = contestants("blondie24-2001", 2)
    for order in ([0, 1], [1, 0], [0, 0]):
        game = play_game(*(fast[i] for i in order))
        assert slow_game([slow[i] for i in order], game.start) == game.result.winner


def test_every_row_is_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "speed.json"
    monkeypatch.setattr(speed, "QUICK", NONE._replace(games=150))
    status, out, _ = run_here(speed, ["--quick", "--json", path], monkeypatch, capfd)
    assert status == 0
    assert all(name in out for name in NAMES)
    rows = json.loads(path.read_text("utf-8"))["rows"]
    assert [row["name"] for row in rows] == NAMES
    for row in rows:
        assert row["value"] > 0
        assert row["goal"] > 0
        assert row["ratio"] is None or row["ratio"] == row["value"] / row["yardstick_value"]
        assert row["ratio"] is not None or "not installed" in row["yardstick"]


def test_rows_that_need_openspiel_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "openspiel", lambda: None)
    rows = [*speed.measure_perft(NONE), *speed.measure_environments(NONE)]
    assert {row.yardstick for row in rows} == {"OpenSpiel (not installed)"}
    assert {row.ratio for row in rows} == {None}


def test_perft_of_openspiel_counts_turns() -> None:
    library = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    state, board = library.load_game("checkers").new_initial_state(), Board()
    rng = np.random.default_rng(0)
    for _ in range(30):  # into positions with captures, by turns of a single step
        assert speed.openspiel_perft(state, 3) == checkers_env.perft(board, 3)
        steps = [
            action
            for action in state.legal_actions()
            if state.child(action).current_player() != state.current_player()
        ]
        if not steps:
            break
        follow(state, board, int(rng.choice(steps)))


def follow(state: Any, board: Board, action: int) -> None:
    """Play one of OpenSpiel's actions on both boards."""
    name = state.action_to_string(action)
    squares = tuple(
        4 * (int(rank) - 1) + (7 - "abcdefgh".index(file)) // 2 + 1
        for file, rank in (name[:2], name[2:4])
    )
    board.push(next(move for move in board.legal_moves if move.squares == squares))
    state.apply_action(action)


def run_folder(folder: Path, speeds: list[float], **changes: Any) -> Path:
    regime = Coevolution(parents=2, opponents=3, **changes)
    config_key = {"name": "c0", "kind": "coevolution", "seed": 0, **asdict(regime)}
    state = replace(regime.init(0), generation=max(len(speeds) - 1, 0))
    save_checkpoint(folder, Checkpoint(state, {speed.SPEED: speeds}, config_key))
    return folder


def test_cpu_seconds_of_a_run_are_read_from_its_metrics(tmp_path: Path) -> None:
    row = speed.measure_run(run_folder(tmp_path, [6.0, np.nan, 24.0]))
    assert (row.value, row.unit, row.goal) == (12 / 6 + 12 / 24, "CPU-seconds", None)
    assert "24 games" in row.name


def test_round_robin_has_more_games(tmp_path: Path) -> None:
    row = speed.measure_run(run_folder(tmp_path, [6.0], pairing="round-robin"))
    assert (row.value, "12 games" in row.name) == (12 / 6, True)


def test_invalid_arguments_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    empty = run_folder(tmp_path, [])
    for options, message in (
        (["--run", str(tmp_path / "none")], "there is no run"),
        (["--run", str(empty)], "has not recorded"),
        (["--pairs", "3"], "--pairs has no effect without --compare: leave it out"),
        (["--run", str(empty), "--compare", "HEAD"], "--run has no effect with --compare HEAD"),
        (
            ["--json", str(tmp_path / "none" / "file.json")],
            "json is a file in a folder that exists",
        ),
    ):
        monkeypatch.setattr(sys, "argv", ["speed.py", *options])
        assert speed.main() == 1
        assert message in capfd.readouterr().err.replace("\n", " ")
