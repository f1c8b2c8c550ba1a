"""The thesis's ratings against its printed tables and the formula step by step."""

import itertools

import numpy as np
import pytest

from training.rating import thesis_ratings
from training.rating.thesis_ratings import (
    MODES,
    START,
    final_ratings,
    grade,
    rate_match,
    rate_series,
    updated_rating,
)

# A third of the rows of Tables 4.7 to 7.23: the first player's wins, draws and losses, then what is
# printed: mean, SD and class of both. The first player here is the one that was rated first there.
PRINTED = {
    "4.7 Blondie24-RR, C0": (47, 26, 13, 1251.67, 25.76, "D", 1102.89, 25.06, "E"),
    "5.7 C100, Blondie24-RR": (22, 28, 36, 1113.61, 27.41, "E", 1168.74, 26.12, "E"),
    "6.4 C0, C5-tuple": (43, 23, 20, 1275.01, 28.06, "D", 1175.50, 27.06, "E"),
    "6.4 C10-RR, C5-tuple": (58, 15, 13, 1461.32, 26.83, "C", 1254.55, 26.16, "D"),
    "6.7 C10, C1-tuple": (47, 24, 15, 1280.62, 26.55, "D", 1138.90, 25.74, "E"),
    "6.9 C5-N0.01, C5-N0.0001": (44, 11, 31, 1447.86, 31.22, "C", 1393.70, 29.94, "D"),
    "6.14 C1-N0.001, C1-N0.01": (43, 14, 29, 1401.31, 30.64, "C", 1342.21, 29.40, "D"),
    "6.17 C1-N0.001, Blondie24-RR": (31, 31, 24, 1108.78, 27.25, "E", 1077.25, 26.11, "E"),
    "7.10 C0, C0-NPD": (59, 14, 13, 1481.25, 27.40, "C", 1267.42, 26.73, "D"),
    "7.10 C5-N0.001, -NPD": (60, 12, 14, 1512.50, 28.08, "C", 1301.35, 27.36, "D"),
    "7.14 C2Ply, C4Ply": (19, 27, 40, 1114.61, 27.17, "E", 1200.21, 25.88, "D"),
    "7.23 C10-4Ply, C10-1Ply": (56, 16, 14, 1437.24, 27.20, "C", 1245.47, 26.48, "D"),
}
EXCHANGED = {
    "5.6 C200, C0": (27, 31, 28, 1134.32, 28.14, "E", 1148.69, 26.87, "E"),
    "5.6 C100, C0": (30, 30, 26, 1175.19, 28.26, "E", 1173.69, 27.01, "E"),
    "5.6 C20, C0": (44, 22, 20, 1320.93, 28.69, "D", 1227.47, 27.63, "D"),
    "5.6 C10, C0": (51, 20, 15, 1424.95, 28.45, "C", 1288.49, 27.49, "D"),
}
TABLES = PRINTED | EXCHANGED
EXPLAINED = [("printed", row) for row in PRINTED] + [("exchanged", row) for row in EXCHANGED]


def rng(seed=2011):
    return np.random.default_rng(seed)


def slowly(scores, mode):
    """Return both ratings after some games of the first player, one step at a time."""
    ratings = {"first": START, "second": START}
    for score in scores:
        if mode == "exchanged":
            score = {1: 1, 0.5: 0, 0: 0.5}[score]
        drawn = 0.5 if mode == "written" else 0
        points = {1: (1, 0), 0.5: (drawn, drawn), 0: (0, 1)}[score]
        before = dict(ratings)
        ratings["first"] = step(before["first"], before["second"], points[0])
        opponent = before["first"] if mode == "written" else ratings["first"]
        ratings["second"] = step(before["second"], opponent, points[1])
    return ratings["first"], ratings["second"]


def step(rating, opponent, outcome):
    factor = 32 if rating < 2100 else 24 if rating < 2400 else 16
    return rating + factor * (outcome - 1 / (1 + 10 ** ((opponent - rating) / 400)))


