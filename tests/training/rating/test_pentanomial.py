"""Pairs of games against plain counting; normalized Elo; the sequential test's error rates."""

import math
import statistics

import numpy as np
import pytest

from tests.training.rating.simulated import league, pairs, record
from training.rating.elo import elo_difference, expected_score
from training.rating.intervals import opening_clusters
from training.rating.pentanomial import (
    BOUND,
    count_pairs,
    games_until_decision,
    is_decided,
    likelihood_ratio,
    normalized_elo,
    pair_scores,
    sprt_sentence,
)


def match(*points):
    """Return games of player 0 as Black and as White, one opening a pair."""
    games = []
    for opening, (black, white) in enumerate(points):
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
    scores = [
        (one.score + 1 - other.score) / 2
        for one, other in zip(games[::2], games[1::2], strict=True)
    ]
    deviation = math.sqrt(2) * statistics.pstdev(scores)
    found = normalized_elo(games, 0, 1)
    expected = 800 / math.log(10) * (statistics.mean(scores) - 0.5) / deviation
    assert found.elo == pytest.approx(expected)
    assert found.low < found.elo < found.high
    turned = normalized_elo(games, 1, 0)
    assert (turned.elo, turned.low) == pytest.approx((-found.elo, -found.high))


def test_equal_pairs_and_no_pairs_have_none():
    assert normalized_elo(match((0.5, 0.5), (1, 0)), 0, 1) is None
    assert normalized_elo([record(0, 1, 0, 1.0)], 0, 1) is None


def test_published_test_of_256_games_is_reproduced():
    """Raw statistics of a test by the developers of the engine Monty (montytest.muzhen.org).

    Their exact ratio of likelihoods; without the two added pairs this approximation has -0.5596.
    """
    scores = np.repeat([0, 0.25, 0.5, 0.75, 1], [13, 37, 50, 25, 3])
    ratio = likelihood_ratio(scores, (0, elo_difference(0.50391)))
    assert ratio == pytest.approx(-0.53772, rel=0.02)
    assert pytest.approx(2.9444, abs=1e-4) == BOUND


def test_ratio_is_that_of_two_normal_densities():
    scores = [0.5, 1, 0.75, 0.25, 0.5, 0.5, 1]
    mean = sum(scores) / 7
    variance = sum((score - mean) ** 2 for score in [*scores, 0, 1]) / 9
    densities = [
        sum(-((score - expected_score(elo)) ** 2) / (2 * variance) for score in scores)
        for elo in (-10, 60)
    ]
    assert likelihood_ratio(scores, (-10, 60)) == pytest.approx(densities[1] - densities[0])
    assert likelihood_ratio([], (-10, 60)) == 0


@pytest.mark.parametrize(
    ("score", "count", "accepted"),
    [(0.5, 3, None), (1, 2, None), (1, 40, 50), (0, 40, 0), (0.5, 80, 0)],
)
def test_match_stops_at_the_first_clear_result(score, count, accepted):
    games = dict(enumerate(match(*[(score, score)] * count)))
    row = games_until_decision(games, (0, 50))
    assert is_decided(games, (0, 50)) == (accepted is not None)
    told = "neither" if accepted is None else f"{accepted:+g}"
    assert sprt_sentence(row, (0, 50)) == (
        f"Sequential test of leads of +0 and +50 Elo: {told} is accepted after {len(row)} games."
    )
    if accepted is None:
        assert len(row) == len(games)
    else:
        assert not is_decided(dict(enumerate(row[:-1])), (0, 50))
        del games[5]
        assert games_until_decision(games, (0, 50)) == row[:5]
        assert not is_decided(games, (0, 50))


def stopped(scores, leads):
    """Return the accepted lead of a match that is tested after each pair, and its length."""
    for length in range(1, len(scores) + 1):
        ratio = likelihood_ratio(scores[:length], leads)
        if abs(ratio) >= BOUND:
            return leads[ratio > 0], length
    return None, len(scores)


@pytest.mark.parametrize(("draws", "correlation"), [(0.0, 0.0), (0.7, -0.5), (0.6, 0.6)])
@pytest.mark.parametrize("leads", [(0, 100)])
def test_error_rates_stay_below_the_requested_ones(leads, draws, correlation):
    for truth, other in (leads, leads[::-1]):
        rng, expected = np.random.default_rng(5), expected_score(truth)
        points = pairs([expected] * 2, draws, correlation, 400 * 300, rng).reshape(400, 300, 2)
        found = [stopped(some.mean(axis=1), leads) for some in points]
        assert np.mean([accepted == other for accepted, _ in found]) < 0.05 + 0.025
        assert np.mean([accepted is None for accepted, _ in found]) < 0.01
        assert np.mean([length for _, length in found]) < 60


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
    assert pair_scores([*games, record(0, 2, "0", 1.0)], 0, 1) == pytest.approx(expected)


@pytest.mark.parametrize("leads", [(10, 10), (10, 0), (0, math.inf), (math.nan, 0)])
def test_leads_out_of_order_are_refused(leads):
    with pytest.raises(ValueError, match=f"elo0 must be below elo1, .*, not {leads[0]} and"):
        likelihood_ratio([0.5], leads)
