"""The thesis's ratings against its printed tables and the formula step by step."""

import itertools

import numpy as np
import pytest

from training.rating.thesis_ratings import (
    MODES,
    START,
    final_ratings,
    grade,
    rate_match,
    rate_series,
    updated_rating,
)

# Table: the first player's wins, draws and losses (Tables 4.6, 5.3, 5.4, 5.8 to 5.10, 6.2, 6.5,
# 6.8, 6.10, 6.13, 6.15, 7.5 to 7.8, 7.11 to 7.13, 7.16 to 7.18, 7.21, 7.22), then what is printed:
# mean, SD and class of both. The first player here is the one that was rated first there; with the
# first two rows of 6.17 it is the other one whose wins are printed.
PRINTED = {
    "4.7 Blondie24-RR, C0": (47, 26, 13, 1251.67, 25.76, "D", 1102.89, 25.06, "E"),
    "5.6 C1, C0": (20, 22, 44, 1190.20, 28.81, "E", 1288.07, 27.47, "D"),
    "5.7 C1, Blondie24-RR": (17, 16, 53, 1258.97, 28.38, "D", 1415.01, 27.15, "C"),
    "5.7 C100, Blondie24-RR": (22, 28, 36, 1113.61, 27.41, "E", 1168.74, 26.12, "E"),
    "5.7 C50, Blondie24-RR": (30, 17, 39, 1303.45, 30.02, "D", 1339.21, 28.67, "D"),
    "5.7 C20, Blondie24-RR": (31, 25, 30, 1194.45, 28.48, "E", 1187.32, 27.23, "E"),
    "6.4 C0, C5-tuple": (43, 23, 20, 1275.01, 28.06, "D", 1175.50, 27.06, "E"),
    "6.4 Blondie24-RR, C5-tuple": (47, 21, 18, 1321.18, 27.86, "D", 1195.76, 26.94, "E"),
    "6.4 C10, C5-tuple": (43, 23, 20, 1274.40, 28.05, "D", 1176.03, 27.04, "E"),
    "6.4 C10-RR, C5-tuple": (58, 15, 13, 1461.32, 26.83, "C", 1254.55, 26.16, "D"),
    "6.7 C0, C1-tuple": (46, 22, 18, 1303.47, 27.53, "D", 1180.63, 26.61, "E"),
    "6.7 Blondie24-RR, C1-tuple": (48, 21, 17, 1326.75, 27.43, "D", 1190.59, 26.56, "E"),
    "6.7 C10, C1-tuple": (47, 24, 15, 1280.62, 26.55, "D", 1138.90, 25.74, "E"),
    "6.7 C10-RR, C1-tuple": (58, 16, 12, 1447.89, 26.49, "C", 1235.57, 25.86, "D"),
    "6.9 C5-N0.001, C5-N0.0001": (45, 12, 29, 1438.72, 30.90, "C", 1370.54, 29.66, "D"),
    "6.9 C5-N0.01, C5-N0.0001": (44, 11, 31, 1447.86, 31.22, "C", 1393.70, 29.94, "D"),
    "6.12 C10, C5-N0.001": (37, 20, 29, 1291.06, 29.28, "D", 1255.27, 28.01, "D"),
    "6.12 C10-RR, C5-N0.001": (49, 16, 21, 1400.12, 29.40, "C", 1280.09, 28.37, "D"),
    "6.14 C1-N0.001, C1-N0.01": (43, 14, 29, 1401.31, 30.64, "C", 1342.21, 29.40, "D"),
    "6.14 C1-N0.01, C1-N0.0001": (40, 14, 32, 1389.33, 30.93, "D", 1353.43, 29.63, "D"),
    "6.17 C1-N0.001, C0": (39, 19, 28, 1314.14, 29.62, "D", 1265.35, 28.41, "D"),
    "6.17 C1-N0.001, Blondie24-RR": (31, 31, 24, 1108.78, 27.25, "E", 1077.25, 26.11, "E"),
    "6.17 C10, C1-N0.001": (38, 26, 22, 1210.30, 28.04, "D", 1140.79, 26.97, "E"),
    "6.17 C10-RR, C1-N0.001": (54, 12, 20, 1480.38, 30.07, "C", 1331.53, 29.06, "D"),
    "7.10 C0, C0-NPD": (59, 14, 13, 1481.25, 27.40, "C", 1267.42, 26.73, "D"),
    "7.10 Blondie24-RR, -NPD": (61, 16, 9, 1466.79, 25.05, "C", 1217.84, 24.60, "D"),
    "7.10 C10, C10-NPD": (55, 16, 15, 1431.34, 27.27, "C", 1251.00, 26.51, "D"),
    "7.10 C5-N0.001, -NPD": (60, 12, 14, 1512.50, 28.08, "C", 1301.35, 27.36, "D"),
    "7.14 C1Ply, C3Ply": (17, 24, 45, 1146.58, 27.40, "E", 1266.18, 26.14, "D"),
    "7.14 C1Ply, C4Ply": (13, 14, 59, 1264.11, 27.21, "D", 1474.99, 26.14, "C"),
    "7.14 C2Ply, C4Ply": (19, 27, 40, 1114.61, 27.17, "E", 1200.21, 25.88, "D"),
    "7.19 RR1Ply, RR3Ply": (20, 24, 42, 1160.17, 28.15, "E", 1252.67, 26.84, "D"),
    "7.19 RR1Ply, RR": (14, 15, 57, 1256.00, 27.71, "D", 1450.51, 26.58, "C"),
    "7.23 C10-4Ply, C10-1Ply": (56, 16, 14, 1437.24, 27.20, "C", 1245.47, 26.48, "D"),
    "7.23 C5-N0.001-4Ply, -1Ply": (51, 20, 15, 1354.60, 27.43, "D", 1196.35, 26.63, "E"),
}
EXCHANGED = {
    "5.6 C200, C0": (27, 31, 28, 1134.32, 28.14, "E", 1148.69, 26.87, "E"),
    "5.6 C100, C0": (30, 30, 26, 1175.19, 28.26, "E", 1173.69, 27.01, "E"),
    "5.6 C20, C0": (44, 22, 20, 1320.93, 28.69, "D", 1227.47, 27.63, "D"),
    "5.6 C10, C0": (51, 20, 15, 1424.95, 28.45, "C", 1288.49, 27.49, "D"),
}
# By no mode. The games of C10-RR and C0 add up to 84, and 5.7's C10 fits 43-28-15 to the point.
UNEXPLAINED = {
    "5.6 C50, C0": (40, 21, 25, 1197.75, 27.65, "E", 1110.59, 26.62, "E"),
    "5.7 C200, Blondie24-RR": (20, 29, 37, 1190.51, 26.64, "E", 1258.98, 25.38, "D"),
    "5.7 C10, Blondie24-RR": (43, 18, 25, 1205.58, 25.88, "D", 1082.35, 25.07, "E"),
    "5.12 C10-RR, C0": (49, 20, 15, 1405.51, 27.54, "C", 1264.71, 26.66, "D"),
    "5.12 C10-RR, Blondie24-RR": (41, 22, 23, 1250.44, 28.71, "D", 1171.91, 27.61, "E"),
    "5.12 C10-RR, C10": (35, 23, 28, 1229.99, 29.08, "D", 1188.00, 27.86, "E"),
    "6.9 C5-N0.001, C5-N0.01": (41, 15, 30, 1228.28, 30.75, "D", 1182.09, 29.48, "E"),
    "6.12 C0, C5-N0.001": (30, 10, 46, 1382.87, 29.97, "D", 1451.85, 31.23, "C"),
    "6.12 Blondie24-RR, C5-N0.001": (29, 19, 38, 1169.43, 28.32, "E", 1209.79, 29.54, "D"),
    "6.14 C1-N0.001, C1-N0.0001": (40, 20, 26, 1254.37, 29.12, "D", 1192.82, 27.95, "E"),
    "7.14 C1Ply, C2Ply": (28, 25, 33, 1188.94, 28.94, "E", 1206.24, 27.62, "D"),
    "7.14 C2Ply, C3Ply": (24, 31, 31, 1179.47, 26.85, "E", 1205.10, 25.60, "D"),
    "7.14 C3Ply, C4Ply": (27, 26, 33, 1176.02, 28.26, "E", 1205.26, 26.98, "D"),
    "7.19 RR1Ply, RR2Ply": (28, 26, 32, 1187.79, 28.86, "E", 1200.74, 27.55, "D"),
    "7.19 RR2Ply, RR3Ply": (29, 23, 34, 1194.62, 29.30, "E", 1212.04, 27.98, "D"),
    "7.19 RR2Ply, RR": (21, 19, 46, 1335.38, 28.72, "D", 1440.84, 27.43, "C"),
    "7.19 RR3Ply, RR": (27, 20, 39, 1348.31, 29.24, "D", 1495.93, 27.91, "C"),
}
TABLES = PRINTED | EXCHANGED | UNEXPLAINED
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
    *results, mean, sd, _, other_mean, other_sd, _ = TABLES[row]
    found = rate_match(*results, rng(), mode=mode)
    assert found[0].mean == pytest.approx(mean, abs=3)
    assert found[1].mean == pytest.approx(other_mean, abs=3)
    assert found[0].sd == pytest.approx(sd, abs=1)
    assert found[1].sd == pytest.approx(other_sd, abs=1)


