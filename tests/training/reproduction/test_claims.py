"""Claims and verdicts: effects, tests and the page."""

import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from training.reproduction.claims import CHANGES, CLAIMS, MARGIN, REASONS, Claim
from training.reproduction.effects import (
    advantage,
    decided,
    fall,
    fewer_drawn,
    growth,
    late,
    levels,
    order,
    rating_difference,
    red_advantage,
    rise,
    share_drawn,
    share_led,
    speed,
)
from training.reproduction.jobs import Match, Player, Run
from training.reproduction.page import jobs_of, write_page
from training.reproduction.plan import EXPERIMENTS, Scope
from training.reproduction.results import Origin, ResultStore, TrainingResult
from training.reproduction.tables import RESULTS, PlayerGame, Table, row
from training.reproduction.verdicts import LEAST, doubtful, effects, judge, verdicts
from training.reproduction.worker import Deadline, play, train


def games(results, reds=None, opening="9-13 22-18"):
    """Return games by their results; the player is red in every second one."""
    reds = [number % 2 == 0 for number in range(len(results))] if reds is None else reds
    return [PlayerGame(opening, red, it, 0, "") for red, it in zip(reds, results, strict=True)]


def run(seconds=1.0, **curves):
    """Return a finished run with these curves."""
    lines = {name.replace("__", "/"): np.array(line, np.float32) for name, line in curves.items()}
    length = len(next(iter(lines.values()), ()))
    return TrainingResult((), np.arange(length), lines, {}, Origin(seconds))


# Effects, by hand


def test_advantage_is_the_mean_of_the_rows_above_one_half():
    start = games("LL", opening="")
    assert advantage([games("WWDL") + start]) == 12.5  # 2.5 of 4; the start position is no card
    assert advantage([games("WW"), games("LD")]) == pytest.approx(12.5)


def test_advantage_of_red_is_independent_of_the_player_named_first():
    mine = games("WLWD", reds=[True, False, True, False])  # red: 1 + 1 + 1 + 0.5
    theirs = games("LWLD", reds=[False, True, False, True])
    assert red_advantage([mine]) == red_advantage([theirs]) == 37.5


def test_rating_difference_is_logistic():
    assert rating_difference([games("WWWL")]) == pytest.approx(400 * np.log10(3))
    assert rating_difference([games("WWWW")]) == pytest.approx(
        400 * np.log10(7)
    )  # half a point off
    ended = zip(games("WDDDL"), (0, 2, 1, -1, 0), strict=True)  # by pieces: won, won, lost
    rows = [[game._replace(difference=difference) for game, difference in ended]]
    assert rating_difference(rows) == pytest.approx(400 * np.log10(3 / 2))


def test_order_is_kendalls_tau():
    rows = [games(results) for results in ("LLLL", "LLLW", "LWWW", "LLWW")]
    assert order(rows) == pytest.approx(4 / 6)  # of six pairs one is the wrong way round


def test_growth_compares_the_last_step_with_the_first():
    assert growth([games("WL"), games("LL"), games("WW")]) == 50


def test_curves_are_compared_at_their_ends_without_gaps():
    rising, flat = [np.nan, 0, 0, 0, 0, 0, 0, 0, 0, 2, 4], [1.0] * 10
    first, second = run(curve__heuristic=rising), run(curve__heuristic=flat)
    assert levels("curve/heuristic")([first, second]) == 2
    assert rise("curve/heuristic")([first]) == 3
    assert fall("curve/heuristic")([first]) == -3
    assert late("curve/heuristic")([first]) == pytest.approx(6 / 5)
    assert np.isnan(late("curve/heuristic")([run(curve__heuristic=[np.nan])]))


def test_adjudicated_games_count_for_the_player_ahead():
    ended = zip(games("WLDDDD", opening="9-13 22-18"), (-9, 9, 3, -1, 0, 2), strict=True)
    rows = [[game._replace(difference=difference) for game, difference in ended]]
    rows[0] += games("D", opening="")  # the start position is no card
    assert decided(rows) == pytest.approx(100 * 3.5 / 6 - 50)
    assert share_drawn(rows) == pytest.approx(100 * 4 / 6)
    assert share_led(rows) == 50  # by 3 and by 2; not by 1
    assert np.isnan(share_led([games("WL")]))


def test_fewer_draws_compares_the_second_half_of_the_rows():
    assert fewer_drawn([games("DD"), games("DL"), games("WL"), games("WD")]) == 50


def test_speed_is_the_decimal_logarithm_of_the_time_ratio():
    assert 10 ** speed([run(2.0), run(19.0)]) == pytest.approx(9.5)


# Verdicts

SOME = Claim("a > b", "A beats b.", "somewhere", (row("c1-n0.001", "c1-n0.01"),))


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ((5, 6, 7), "holds"),
        ((-5, 6, 7), "not shown"),
        ((-5, -6, -7), "reversed"),
        ((5, 6), None),
        ((50, 50, 50), "holds"),
        ((0, 0, 0), "not shown"),
    ],
)
def test_one_sided_claim_is_decided_by_the_side_of_its_bound(values, word):
    assert judge(SOME, values).word == word
    shifted = replace(SOME, bar=300.0)
    assert judge(shifted, [value + 300 for value in values]).word == word


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ((-1, 0, 1), "holds"),
        ((8, 9, 10), "not shown"),
        ((19, 20, 21), "reversed"),
        ((-19, -20, -21), "reversed"),
    ],
)
def test_equivalence_claim_is_decided_by_the_margin(values, word):
    assert judge(replace(SOME, kind="equal"), values).word == word


