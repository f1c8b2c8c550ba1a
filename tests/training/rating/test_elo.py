"""Elo ratings: closed forms, a slow fit, refits without an opening, known strengths."""

import dataclasses

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import spearmanr

from tests.training.rating.simulated import league, record
from training.league.records import Entrant, League
from training.rating.elo import ELO_PER_LOGIT, elo_difference, expected_score, rate_league
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
    assert expected_score(0) == 0.5
    assert expected_score(400) == pytest.approx(10 / 11)
    assert elo_difference(0.6) == pytest.approx(70.44, abs=0.005)
    assert elo_difference(np.array([0, 1])).tolist() == [-np.inf, np.inf]
    assert expected_score(elo_difference(0.123)) == pytest.approx(0.123)


def test_difference_of_two_players_is_that_of_their_score():
    games = league([100, 0], 43, rng(), draws=0.8)
    rated = rate_league(games, prior=1e-6, first_move=False)
    points = score_match(games.games, 0, 1).total
    assert rated.difference(0, 1).elo == pytest.approx(elo_difference(points.mean), abs=1e-3)
    assert rated.elo.tolist() == pytest.approx([rated.elo[0], -rated.elo[0]])


def test_prior_equals_a_number_of_draws():
    games = league([100, 0], 43, rng())
    points = score_match(games.games, 0, 1).total.mean * 86
    for draws in (1, 10):
        rated = rate_league(games, prior=draws, first_move=False)
        expected = elo_difference((points + draws / 2) / (86 + draws))
        assert rated.difference(0, 1).elo == pytest.approx(expected)


@pytest.mark.parametrize("prior", [1.0, 5.0])
def test_ratings_equal_a_slow_fit(prior):
    games = league(LADDER, 3, rng(), first_move=60)
    some = dataclasses.replace(games, games=games.games[:70] + games.games[75:])
    rated = rate_league(some, prior=prior)
    *elo, first_move = fitted_slowly(some.games, 6, prior)
    assert rated.elo == pytest.approx(np.array(elo), abs=0.05)
    assert rated.first_move.elo == pytest.approx(first_move, abs=0.05)


def test_nearly_without_a_prior_expected_scores_equal_the_scores():
    games = league(LADDER, 20, rng(), first_move=60)
    rated = rate_league(games, prior=1e-6)
    black, white = np.array([(game.black, game.white) for game in games.games]).T
    points = np.array([game.score for game in games.games])
    expected = expected_score(rated.elo[black] - rated.elo[white] + rated.first_move.elo)
    for player in range(len(LADDER)):
        surplus = (points - expected)[black == player].sum() - (points - expected)[
            white == player
        ].sum()
        assert surplus == pytest.approx(0, abs=1e-4)
    assert (points - expected).sum() == pytest.approx(0, abs=1e-4)


def test_errors_equal_those_of_refits_without_one_opening():
    openings = 30
    games = league(LADDER, openings, rng(3), correlation=0.6, first_move=30)
    rated = rate_league(games, prior=0.01)
    left_out = []
    for opening in range(openings):
        rest = tuple(game for game in games.games if game.opening != str(opening))
        left_out.append(rate_league(dataclasses.replace(games, games=rest), prior=0.01).elo)
    away = np.array(left_out) - np.mean(left_out, axis=0)
    jackknife = (openings - 1) / openings * away.T @ away
    assert np.diag(rated.covariance) == pytest.approx(np.diag(jackknife), rel=0.03)
    assert rated.covariance == pytest.approx(jackknife, abs=0.03 * jackknife.max())


def test_with_one_opening_errors_are_clustered_by_pairs_of_games():
    games = league([50, 0], 40, rng(4), correlation=-0.5)
    of_one_opening = tuple(
        dataclasses.replace(game, opening="", moves=(str(number),))
        for number, game in enumerate(games.games)
    )
    several, one = rate_league(games), rate_league(dataclasses.replace(games, games=of_one_opening))
    assert several.difference(0, 1) == pytest.approx(one.difference(0, 1))
    assert several.freedom == one.freedom == 39