@pytest.mark.parametrize("row", UNEXPLAINED)
def test_inconsistent_printed_ratings_are_reproduced_by_no_mode(row):
    wins, draws, losses, mean, _, _, other_mean, _, _ = TABLES[row]
    for mode in MODES:
        found = rate_match(wins, draws, losses, rng(), mode=mode)
        away = max(abs(found[0].mean - mean), abs(found[1].mean - other_mean))
        turned = rate_match(losses, draws, wins, rng(), mode=mode)
        other = max(abs(turned[1].mean - mean), abs(turned[0].mean - other_mean))
        assert min(away, other) > 5


def test_ratings_in_the_text_are_reproduced():
    found = rate_match(29, 35, 22, rng(), mode="printed")  # section 6.11
    assert found[0].mean == pytest.approx(1043.5, abs=3)
    assert found[1].mean == pytest.approx(1011.5, abs=3)


@pytest.mark.parametrize("row", TABLES)
def test_printed_classes_are_those_of_table_3_3(row):
    *_, mean, _, letter, other_mean, _, other_letter = TABLES[row]
    assert (grade(mean), grade(other_mean)) == (letter, other_letter)


@pytest.mark.parametrize(
    ("rating", "name"),
    [
        (-5, "J"),
        (199.9, "J"),
        (200, "I"),
        (1399.99, "D"),
        (1600, "B"),
        (1999, "A"),
        (2000, "Expert"),
        (2200, "Master"),
        (2399.9, "Master"),
        (2400, "Senior Master"),
    ],
)
def test_bounds_of_classes_are_those_of_table_3_3(rating, name):
    assert grade(rating) == name


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
def test_means_and_deviations_are_those_over_all_orders(mode):
    games = [1, 1, 0.5, 0, 0, 0]
    every = np.array([slowly(order, mode) for order in itertools.permutations(games)])
    found = rate_match(2, 1, 3, rng(), mode=mode, orderings=40_000)
    for rating, exact in zip(found, every.T, strict=True):
        assert rating.mean == pytest.approx(exact.mean(), abs=4 * exact.std() / 200)
        assert rating.sd == pytest.approx(exact.std(), rel=0.03)


