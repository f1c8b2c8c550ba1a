"""Metrics of a generation against hand-made counts."""

import numpy as np
import pytest

from agents.baselines.material import Material
from agents.blondie.architecture import BLONDIE_1999, decode
from agents.match_kernel import DRAW, Result
from checkers_env.board import Board
from checkers_env.movegen import BLACK, WHITE
from checkers_env.state import MOVE_LIMIT, NO_PIECES
from training.evolution.metrics import (
    SAMPLE_GAMES,
    evaluator_metrics,
    population_metrics,
    sample_positions,
    tournament_metrics,
)


@pytest.fixture(scope="module")
def positions():
    return sample_positions()


def test_tournament_metrics_equal_plain_counts():
    results = [
        Result(BLACK, NO_PIECES, 40),
        Result(DRAW, MOVE_LIMIT, 200),
        Result(WHITE, NO_PIECES, 61),
        Result(DRAW, MOVE_LIMIT, 200),
    ]
    assert tournament_metrics(results, np.array([1.0, -4.0, 1.5])) == {
        "score/best": 1.5,
        "score/mean": -0.5,
        "games/draws": 0.5,
        "games/plies": 125.25,
    }


def test_population_metrics_equal_plain_counts():
    genomes, steps, kings = (
        np.array([[1.0, -3.0], [2.0, 0.0]]),
        np.array([[0.1, 0.2], [0.3, 0.6]]),
        np.array([1.0, 2.5]),
    )
    measured = population_metrics(genomes, kings, steps)
    assert measured == pytest.approx({"king/mean": 1.75, "step/mean": 0.3, "weight/mean": 1.5})


def test_spread_is_the_deviation_of_the_movers_values():
    fens = ["B:W21:B1,2", "W:W21:B1,2", "W:WK21:B1", "B:W21:B1"]
    boards = [Board(fen) for fen in fens]
    positions = [board.position for board in boards]
    spread = evaluator_metrics(Material(), positions)["champion/spread"]
    assert spread == pytest.approx(np.std([1, -1, 0.5, 0]) / 64)


def test_saturation_is_the_share_of_values_near_one():
    genome = np.zeros(BLONDIE_1999.genome_size)
    genome[-1] = 1.0  # tanh of the piece difference: beyond 0.99 from 3 pieces on
    fens = ["B:W21:B1,2,3,4", "W:W21:B1,2,3,4", "B:W21:B1,2,3", "W:W21:B1"]
    boards = [Board(fen) for fen in fens]
    positions = [board.position for board in boards]
    measured = evaluator_metrics(decode(BLONDIE_1999, genome, 2.0), positions)
    assert measured["champion/saturated"] == 0.5
    expected = np.std(np.tanh([3, -3, 2, 0]))
    assert measured["champion/spread"] == pytest.approx(expected, abs=1e-5)


def test_sample_of_positions_is_always_the_same(positions):
    assert sample_positions() == positions


def test_sample_has_positions_of_whole_legal_games(positions):
    boards = [Board.from_position(*position) for position in positions]
    games = 0
    for board, before in zip(boards, [*boards[1:], None], strict=True):
        if board == Board():
            games += 1
            continue
        reached = []
        for move in before.legal_moves:
            after = before.copy()
            after.push(move)
            reached.append(after)
        assert board in reached
    assert games == SAMPLE_GAMES
    assert {board.turn for board in boards} == {BLACK, WHITE}
    assert len(positions) > 200
    assert any(board.kings for board in boards)


def test_evaluator_that_returns_nan_is_refused(positions):
    evaluator_metrics(Material(), positions)
    with pytest.raises(ValueError, match=r"Material evaluates [BW]:W.* as NaN, not -1 to 1"):
        evaluator_metrics(Material(np.nan), positions)
