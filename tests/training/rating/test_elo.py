"""Elo ratings: closed forms, a slow fit, refits without an opening, known strengths; anchors."""

import dataclasses

import numpy as np
import pytest
from scipy.optimize import minimize

from tests.training.rating.simulated import league, record
from training.league.records import Entrant, League
from training.rating import elo as rating
from training.rating.elo import (
    ELO_PER_LOGIT,
    Anchor,
    elo_difference,
    expected_score,
    find_anchor,
    rate_league,
)
from training.rating.intervals import score_match

LADDER = np.array([250.0, 120, 0, -40, -90, -240])


def of(names, *games):
    entrants = tuple(Entrant(name, "none") for name in names)
    return League(entrants, {}, tuple(record(*game) for game in games))


def rng(seed=0):
    return np.random.default_rng(seed)


def fitted_slowly(games, players, prior):
    """Return ratings of mean 0 and the first move's value: by game, numeric gradients."""
    meetings = [frozenset((game.black, game.white)) for game in games]
    played = [sum(player in pair for pair in meetings) for player in range(players)]

    def loss(hundreds):
        *elo, first_move = 100 * hundreds
        total = np.mean(elo) ** 2
        for game, pair in zip(games, meetings, strict=True):
            expected = expected_score(elo[game.black] - elo[game.white] + first_move)
            total -= game.score * np.log(expected) + (1 - game.score) * np.log(1 - expected)
            one, other = pair
            # This game's part of the drawn games that are added, half of them with each colour.
            share = prior * (1 / played[one] + 1 / played[other]) / 2
            for away in (elo[one] - elo[other] + first_move, elo[one] - elo[other] - first_move):
                expected = expected_score(away)
                total -= share / 4 * (np.log(expected) + np.log(1 - expected))
        return total

    start = np.zeros(players + 1)
    return 100 * minimize(loss, start, method="BFGS", jac="3-point", options={"gtol": 1e-7}).x


def test_scale_is_that_of_the_logistic_formula():
    assert pytest.approx(173.718, abs=0.001) == ELO_PER_LOGIT
    assert expected_score(0) == 0.5
    assert expected_score(400) == pytest.approx(10 / 11)
    assert elo_difference(0.6) == pytest.approx(70.44, abs=0.005)
    assert elo_difference(np.array([0, 1])).tolist() == [-np.inf, np.inf]
    assert expected_score(elo_difference(0.123)) == pytest.approx(0.123)


@pytest.mark.parametrize("draws", [1e-6, 1, 10])
def test_match_has_its_closed_form(monkeypatch, draws):
    """The difference is the mean of that with either colour; the prior adds draws to both."""
    monkeypatch.setattr(rating, "PRIOR", draws)
    match = league([100, 0], 43, rng(), draws=0.6, first_move=50)
    rated, scores = rate_league(match), score_match(match.games, 0, 1)
    expected = [
        elo_difference((43 * part.mean + draws / 4) / (43 + draws / 2))
        for part in (scores.as_black, scores.as_white)
    ]
    assert rated.difference(0, 1).elo == pytest.approx(np.mean(expected), abs=1e-3)
    assert rated.elo == pytest.approx([rated.elo[0], -rated.elo[0]])


@pytest.mark.parametrize("prior", [1.0, 5.0])
def test_ratings_equal_a_slow_fit(monkeypatch, prior):
    monkeypatch.setattr(rating, "PRIOR", prior)
    games = league(LADDER, 3, rng(), first_move=60)
    some = dataclasses.replace(games, games=games.games[:70] + games.games[75:])
    *elo, _ = fitted_slowly(some.games, 6, prior)
    assert rate_league(some).elo == pytest.approx(np.array(elo), abs=0.05)


def test_errors_equal_those_of_refits_without_one_opening(monkeypatch):
    monkeypatch.setattr(rating, "PRIOR", 0.01)
    openings = 30
    games = league(LADDER, openings, rng(3), correlation=0.6, first_move=30)
    rated = rate_league(games)
    left_out = []
    for opening in range(openings):
        rest = tuple(game for game in games.games if game.opening != str(opening))
        left_out.append(rate_league(dataclasses.replace(games, games=rest)).elo)
    away = np.array(left_out) - np.mean(left_out, axis=0)
    jackknife = (openings - 1) / openings * away.T @ away
    assert np.diag(rated.covariance) == pytest.approx(np.diag(jackknife), rel=0.03)
    assert rated.covariance == pytest.approx(jackknife, abs=0.03 * jackknife.max())


CASES = {
    "openings decide": {"draws": 0.5, "correlation": -0.6},
    "pairs hang together": {"draws": 0.5, "correlation": 0.6},
}


