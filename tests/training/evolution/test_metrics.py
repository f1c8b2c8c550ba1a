"""Metrics of a generation against hand-made counts."""

import numpy as np
import pytest

from agents.baselines.material import Material
from agents.blondie.architecture import BLONDIE_1999, decode
from checkers_env.board import Board
from training.evolution.metrics import evaluator_metrics, population_metrics, sample_positions


@pytest.fixture(scope="module")
def positions():
    return sample_positions()


def test_population_metrics_equal_plain_counts():
    genomes, kings = np.array([[1.0, -3.0], [2.0, 0.0]]), np.array([1.0, 2.5])
    steps = np.array([[0.1, 0.2], [0.3, 0.6]])
    measured = population_metrics(genomes, kings, steps)
    assert measured == pytest.approx({"king/mean": 1.75, "step/mean": 0.3, "weight/mean": 1.5})


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


def test_evaluator_that_returns_nan_is_refused(positions):
    evaluator_metrics(Material(), positions)
    with pytest.raises(ValueError, match=r"Material evaluates [BW]:W.* as NaN, not -1 to 1"):
        evaluator_metrics(Material(np.nan), positions)