def test_interval_and_p_value_are_students():
    values = [3.0, -1.0, 4.0, 1.5]
    verdict = judge(SOME, values)
    error = stats.sem(values)
    half = stats.t.ppf(0.975, 3) * error
    assert (verdict.low, verdict.high) == pytest.approx((1.875 - half, 1.875 + half))
    assert verdict.p == pytest.approx(2 * stats.t.sf(1.875 / error, 3))
    equal = judge(replace(SOME, kind="equal"), values)
    assert equal.p == pytest.approx(stats.t.sf((MARGIN - 1.875) / error, 3))


@pytest.mark.parametrize(
    ("kind", "value", "p"), [("more", 0, 1), ("more", 5, 0), ("equal", 5, 0), ("equal", 50, 1)]
)
def test_identical_seeds_have_no_uncertainty(kind, value, p):
    assert judge(replace(SOME, kind=kind), [value] * 3).p == p


def test_false_positive_rate_is_one_in_forty():
    rng = np.random.default_rng(0)
    words = [judge(SOME, rng.normal(0, 9, 10)).word for _ in range(4000)]
    assert words.count("holds") == pytest.approx(100, abs=35)
    assert words.count("reversed") == pytest.approx(100, abs=35)
    assert LEAST <= 10


def test_claim_that_fails_the_multiple_test_is_doubtful():
    """The four sorted p-values are compared with 1/4, 2/4, 3/4 and 4/4 of 5 %."""
    some = judge(SOME, (5, 6, 7))
    surest, sure, unsure = (replace(some, p=p) for p in (0.01, 0.02, 0.04))
    not_shown = judge(SOME, (-5, 6, 7))
    waiting = judge(SOME, (5, 6))
    assert doubtful([unsure, not_shown, surest, waiting, sure]) == [unsure]
    assert doubtful([unsure, surest, waiting, sure]) == []
    backwards = replace(judge(SOME, (-5, -6, -7)), p=0.04)
    assert doubtful([backwards, not_shown]) == [backwards]
    assert doubtful([]) == doubtful([waiting]) == []


@pytest.mark.parametrize("sign", [1, -1])
def test_p_value_of_a_refuted_equivalence_is_measured_from_the_margin(sign):
    equal = replace(SOME, kind="equal")
    far, near = (judge(equal, [sign * (MARGIN + it) for it in by]) for by in ((5, 6, 7), (1, 3, 5)))
    just = replace(near, word="reversed", p=0.96)  # of its reversal it is 0.04
    assert (far.word, doubtful([far])) == ("reversed", [])
    assert doubtful([just]) == []
    assert doubtful([just, near]) == [just]


# What the claims rest on


@pytest.mark.parametrize("claim", CLAIMS + REASONS + CHANGES, ids=lambda claim: claim.name)
def test_every_claim_uses_matches_of_the_tables(claim):
    scope = Scope(seeds=1)
    jobs = jobs_of(claim, scope)
    assert jobs
    assert jobs <= set(scope.jobs(EXPERIMENTS.values()))


def test_claim_names_are_unique():
    claims = CLAIMS + REASONS + CHANGES
    assert len({claim.name for claim in claims}) == len(claims)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Return two seeds of a tiny match, and a third of which one player is not trained."""
    folder = tmp_path_factory.mktemp("claims")
    store = ResultStore(folder)
    for job in SCOPE.jobs([TINY]):
        if isinstance(job, Run) and (job.seed < 2 or job.preset == "c1-n0.01"):
            store.add(job, train(job, folder / job.title, Deadline()))
        elif isinstance(job, Match) and job.seed < 2:
            store.add(job, play(job, *store.champions(job), Deadline()))
    return store


SCOPE = Scope(seeds=3, scale=0.01)
TINY = Table("tiny", "a tiny match", RESULTS, SOME.rows)


def test_incomplete_seeds_do_not_count(store):
    found = effects(SOME, SCOPE, store)
    assert len(found) == 2
    match = next(job for job in SCOPE.jobs([TINY]) if isinstance(job, Match))
    assert match.first == Player("c1-n0.001", seed=0)
    points = {"W": 1, "D": 0.5, "L": 0}
    played = store.result(match)
    shown = [points[it] for it in played.results[2:]]  # the first two are from the start position
    assert found[0] == 100 * np.mean(shown) - 50


def test_page_shows_the_available_results(store, tmp_path):
    asked = [EXPERIMENTS[name] for name in ("table-6.13", "skycak-2001")]
    write_page(tmp_path / "page.md", asked, SCOPE, store)
    page = (tmp_path / "page.md").read_text()
    claim = next(claim for claim in CLAIMS if claim.name == "c1-n0.001 > c1-n0.01")
    (verdict,) = verdicts([claim], SCOPE, store)
    line = next(line for line in page.splitlines() if claim.says in line)
    assert f"| {len(verdict.values)} |" in line
    assert "too few seeds" in line
    other = next(line for line in page.splitlines() if "0.0001" in line and "not yet" in line)
    assert "|  | score - 50 % | 0 |" in other
    assert "## table-6.13" in page
    drawn = page.partition("## Drawn games")[2].partition("## ")[0]
    assert [claim.says in drawn for claim in CLAIMS if claim.says in page].count(True) == 1
    assert claim.says in drawn
    assert "C10 > " not in page  # of matches that were not asked for
    picture = ET.fromstring((tmp_path / "page" / "claims.svg").read_bytes())
    assert picture.tag.endswith("svg")
    assert "(page/claims.svg)" in page
    assert "curves.svg" not in page  # nothing is trained that it could show


def test_equal_results_make_equal_pages(store, tmp_path):
    for name in ("one", "two"):
        write_page(tmp_path / name / "page.md", [EXPERIMENTS["table-6.13"]], SCOPE, store)
    parts = ("page.md", "page/claims.svg")
    for part in parts:
        assert (tmp_path / "one" / part).read_bytes() == (tmp_path / "two" / part).read_bytes()
