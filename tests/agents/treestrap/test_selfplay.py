"""Self-play of the large n-tuple network, and its regime."""

import numpy as np
import pytest

from agents.endgame.probe import probe
from agents.endgame.tables import load_tablebase
from agents.search.workspace import workspace
from agents.treestrap import selfplay
from agents.treestrap.learner import TreeStrapConfig, learner_state
from agents.treestrap.network import SIZE, STAGES, treestrap_network
from agents.treestrap.selfplay import learn
from checkers_env.board import Board
from checkers_env.movegen import Position
from training.regimes.treestrap import TreeStrap
from training.trainer.checkpoint import FILE_NAME, Checkpoint, load_checkpoint, save_checkpoint

QUICK = TreeStrapConfig(depth=2, inner=1, max_plies=80)
SMALL = TreeStrap(search=2, inner=1, games=6, max_moves=40)
KINGS = "B:WK3,K10,K32:BK1,K21"


def blank():
    return treestrap_network(), np.zeros((STAGES, SIZE, 2), np.float32)


def played(start, config, seed, tables=None):
    """Play one game; return its record."""
    system, errors = blank()
    student, rng = learner_state(system, errors, config), np.random.default_rng(seed)
    searcher = system if tables is None else selfplay.TablebaseEvaluator(system, tables)
    plies, result, turn = selfplay.play_one(student, searcher, start, workspace(), rng)
    return student, plies, result, turn


def test_games_in_several_calls_equal_those_in_one():
    one, errors = blank()
    learn(one, errors, 8, np.random.default_rng(1), QUICK)
    two, others = blank()
    rng = np.random.default_rng(1)
    for games in (3, 5):
        learn(two, others, games, rng, QUICK)
    assert np.count_nonzero(one.table) > 1000
    assert np.array_equal(one.table, two.table)
    assert np.array_equal(errors, others)


def test_game_ends_at_the_first_repetition():
    start = Board(KINGS).position
    for seed in range(10):
        student, plies, result, _ = played(start, QUICK, seed)
        past = list(map(tuple, student.positions[: plies + 1].tolist()))
        assert len(set(past[:-1])) == plies
        if plies < 80 and result == 0:
            assert past[-1] in past[:-1]


def test_positions_repeat_without_the_rule():
    start = Board(KINGS).position
    student, plies, _, _ = played(start, QUICK._replace(repetition=False), 0)
    past = list(map(tuple, student.positions[: plies + 1].tolist()))
    assert len(set(past[:-1])) < plies


@pytest.mark.slow  # games with endgame tables are kernels of their own to compile
def test_endgame_tables_end_games_with_their_result():
    tables = load_tablebase(4)
    start = Board(KINGS).position
    for seed in range(5):
        student, plies, result, turn = played(start, QUICK, seed, tables)
        last = Position(*student.positions[plies].tolist())
        known = probe(tables, last)
        pieces = bin(last.black | last.white).count("1")
        if pieces <= 4:
            assert turn == last.turn
            assert result == (0 if known == 255 else 1 if known % 2 else -1)
        assert all(np.abs(student.values[:plies]) <= 1)


def test_invalid_arguments_are_refused():
    with pytest.raises(ValueError, match="starts"):
        learn(*blank(), 1, np.random.default_rng(0), starts=[1, 2, 3, 4])


def test_resumed_run_equals_an_uninterrupted_one(tmp_path):
    straight = SMALL.init(5)
    for _ in range(2):
        straight, _ = SMALL.step(straight, None)
    half, _ = SMALL.step(SMALL.init(5), None)
    save_checkpoint(tmp_path, Checkpoint(half, {}, {}))
    resumed, _ = SMALL.step(load_checkpoint(tmp_path).state, None)
    assert resumed.rng == straight.rng
    assert resumed.generation == straight.generation == 2
    assert np.array_equal(resumed.arrays["weights"], straight.arrays["weights"])
    for name in straight.arrays:
        assert np.array_equal(resumed.arrays[name], straight.arrays[name])
        assert resumed.arrays[name].dtype == straight.arrays[name].dtype
    assert resumed.arrays["weights"].dtype == straight.arrays["errors"].dtype == np.float32
    size = (tmp_path / FILE_NAME).stat().st_size
    assert size < 17 * len(half.arrays["entries"])  # 4 for the entry, 4 its weight, 8 its errors
