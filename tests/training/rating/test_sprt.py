"""The sequential test: a published example, a slow formula, error rates."""

import math

import numpy as np
import pytest

from tests.training.rating.simulated import league, pairs, record
from training.rating.clusters import opening_clusters
from training.rating.elo import elo_difference, expected_score
from training.rating.sprt import pair_scores, sprt


def test_published_test_of_256_games_is_reproduced():
    """Raw statistics of a test by the developers of the engine Monty (montytest.muzhen.org).

    Their exact ratio of likelihoods; without the two added pairs this approximation has -0.5596.
    """
    scores = np.repeat([0, 0.25, 0.5, 0.75, 1], [13, 37, 50, 25, 3])
    found = sprt(scores, 0, elo_difference(0.50391))
    assert found.ratio == pytest.approx(-0.53772, rel=0.02)
    assert (found.lower, found.upper) == pytest.approx((-2.9444, 2.9444), abs=1e-4)
    assert (found.pairs, found.decision) == (128, "")


def test_ratio_is_that_of_two_normal_densities():
    scores = [0.5, 1, 0.75, 0.25, 0.5, 0.5, 1]
    mean = sum(scores) / 7
    variance = sum((score - mean) ** 2 for score in [*scores, 0, 1]) / 9
    densities = [
        sum(-((score - expected_score(elo)) ** 2) / (2 * variance) for score in scores)
        for elo in (-10, 60)
    ]
    found = sprt(scores, -10, 60, alpha=0.01, beta=0.1)
    assert found.ratio == pytest.approx(densities[1] - densities[0])
    assert (found.lower, found.upper) == (math.log(0.1 / 0.99), math.log(0.9 / 0.01))


def test_test_stops_on_clear_results_only():
    assert sprt([], 0, 50).decision == ""
    assert sprt([], 0, 50).ratio == 0
    assert sprt([0.5] * 3, 0, 50).decision == ""
    assert sprt([1] * 2, 0, 50).decision == ""
    assert sprt([1] * 40, 0, 50).decision == "elo1"
    assert sprt([0] * 40, 0, 50).decision == "elo0"
    assert sprt([0.5] * 80, 0, 50).decision == "elo0"


def stopped(scores, elo0, elo1):
    """Return the decision of a match that is tested after each pair, and its length."""
    for length in range(1, len(scores) + 1):
        found = sprt(scores[:length], elo0, elo1)
        if found.decision:
            return found.decision, length
    return "", len(scores)


@pytest.mark.parametrize(
    ("draws", "correlation"), [(0.0, 0.0), (0.6, 0.0), (0.7, -0.5), (0.6, 0.6), (0.9, 0.0)]
)
@pytest.mark.parametrize(("elo0", "elo1"), [(0, 100), (-60, 60)])
def test_error_rates_stay_below_the_requested_ones(elo0, elo1, draws, correlation):
    wrong = {elo0: "elo1", elo1: "elo0"}
    for truth, other in wrong.items():
        rng = np.random.default_rng(5)
        expected = expected_score(truth)
        matches = pairs([expected] * 2, draws, correlation, 400 * 300, rng).reshape(400, 300, 2)
        found = [stopped(match.mean(axis=1), elo0, elo1) for match in matches]
        assert np.mean([decision == other for decision, _ in found]) < 0.05 + 0.025
        assert np.mean([decision == "" for decision, _ in found]) < 0.01
        assert np.mean([length for _, length in found]) < 60


def test_pairs_are_extracted_from_a_league():
    games = league([0, 100, 50], 4, np.random.default_rng(1)).games
    expected = []
    for opening in "0123":
        scores = [
            g.score if g.black == 1 else 1 - g.score
            for g in games
            if g.opening == opening and {g.black, g.white} == {0, 1}
        ]
        expected.append(sum(scores) / 2)
    assert pair_scores(games, 1, 0) == expected
    assert pair_scores(games, 0, 1) == [1 - score for score in expected]


def test_incomplete_pairs_do_not_count():
    games = [record(0, 1, "a", 1.0), record(0, 1, "b", 0.0), record(1, 0, "a", 0.5)]
    assert pair_scores(games, 0, 1) == [0.75]
    assert pair_scores(games[:2], 0, 1) == []
    assert pair_scores([], 0, 1) == []


@pytest.mark.parametrize("openings", [1, 3, 40])
def test_scores_of_pairs_equal_those_of_a_loop(openings):
    rng = np.random.default_rng(openings)
    games = [
        record(*rng.permutation(2).tolist(), str(rng.integers(openings)), rng.integers(3) / 2)
        for _ in range(60)
    ]
    groups, expected = opening_clusters(games), []
    for group in range(groups.max() + 1):
        met = [game for game, its in zip(games, groups, strict=True) if its == group]
        black = [game.score for game in met if game.black == 0]
        white = [1 - game.score for game in met if game.white == 0]
        if black and white:
            expected.append((np.mean(black) + np.mean(white)) / 2)
    assert pair_scores(games, 0, 1) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sprt([0.5], 10, 10), "elo0 must be below elo1, .* not 10 and 10"),
        (lambda: sprt([0.5, 1.5], 0, 10), "between 0 and 1"),
        (lambda: sprt([float("nan")], 0, 10), "between 0 and 1"),
        (lambda: sprt([0.5], 0, 10, alpha=0.0), "alpha and beta must .* not 0.0 and 0.05"),
        (lambda: sprt([0.5], 0, 10, beta=0.5), "alpha and beta must .* not 0.05 and 0.5"),
    ],
)
def test_invalid_bounds_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
