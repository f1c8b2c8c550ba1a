"""Nguyen's crossover."""

from collections import Counter

import numpy as np
import pytest

from agents.blondie.architecture import NGUYEN
from training.evolution.crossover import crossover

SIZE = 4102
NODES = [list(range(92 * node, 92 * node + 92)) for node in range(40)]
NODES += [list(range(3680 + 41 * node, 3680 + 41 * node + 41)) for node in range(10)]
ERRORS = 5


def changed(child, parent):
    return set(np.flatnonzero(child != parent).tolist())


def test_crossover_swaps_the_dominant_weights_of_one_node():
    rng = np.random.default_rng(2)
    nodes, rounds = Counter(), 2000
    for _ in range(rounds):
        first, second = rng.uniform(-1, 1, (2, SIZE))
        lead = rng.choice([-3.0, 3.0])
        one, other = crossover(NGUYEN, first, second, lead, 0.75, rng)
        places = changed(one, first)
        [node] = [node for node, row in enumerate(NODES) if places and places <= set(row)]
        leader = first if lead > 0 else second
        assert places == {place for place in NODES[node] if abs(leader[place]) > 0.75}
        assert changed(other, second) == places
        swapped = sorted(places)
        np.testing.assert_array_equal(one[swapped], second[swapped])
        np.testing.assert_array_equal(other[swapped], first[swapped])
        nodes[node] += 1
    assert set(nodes) == set(range(50))
    error = np.sqrt(rounds * 0.02 * 0.98)
    assert all(abs(count - rounds / 50) < ERRORS * error for count in nodes.values())


def test_biases_are_swapped_too_and_weights_at_the_threshold_are_not():
    for at, size in ((91, 40), (3680 + 40, 10)):
        step = 92 if size == 40 else 41
        biases = [at + step * node for node in range(size)]
        first, second = np.full((2, SIZE), [[0.75], [0.5]])
        first[biases] = -0.7500001
        seen = set()
        for seed in range(400):
            rng = np.random.default_rng(seed)
            one, _ = crossover(NGUYEN, first, second, 1.0, 0.75, rng)
            seen |= changed(one, first)
        assert seen == set(biases)


def test_parent_with_more_points_leads_and_ties_are_random():
    rounds, led = 400, Counter()
    for seed in range(rounds):
        for lead in (2.0, -0.5, 0.0):
            rng = np.random.default_rng(seed)
            first, second = rng.uniform(0.8, 0.9, SIZE), rng.uniform(0.1, 0.2, SIZE)
            one, _ = crossover(
                NGUYEN, first, second, lead, 0.75, rng
            )  # nothing of the second is dominant
            led[lead, bool(changed(one, first))] += 1
    assert led[2.0, True] == led[-0.5, False] == rounds
    assert abs(led[0.0, True] - rounds / 2) < ERRORS * np.sqrt(rounds / 4)


def test_dominance_threshold_is_an_option_and_parents_stay_unchanged():
    rng = np.random.default_rng(4)
    first, second = rng.uniform(-1, 1, (2, SIZE))
    before = first.copy(), second.copy()
    for dominant, share in ((0.0, 1.0), (0.5, 0.5), (1.0, 0.0)):
        swapped = [
            len(changed(crossover(NGUYEN, first, second, 1.0, dominant, rng)[0], first))
            for _ in range(100)
        ]
        assert sum(swapped) == pytest.approx(share * 100 * (0.8 * 92 + 0.2 * 41), rel=0.15)
    np.testing.assert_array_equal([first, second], before)
