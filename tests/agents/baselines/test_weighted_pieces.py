"""The weighted piece counter against a naive sum over the squares."""

import numpy as np
import pytest

from agents.baselines.weighted_pieces import weighted_pieces
from agents.evaluator import evaluate_position
from checkers_env.board import Board
from tests import oracle

WEIGHTS = np.random.default_rng(0).uniform(0.2, 2.0, 32)


def counted(weights, king, side, pieces):
    total = 0.0
    for square, piece in pieces.items():
        worth = king if piece.isupper() else 1.0
        seen = square if side == "b" else 33 - square
        total += weights[seen - 1] * (worth if piece.lower() == side else -worth)
    return total / (2 * np.abs(weights).sum() * max(1.0, abs(king)))


@pytest.mark.parametrize("king", [1.0, 1.7, 0.5, 3.0])
def test_value_is_the_sum_over_the_pieces(king):
    counter = weighted_pieces(WEIGHTS, king)
    rng = np.random.default_rng(1)
    for _ in range(100):
        _, pieces = oracle.random_position(rng)
        position = Board(oracle.write_fen("b", pieces)).position
        for view, side in enumerate("bw"):
            expected = counted(WEIGHTS, king, side, pieces)
            assert evaluate_position(counter, position, view) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("king", [-3.0, 0.0, 1.0, 5.0])
@pytest.mark.parametrize("weights", [np.ones(32), -WEIGHTS, np.zeros(32), np.eye(32)[7] * 1e30])
def test_evaluation_stays_below_a_won_game(weights, king):
    counter, rng = weighted_pieces(weights, king), np.random.default_rng(4)
    for _ in range(50):
        _, pieces = oracle.random_position(rng)
        position = Board(oracle.write_fen("b", pieces)).position
        assert -0.99 < evaluate_position(counter, position, 0) < 0.99


@pytest.mark.parametrize(
    ("weights", "king"), [(np.ones(31), 1.5), (np.full(32, np.nan), 1.5), (np.ones(32), np.inf)]
)
def test_invalid_weights_are_refused(weights, king):
    with pytest.raises(ValueError, match="32 finite weights and a finite king"):
        weighted_pieces(weights, king)
