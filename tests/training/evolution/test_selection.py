"""Truncation selection with random ties."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest

from training.evolution.tournament import best

ROUNDS, ERRORS = 6000, 5


def test_best_scores_come_first():
    scores = np.array([3.0, -10.0, 5.0, 0.5, -2.0])
    for count in range(1, 6):
        chosen = best(scores, count, np.random.default_rng(count))
        assert list(chosen) == [2, 0, 3, 4, 1][:count]


@pytest.mark.parametrize("scores", [np.zeros(30), np.arange(30) % 4 - 7.0])
def test_no_member_survives_twice(scores):
    for seed in range(20):
        chosen = best(scores, 15, np.random.default_rng(seed))
        assert len(set(chosen)) == 15
        left = np.delete(scores, chosen)
        assert list(scores[chosen]) == sorted(scores[chosen], reverse=True)
        assert left.max() <= scores[chosen].min()


def test_every_order_of_equal_scores_has_the_same_probability():
    rng = np.random.default_rng(0)
    scores = [0.0, 4.0, 0.0, -1.0, 0.0]
    orders = Counter(tuple(best(scores, 4, rng)) for _ in range(ROUNDS))
    assert set(orders) == {(1, *order) for order in permutations((0, 2, 4))}
    for count in orders.values():
        assert abs(count - ROUNDS / 6) < ERRORS * np.sqrt(ROUNDS * 5 / 36)


def test_equal_scores_at_the_cut_survive_with_equal_probability():
    rng = np.random.default_rng(1)
    survivors = Counter(int(best([1, 0, 0, 0, 0], 2, rng)[1]) for _ in range(ROUNDS))
    assert set(survivors) == {1, 2, 3, 4}
    for count in survivors.values():
        assert abs(count - ROUNDS / 4) < ERRORS * np.sqrt(ROUNDS * 3 / 16)


def test_scores_stay_unchanged():
    scores = np.array([1.0, 2.0, 2.0])
    best(scores, 2, np.random.default_rng(0))
    assert list(scores) == [1.0, 2.0, 2.0]