@pytest.fixture(scope="module", params=CASES)
def simulated(request):
    """Return 120 leagues of six players; each pair plays 20 openings."""
    chance = rng(20)
    leagues = [
        league(LADDER, 20, chance, first_move=40, **CASES[request.param]) for _ in range(120)
    ]
    return [rate_league(some) for some in leagues]


def test_known_strengths_are_recovered(simulated):
    found = np.array([rated.elo for rated in simulated])
    error = found.std(axis=0, ddof=1) / np.sqrt(len(simulated))
    assert np.abs(found.mean(axis=0) - LADDER + LADDER.mean()).max() < 4 + 3 * error.max()
    spread = np.mean([np.sqrt(np.diag(rated.covariance)) for rated in simulated], axis=0)
    assert spread == pytest.approx(found.std(axis=0, ddof=1), rel=0.25)


def test_intervals_cover_at_their_nominal_rate(simulated):
    """1800 differences and 720 ratings; those of one league are correlated."""
    between = [
        (estimate.low <= LADDER[one] - LADDER[other] <= estimate.high)
        for rated in simulated
        for one in range(6)
        for other in range(one)
        for estimate in [rated.difference(one, other)]
    ]
    assert 0.93 <= np.mean(between) <= 0.97
    ratings = [
        estimate.low <= LADDER[player] - LADDER.mean() <= estimate.high
        for rated in simulated
        for player in range(6)
        for estimate in [rated.rating(player)]
    ]
    assert 0.93 <= np.mean(ratings) <= 0.97


def test_anchored_player_has_a_fixed_rating_without_error():
    games = league(LADDER, 10, rng())
    free, anchored = rate_league(games), rate_league(games, Anchor("player 2", 1600))
    assert anchored.rating(2) == (1600, 1600, 1600)
    assert anchored.elo - 1600 == pytest.approx(free.elo - free.elo[2])
    assert free.elo.mean() == pytest.approx(0)
    assert anchored.difference(0, 5) == pytest.approx(free.difference(0, 5))
    below = anchored.rating(4)
    assert (below.low - 1600, below.high - 1600) == pytest.approx(free.difference(4, 2)[1:])


def test_ratings_of_perfect_scores_are_finite():
    names = [str(number) for number in range(43)]
    games = [(0, 1, name, 1.0) for name in names] + [(1, 0, name, 0.0) for name in names]
    games += [(1, 2, name, 1.0) for name in names] + [(2, 1, name, 0.0) for name in names]
    rated = rate_league(of("abc", *games))
    assert rated.elo[0] - rated.elo[1] == pytest.approx(rated.elo[1] - rated.elo[2])
    best = rated.difference(0, 1)
    assert 700 < best.elo < 1100
    assert best.low > 300
    assert best.high - best.low > 400


@pytest.mark.parametrize(
    ("unrated", "message"),
    [
        (of("ab"), "at least two entrants"),
        (of("a", (0, 0, "", 1.0)), "at least two entrants"),
        (of("abcd", (0, 1, "", 1.0), (3, 2, "", 0.5)), "not met: a b; c d$"),
        (of("abc", (0, 1, "", 1.0)), "not met: a b; c$"),
    ],
)
def test_leagues_without_a_common_scale_are_refused(unrated, message):
    with pytest.raises(ValueError, match=message):
        rate_league(unrated)


ZERO = Entrant("material (depth 4)", "material", {"depth": 4})
DEEP = Entrant("material (depth 6)", "material", {"depth": 6})
OTHER = Entrant("blondie24 (depth 4)", "blondie24", {"depth": 4})


@pytest.mark.parametrize(
    ("text", "anchor"),
    [
        ("", Anchor("material (depth 4)", 0.0)),
        ("material@depth=6=1000", Anchor("material (depth 6)", 1000)),
        ("material (depth 6)=-5.5", Anchor("material (depth 6)", -5.5)),
        ("blondie24=1e3", Anchor("blondie24 (depth 4)", 1000)),
        ("blondie24@depth=4=0", Anchor("blondie24 (depth 4)", 0)),
    ],
)
def test_anchor_may_be_named_as_in_tables_or_on_the_command_line(text, anchor):
    assert find_anchor([OTHER, ZERO, DEEP], text) == anchor


FORM = "an anchor is NAME=ELO, such as blondie24=1000, with at most 100,000 "
AMBIGUOUS = "no single player is named .*: the players are "


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *((text, FORM) for text in ("material", "=5", "blondie24=", "blondie24=inf")),
        *((text, FORM) for text in ("blondie24=1e6", "blondie24=a")),
        *((text, AMBIGUOUS) for text in ("material=0", "strong=0", "blondie24@depth=6=0")),
    ],
)
def test_unknown_anchor_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        find_anchor([OTHER, ZERO, DEEP], text)