def test_series_against_rated_opponents_equals_the_formula():
    scores, opponents = [1, 0.5, 0, 1, 1], [2350, 1900, 2500, 2600, 2380]

    def in_order(order):
        rating = 2090
        for game in order:
            rating = step(rating, opponents[game], scores[game])
        return rating

    every = np.array([in_order(order) for order in itertools.permutations(range(5))])
    found = rate_series(scores, opponents, rng(), start=2090, orderings=40_000)
    assert found.mean == pytest.approx(every.mean(), abs=4 * every.std() / 200)
    assert found.sd == pytest.approx(every.std(), rel=0.03)
    assert found.grade == "Expert"


def test_literal_formula_puts_every_winner_a_class_above():
    found = rate_match(44, 0, 42, rng())
    assert [one.grade for one in found] == ["B", "C"]
    assert found[0].mean + found[1].mean == pytest.approx(2 * START)


def test_matches_whose_order_does_not_matter_have_no_deviation():
    drawn, won = rate_match(0, 86, 0, rng()), rate_match(86, 0, 0, rng())
    assert drawn == ((1600, 0), (1600, 0))
    assert won[0].sd == won[1].sd == 0


def test_equal_seeds_give_equal_ratings():
    assert rate_match(47, 26, 13, rng()) == rate_match(47, 26, 13, rng())
    assert rate_match(47, 26, 13, rng()) != rate_match(47, 26, 13, rng(1))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rate_match(1, -1, 3, rng()), "1--1-3"),
        (lambda: rate_match(0, 0, 0, rng()), "0-0-0"),
        (
            lambda: rate_match(1, 1, 1, rng(), mode="thesis"),
            "'thesis'.*written, printed, exchanged",
        ),
        (lambda: rate_match(1, 1, 1, rng(), orderings=1), "orderings must be at least 2, not 1"),
        (lambda: final_ratings([1, 0.25]), "1, 0.5 or 0"),
        (lambda: rate_series([1, 0], [1500], rng()), "2 scores and 1 ratings"),
        (lambda: rate_series([], [], rng()), "0 scores"),
    ],
)
def test_invalid_matches_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
