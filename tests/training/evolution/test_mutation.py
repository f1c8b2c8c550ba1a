"""Mutation: statistics of many samples against the papers."""

import numpy as np
import pytest

from training.evolution.mutation import KING_RULES

DRAWS = 100_000
ERRORS = 5  # standard errors that an estimate may be off


def kings(rule, king, seed=1):
    return KING_RULES[rule](np.full(DRAWS, king), np.random.default_rng(seed))


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