CASES = {
    "independent": {"draws": 0.3},
    "drawn": {"draws": 0.8},
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
    assert np.mean([rated.first_move.elo for rated in simulated]) == pytest.approx(40, abs=4)
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


def test_superiority_of_equal_players_is_uniform():
    chance = rng(8)
    found = [
        rate_league(league([0, 0, 50], 20, chance, draws=0.6, correlation=0.4)).los(0, 1)
        for _ in range(400)
    ]
    for level in (0.05, 0.25, 0.5, 0.75, 0.95):
        assert np.mean(np.array(found) < level) == pytest.approx(level, abs=0.06)


def test_superiority_agrees_with_the_interval():
    rated = rate_league(league(LADDER, 10, rng()), confidence=0.9)
    for one in range(6):
        assert rated.los(one, one) == 0.5
        for other in range(one):
            both = rated.los(one, other), rated.los(other, one)
            assert sum(both) == pytest.approx(1)
            assert (both[1] > 0.95) == (rated.difference(other, one).low > 0)


def test_anchored_player_has_a_fixed_rating_without_error():
    games = league(LADDER, 10, rng())
    free, anchored = rate_league(games), rate_league(games, anchor=("player 2", 1600))
    assert anchored.rating(2) == (1600, 1600, 1600)
    assert anchored.elo - 1600 == pytest.approx(free.elo - free.elo[2])
    assert free.elo.mean() == pytest.approx(0)
    assert anchored.difference(0, 5) == pytest.approx(free.difference(0, 5))
    below = anchored.rating(4)
    assert (below.low - 1600, below.high - 1600) == pytest.approx(free.difference(4, 2)[1:])


def test_order_of_entrants_and_games_does_not_matter():
    games = league(LADDER, 6, rng(), first_move=30)
    renamed = tuple(
        dataclasses.replace(game, black=5 - game.black, white=5 - game.white)
        for game in reversed(games.games)
    )
    one, other = rate_league(games), rate_league(dataclasses.replace(games, games=renamed))
    assert other.elo[::-1] == pytest.approx(one.elo)
    assert other.covariance[::-1, ::-1] == pytest.approx(one.covariance)


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
    assert rated.los(0, 1) > 0.999


@pytest.mark.parametrize("scores", [(0.5, 0.5), (1.0, 0.0)])
def test_drawn_match_has_an_error(scores):
    """Every pair of games is 1-1."""
    names = [str(number) for number in range(43)]
    games = [(0, 1, name, scores[0]) for name in names] + [
        (1, 0, name, 1 - scores[1]) for name in names
    ]
    rated = rate_league(of("ab", *games))
    assert rated.elo == pytest.approx(np.zeros(2), abs=1e-6)
    assert rated.difference(0, 1).high > 2


def test_one_game_has_a_very_wide_interval():
    rated = rate_league(of("ab", (0, 1, "", 1.0)))
    between = rated.difference(0, 1)
    assert 0 < between.elo < 200
    assert between.low < -400
    assert 0.5 < rated.los(0, 1) < 0.8


def test_players_who_never_met_are_compared_through_others():
    chance = rng(2)
    games = tuple(
        game
        for game in league([300, 0, -300], 200, chance).games
        if {game.black, game.white} != {0, 2}
    )
    entrants = tuple(Entrant(name, "none") for name in "abc")
    rated = rate_league(League(entrants, {}, games))
    between = rated.difference(0, 2)
    assert between.elo == pytest.approx(600, abs=80)
    assert between.low < 600 < between.high
    assert between.high - between.low > rated.difference(0, 1).high - rated.difference(0, 1).low


def test_in_a_round_robin_the_order_is_that_of_the_scores():
    games = league(LADDER, 4, rng(11), draws=0.9)
    points = [
        sum(
            g.score if g.black == player else 1 - g.score
            for g in games.games
            if player in (g.black, g.white)
        )
        for player in range(6)
    ]
    assert spearmanr(points, rate_league(games, first_move=False).elo).statistic == pytest.approx(1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rate_league(of("ab")), "at least two entrants"),
        (lambda: rate_league(of("a", (0, 0, "", 1.0))), "at least two entrants"),
        (lambda: rate_league(of("abcd", (0, 1, "", 1.0), (3, 2, "", 0.5))), "not met: a b; c d$"),
        (lambda: rate_league(of("abc", (0, 1, "", 1.0))), "not met: a b; c$"),
        (
            lambda: rate_league(of("ab", (0, 1, "", 1.0)), anchor=("c", 0)),
            "one entrant of .*'a', 'b'.*not 'c'",
        ),
        (
            lambda: rate_league(of("aa", (0, 1, "", 1.0)), anchor=("a", 0)),
            "name of one entrant of .*, not 'a'",
        ),
        (
            lambda: rate_league(of("ab", (0, 1, "", 1.0)), prior=0),
            "prior must be above 0 games, not 0",
        ),
        (
            lambda: rate_league(of("ab", (0, 1, "", 1.0)), confidence=95),
            "confidence must be .*, not 95",
        ),
    ],
)
def test_invalid_leagues_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_one_logit_is_173_7_points_of_elo():
    assert pytest.approx(173.718, abs=0.001) == ELO_PER_LOGIT