@pytest.mark.parametrize(("mode", "row"), EXPLAINED)
def test_printed_ratings_are_reproduced(mode, row):
    *results, mean, sd, letter, other_mean, other_sd, other_letter = TABLES[row]
    assert (grade(mean), grade(other_mean)) == (letter, other_letter)
    found = rate_match(*results, rng(), mode=mode)
    assert found[0].mean == pytest.approx(mean, abs=3)
    assert found[1].mean == pytest.approx(other_mean, abs=3)
    assert found[0].sd == pytest.approx(sd, abs=1)
    assert found[1].sd == pytest.approx(other_sd, abs=1)


def test_bounds_of_classes_are_those_of_table_3_3():
    ratings = (-5, 199.9, 200, 1399.99, 1600, 1999, 2000, 2200, 2399.9, 2400)
    names = "J", "J", "I", "D", "B", "A", "Expert", "Master", "Master", "Senior Master"
    assert tuple(map(grade, ratings)) == names


def test_table_3_4_is_reproduced():
    expected = {  # 1957.84 is printed for 1934.16
        (1600, 1600): (1616, 1600, 1584),
        (1600, 1365): (1606.57, 1590.57, 1574.57),
        (1930, 1600): (1934.16, 1918.16, 1902.16),
        (1750, 2200): (1779.77, 1763.77, 1747.77),
        (2000, 1400): (2000.98, 1984.98, 1968.98),
        (2100, 2100): (2112, 2100, 2088),
        (1200, 2000): (1231.68, 1215.68, 1199.68),
    }
    for (rating, opponent), after in expected.items():
        assert updated_rating(rating, opponent, np.array([1, 0.5, 0])) == pytest.approx(
            after, abs=0.006
        )


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shares", [(0.4, 0.3, 0.3), (1, 0, 0), (0.95, 0.05, 0)])
def test_any_order_of_games_equals_the_formula_step_by_step(mode, shares):
    scores = rng().choice([1, 0.5, 0], p=shares, size=(3, 400))
    found = np.transpose(final_ratings(scores, mode))
    assert found == pytest.approx(np.array([slowly(some, mode) for some in scores]))


@pytest.mark.parametrize("mode", MODES)
def test_means_and_deviations_are_those_over_all_orders(monkeypatch, mode):
    monkeypatch.setattr(thesis_ratings, "ORDERINGS", 40_000)
    games = [1, 1, 0.5, 0, 0, 0]
    every = np.array([slowly(order, mode) for order in itertools.permutations(games)])
    found = rate_match(2, 1, 3, rng(), mode=mode)
    for rating, exact in zip(found, every.T, strict=True):
        assert rating.mean == pytest.approx(exact.mean(), abs=4 * exact.std() / 200)
        assert rating.sd == pytest.approx(exact.std(), rel=0.03)


def test_series_against_rated_opponents_equals_the_formula(monkeypatch):
    monkeypatch.setattr(thesis_ratings, "ORDERINGS", 40_000)
    monkeypatch.setattr(thesis_ratings, "START", 2090.0)
    scores, opponents = [1, 0.5, 0, 1, 1], [2350, 1900, 2500, 2600, 2380]

    def in_order(order):
        rating = 2090
        for game in order:
            rating = step(rating, opponents[game], scores[game])
        return rating

    every = np.array([in_order(order) for order in itertools.permutations(range(5))])
    found = rate_series(scores, opponents, rng())
    assert found.mean == pytest.approx(every.mean(), abs=4 * every.std() / 200)
    assert found.sd == pytest.approx(every.std(), rel=0.03)
    assert found.grade == "Expert"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rate_match(1, -1, 3, rng()), "1--1-3"),
        (lambda: rate_match(0, 0, 0, rng()), "0-0-0"),
        (
            lambda: rate_match(1, 1, 1, rng(), mode="thesis"),
            "'thesis'.*written, printed, exchanged",
        ),
        (lambda: final_ratings([1, 0.25]), "1, 0.5 or 0"),
        (lambda: rate_series([1, 0], [1500], rng()), "2 scores and 1 ratings"),
        (lambda: rate_series([], [], rng()), "0 scores"),
    ],
)
def test_invalid_matches_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
