"""Mutation: statistics of many samples against the papers."""

import numpy as np
import pytest

from training.evolution.mutation import KING_RULES, mutate
from training.evolution.state import Population

MEMBERS, DRAWS = 100, 100_000
ERRORS = 5  # standard errors that an estimate may be off


def population(size, king=2.0, seed=0):
    rng = np.random.default_rng(seed)
    steps = 10 ** rng.uniform(-4, 1, (MEMBERS, size))
    return Population(rng.uniform(-0.2, 0.2, (MEMBERS, size)), steps, np.full(MEMBERS, king))


def assert_standard_normal(values):
    count = values.size
    assert abs(np.mean(values)) < ERRORS / np.sqrt(count)
    assert abs(np.std(values) - 1) < ERRORS / np.sqrt(2 * count)
    for bound, share in ((1, 0.682689), (2, 0.954500), (3, 0.997300)):
        error = np.sqrt(share * (1 - share) / count)
        assert abs(np.mean(np.abs(values) < bound) - share) < ERRORS * error


def kings(rule, king, seed=1):
    return KING_RULES[rule](np.full(DRAWS, king), np.random.default_rng(seed))


@pytest.mark.parametrize(("weight_count", "tau"), [(1741, 0.109468), (5046, 0.083897)])
def test_steps_change_log_normally_and_weights_by_the_new_steps(weight_count, tau):
    parents = population(weight_count + 1)
    offspring = mutate(parents, weight_count, "fixed", np.random.default_rng(2))
    steps = np.log(offspring.steps / parents.steps) / tau
    moves = (offspring.genomes - parents.genomes) / offspring.steps
    assert_standard_normal(steps)
    assert_standard_normal(moves)
    assert abs(np.mean(steps * moves)) < ERRORS / np.sqrt(steps.size)
    for draws in (steps, moves):
        for neighbours in (draws[:, 1:] * draws[:, :-1], draws[1:] * draws[:-1]):
            assert abs(np.mean(neighbours)) < ERRORS / np.sqrt(neighbours.size)


@pytest.mark.parametrize("rule", KING_RULES)
def test_parents_stay_unchanged(rule):
    parents, untouched = population(50), population(50)
    offspring = mutate(parents, 49, rule, np.random.default_rng(3))
    np.testing.assert_equal(vars(parents), vars(untouched))
    for name, values in vars(offspring).items():
        assert values.shape == getattr(parents, name).shape
        assert values.dtype == np.float64
        assert not np.shares_memory(values, getattr(parents, name))


def test_equal_generators_make_equal_offspring():
    first, second, other = (
        mutate(population(20), 19, "lognormal", np.random.default_rng(seed)) for seed in (4, 4, 5)
    )
    np.testing.assert_equal(vars(first), vars(second))
    for name, values in vars(other).items():
        assert not np.array_equal(values, getattr(first, name))


def test_log_normal_kings_are_clamped():
    drawn = kings("lognormal", 2.0)
    assert (drawn.min(), drawn.max()) == (1.0, 3.0)
    # P(K' <= 1) = P(N <= -sqrt(2) ln 2), P(K' < 2) = 1/2, P(K' < 3) = P(N < sqrt(2) ln 1.5)
    for bound, share in ((1.0 + 1e-12, 0.163479), (2.0, 0.5), (3.0 - 1e-12, 0.716818)):
        error = np.sqrt(share * (1 - share) / DRAWS)
        assert abs(np.mean(drawn < bound) - share) < ERRORS * error


@pytest.mark.parametrize(
    ("king", "shares"),
    [
        (1.5, {1.4: 1 / 3, 1.5: 1 / 3, 1.6: 1 / 3}),
        (1.0, {1.0: 2 / 3, 1.1: 1 / 3}),
        (3.0, {2.9: 1 / 3, 3.0: 2 / 3}),
        (2.95, {2.85: 1 / 3, 2.95: 1 / 3, 3.0: 1 / 3}),
    ],
)
def test_kings_change_by_tenths(king, shares):
    values, counts = np.unique(kings("tenths", king), return_counts=True)
    np.testing.assert_allclose(values, list(shares), rtol=0, atol=1e-12)
    for count, share in zip(counts, shares.values(), strict=True):
        assert abs(count / DRAWS - share) < ERRORS * np.sqrt(share * (1 - share) / DRAWS)


def test_fixed_kings_stay_unchanged():
    assert set(kings("fixed", 2.0)) == {2.0}
