"""Pentanomial counts against plain counting, and normalized Elo against its definition."""

import math
import statistics

import numpy as np
import pytest

from tests.training.rating.simulated import league, record
from training.rating.pentanomial import count_pairs, normalized_elo


def match(*pairs):
    """Return games of player 0 as Black and as White, one opening a pair."""
    games = []
    for opening, (black, white) in enumerate(pairs):
        games += [record(0, 1, opening, black), record(1, 0, opening, 1 - white)]
    return games


def test_each_pair_counts_once_by_its_points():
    games = match((0, 0), (0, 0.5), (0.5, 0), (0.5, 0.5), (1, 0), (0, 1), (1, 0.5), (1, 1))
    assert count_pairs(games, 0, 1).tolist() == [1, 2, 3, 1, 1]
    assert count_pairs(games, 1, 0).tolist() == [1, 1, 3, 2, 1]


def test_rounds_of_an_opening_are_pairs_of_their_own():
    games = [*match((1, 1)), *match((0, 0.5)), record(0, 1, 0, 1.0), record(2, 0, 0, 1.0)]
    assert count_pairs(games, 0, 1).tolist() == [0, 1, 0, 0, 1]
    assert count_pairs(games, 1, 2).tolist() == [0] * 5


def test_normalized_elo_is_the_score_in_standard_deviations_of_a_game():
    rng = np.random.default_rng(1)
    games = list(league([60, 0], 43, rng).games)
    pairs = [
        (one.score + 1 - other.score) / 2
        for one, other in zip(games[::2], games[1::2], strict=True)
    ]
    deviation = math.sqrt(2) * statistics.pstdev(pairs)
    found = normalized_elo(games, 0, 1)
    expected = 800 / math.log(10) * (statistics.mean(pairs) - 0.5) / deviation
    assert found.elo == pytest.approx(expected)
    assert found.low < found.elo < found.high
    turned = normalized_elo(games, 1, 0)
    assert (turned.elo, turned.low) == pytest.approx((-found.elo, -found.high))


def test_interval_covers_the_true_value():
    rng, covered = np.random.default_rng(2), 0
    truth = normalized_elo(league([40, 0], 5_000, rng).games, 0, 1).elo
    for _ in range(200):
        found = normalized_elo(league([40, 0], 43, rng).games, 0, 1)
        covered += found.low <= truth <= found.high
    assert 0.92 <= covered / 200 <= 0.98


def test_equal_pairs_and_no_pairs_have_none():
    assert normalized_elo(match((0.5, 0.5), (1, 0)), 0, 1) is None
    assert normalized_elo([record(0, 1, 0, 1.0)], 0, 1) is None
