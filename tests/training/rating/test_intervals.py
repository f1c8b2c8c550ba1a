"""Intervals of match scores against textbook intervals and players of known strength."""

from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from scipy.stats import t as student

from tests.training.rating.simulated import league, pairs, record
from training.rating.intervals import TAIL, opening_clusters, score, score_match

SIMULATIONS = 1500
# Draws (of what is possible), correlation within a pair, expected scores as Black and as White.
PLAYERS = {
    "equal, independent": (0.0, 0.0, (0.5, 0.5)),
    "equal, three games in four drawn": (0.75, 0.0, (0.5, 0.5)),
    "the opening decides": (0.5, -0.8, (0.6, 0.4)),
    "the pair hangs together": (0.5, 0.8, (0.65, 0.55)),
    "first move": (0.3, -0.5, (0.75, 0.55)),
    "much stronger": (0.5, 0.5, (0.9, 0.88)),
    "hardly ever beaten": (0.5, 0.0, (0.97, 0.97)),
}


def simulate(players, openings, simulations):
    draws, correlation, expected = PLAYERS[players]
    rng = np.random.default_rng(43)
    points = pairs(expected, draws, correlation, simulations * openings, rng)
    return points.reshape(simulations, 2 * openings), np.mean(expected)


@pytest.mark.parametrize("players", PLAYERS)
def test_intervals_cover_at_their_nominal_rate(players):
    simulated, truth = simulate(players, 43, SIMULATIONS)
    numbers = np.repeat(np.arange(43), 2)
    covered = [
        found.low <= truth <= found.high for found in (score(some, numbers) for some in simulated)
    ]
    assert 0.93 <= np.mean(covered) <= (0.975 if players == "hardly ever beaten" else 0.97)


@pytest.mark.parametrize("players", PLAYERS)
def test_intervals_of_few_openings_are_conservative(players):
    simulated, truth = simulate(players, 8, SIMULATIONS)
    numbers = np.repeat(np.arange(8), 2)
    found = [score(some, numbers) for some in simulated]
    assert np.mean([some.low <= truth <= some.high for some in found]) >= 0.93


def test_independent_games_without_draws_have_wilsons_interval():
    points = np.repeat([1, 0], [700, 300])
    found = score(points, np.arange(1000))
    wilson = binomtest(700, 1000).proportion_ci(0.95, "wilson")
    assert (found.low, found.high) == pytest.approx((wilson.low, wilson.high), abs=2e-4)
    few = score([1, 1, 1, 1, 0], np.arange(5))  # 0.3 above 1/2, with a standard error of 1/4
    assert few.los == pytest.approx(student.cdf(0.3 / 0.25, 4))


def test_bounds_of_a_perfect_score_are_exact_in_openings():
    found = score(np.ones(86), np.repeat(np.arange(43), 2))
    exact = binomtest(43, 43).proportion_ci(0.95, "exact")
    assert (found.low, found.high) == pytest.approx((exact.low, 1))
    assert found.low == pytest.approx(0.918, abs=0.001)
    assert found.los == pytest.approx(1 - 0.5**43)
    lost = score(np.zeros(86), np.repeat(np.arange(43), 2))
    assert (lost.low, lost.high) == pytest.approx((0, 1 - exact.low))
    assert lost.los == pytest.approx(0.5**43)


@pytest.mark.parametrize("pair", [(0.5, 0.5), (1, 0)])
def test_identical_openings_have_an_interval_of_positive_width(pair):
    found = score(pair * 43, np.repeat(np.arange(43), 2))
    assert (found.mean, found.los) == (0.5, 0.5)
    assert found.high - found.mean == pytest.approx(found.mean - found.low)
    assert found.high - found.low == pytest.approx(1 - 0.025 ** (1 / 43))


results = st.lists(
    st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=4), min_size=1, max_size=30
)


@given(results)
def test_interval_contains_its_mean_and_agrees_with_superiority(openings):
    numbers = np.repeat(np.arange(len(openings)), [len(points) for points in openings])
    points = np.array(list(chain(*openings)))
    found = score(points, numbers)
    assert 0 <= found.low <= found.mean <= found.high <= 1
    assert found.low < found.high
    assert found.mean == pytest.approx((found.wins + found.draws / 2) / len(points))
    assert found.wins + found.draws + found.losses == len(points)
    # The superiority speaks for a player exactly when the interval does.
    for bound, speaks in (
        (found.low - 0.5, found.los - (1 - TAIL)),
        (0.5 - found.high, TAIL - found.los),
    ):
        assert bound * speaks > 0 or min(abs(bound), abs(speaks)) < 1e-9
    turned = score(1 - points, numbers)
    assert turned.low == pytest.approx(1 - found.high)
    assert turned.los == pytest.approx(1 - found.los)


def test_match_is_extracted_from_a_league():
    games = league([100, 0, -100], 5, np.random.default_rng(1)).games
    found = score_match(games, 0, 2)
    black = [game.score for game in games if (game.black, game.white) == (0, 2)]
    white = [1 - game.score for game in games if (game.black, game.white) == (2, 0)]
    assert found.as_black.mean == np.mean(black)
    assert found.as_white.mean == np.mean(white)
    assert found.total.mean == np.mean(black + white)
    turned = score_match(games, 2, 0)
    assert turned.as_black.mean == pytest.approx(1 - found.as_white.mean)
    assert turned.total.los == pytest.approx(1 - found.total.los)


def test_games_of_an_opening_are_one_cluster():
    games = [record(0, 1, name, 0.5) for name in ("a", "b", "a", "c")]
    games.append(record(1, 0, "b", 1.0))
    assert opening_clusters(games).tolist() == [0, 1, 0, 2, 1]
    assert opening_clusters([]).tolist() == []


def test_games_of_a_single_opening_are_clustered_in_pairs():
    games = [
        record(0, 1, "", 1.0, ["11-15"]),
        record(0, 1, "", 1.0, ["11-16"]),
        record(1, 0, "", 0.0, ["9-13"]),
        record(1, 0, "", 0.5, ["9-14"]),
        record(2, 0, "", 0.5, ["9-14"]),
    ]
    assert opening_clusters(games).tolist() == [0, 1, 0, 1, 2]


def test_repeated_games_of_an_opening_add_no_evidence():
    pair = [record(0, 1, "", 1.0, ["11-15"]), record(1, 0, "", 0.0, ["9-13"])]
    assert opening_clusters(pair * 500).tolist() == [0] * 1000
    once, often = score_match(pair, 0, 1).total, score_match(pair * 500, 0, 1).total
    assert (often.low, often.high) == (once.low, once.high) == pytest.approx((0.025, 1))
    assert often.wins == 1000


@pytest.mark.parametrize(("points", "clusters"), [([], []), ([1, 0], [1]), ([1, 0.7], [1, 2])])
def test_invalid_points_are_refused(points, clusters):
    with pytest.raises(ValueError, match="give points"):
        score(points, clusters)
