"""Claims and verdicts: effects, tests and the page."""

import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
from scipy import stats

from tests import ROOT
from training.experiments.champions import encode_champion, name_champion
from training.experiments.claim_text import tables_of
from training.experiments.claims import (
    MARGIN,
    Claim,
    exactly,
    finite,
    published_effect,
)
from training.experiments.effects import (
    advantage,
    climb,
    decided,
    fall,
    fewer_drawn,
    growth,
    late,
    levels,
    order,
    pieces_ahead,
    rating_difference,
    recent_reuse,
    red_advantage,
    rise,
    share_drawn,
    share_led,
    speed,
)
from training.experiments.inference import (
    Interval,
    benjamini_hochberg,
    difference_p,
    difference_power,
    equality_p,
    equality_power,
    evenness,
    match_interval,
    seeds_to_decide,
    spread_of_matches,
    spread_of_round_robin,
)
from training.experiments.jobs import Match, Player, Run
from training.experiments.own_claims import CHANGES, REASONS
from training.experiments.page import write_page, write_verdicts
from training.experiments.paper_claims import CLAIMS
from training.experiments.papers.thesis_ch4 import FIVE_WINS
from training.experiments.plan import EXPERIMENTS, Scope
from training.experiments.results import MatchResult, Origin, ResultStore, TrainingResult
from training.experiments.tables import RESULTS, SWAPPED, PlayerGame, Table, interval, row
from training.experiments.verdicts import (
    Measured,
    effects,
    is_own_start,
    jobs_of,
    judge,
    runs_of,
    verdicts,
)
from training.experiments.worker import Deadline, play, train


def games(results, reds=None, opening="9-13 22-18"):
    """Return games by their results; the player is red in every second one."""
    reds = [number % 2 == 0 for number in range(len(results))] if reds is None else reds
    return [PlayerGame(opening, red, it, 0, "") for red, it in zip(reds, results, strict=True)]


def run(seconds=1.0, processor="one", **curves):
    """Return a finished run with these curves."""
    lines = {name.replace("__", "/"): np.array(line, np.float32) for name, line in curves.items()}
    length = len(next(iter(lines.values()), ()))
    return TrainingResult((), np.arange(length), lines, {}, Origin(seconds, processor=processor))


# Effects, by hand


def ended(results, leads, opening="9-13 22-18"):
    """Return games that end with these leads in pieces."""
    both = zip(games(results, opening=opening), leads, strict=True)
    return [game._replace(difference=lead) for game, lead in both]


GAPS = [np.nan, 0, 0, 0, 0, 0, 0, 0, 0, 2, 4]
START = games("LL", opening="")  # the start position is no card
LED = [ended("WLDDDD", (-9, 9, 3, -1, 0, 2)) + ended("D", (1,), opening="")]
RED = [True, False, True, False]


@pytest.mark.parametrize(
    ("effect", "rows", "expected"),
    [
        (advantage, [games("WWDL") + START], 12.5),  # 2.5 of 4
        (advantage, [games("WW"), games("LD")], 12.5),
        (red_advantage, [games("WLWD", reds=RED)], 37.5),  # red: 1 + 1 + 1 + 0.5
        (red_advantage, [games("LWLD", reds=[not it for it in RED])], 37.5),
        (rating_difference, [games("WWWL")], 400 * np.log10(3)),
        (rating_difference, [games("WWWW")], 400 * np.log10(7)),  # half a point off
        (rating_difference, [ended("WDDDL", (0, 2, 1, -1, 0))], 400 * np.log10(3 / 2)),
        (order, [games(it) for it in ("LLLL", "LLLW", "LWWW", "LLWW")], 4 / 6),
        (growth, [games("WL"), games("LL"), games("WW")], 50),
        (decided, LED, 100 * 3.5 / 6 - 50),
        (share_drawn, LED, 100 * 4 / 6),
        (share_led, LED, 50),  # by 3 and by 2; not by 1
        (share_led, [games("WL")], np.nan),
        (fewer_drawn, [games("DD"), games("DL"), games("WL"), games("WD")], 50),
        (pieces_ahead, [ended("WW", it, opening="") for it in ((4, 2), (7, 4))], 2.5),
        (levels("curve/heuristic"), [run(curve__heuristic=GAPS), run(curve__heuristic=[1])], 2),
        (rise("curve/heuristic"), [run(curve__heuristic=GAPS)], 3),
        (fall("curve/heuristic"), [run(curve__heuristic=GAPS)], -3),
        (climb("curve/heuristic"), [run(curve__heuristic=GAPS)], 3),
        (late("curve/heuristic"), [run(curve__heuristic=GAPS)], 6 / 5),
        (late("curve/heuristic"), [run(curve__heuristic=[np.nan])], np.nan),
        (speed, [run(2.0), run(19.0)], np.log10(9.5)),
        (speed, [run(2.0, "one"), run(19.0, "other")], np.nan),
        (recent_reuse, [replace(run(), pool={"reused": np.array([0, 1, 1, 2, 4, 7, 5, 6])})], 4.5),
    ],
)
def test_effect_of_a_seed(effect, rows, expected):
    assert effect(rows) == pytest.approx(expected, nan_ok=True)


# Verdicts

SOME = Claim("a > b", "A beats b.", "somewhere", (row("c0", "hughes"),))  # in no paper
EQUAL = replace(SOME, kind="equal")


def word(claim, values):
    """Return the verdict on a claim that is alone in its family."""
    (verdict,) = judge([Measured(claim, tuple(values))])
    return verdict.word


def around(mean, half):
    """Return five values with this mean, whose 95 % interval is as wide on either side."""
    values = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    unit = stats.t.isf(0.025, 4) * stats.sem(values)
    return mean + values * half / unit


TEN_POINTS = replace(SOME, theirs=Interval(10.0, 4.0, 16.0))


@pytest.mark.parametrize(
    ("claim", "mean", "half", "expected"),
    [
        (SOME, 5, 4.99, "holds"),
        (SOME, 5, 5.01, "inconclusive"),
        (TEN_POINTS, 3.5, 1.51, "holds"),  # its upper end is just above half of 10
        (TEN_POINTS, 3.5, 1.49, "holds, much smaller"),
        (SOME, 1, 1.99, "equal"),
        (SOME, 1, 2.01, "inconclusive"),
        (SOME, -1, 1.99, "equal"),
        (SOME, -5, 4.99, "reversed"),
        (SOME, -5, 5.01, "inconclusive"),
        (replace(SOME, theirs=exactly(10.0)), -5, 4.99, "reversed"),
        (replace(SOME, theirs=Interval(10.0, -1.0, 21.0)), -6, 4.99, "reversed"),
        (replace(SOME, theirs=Interval(10.0, -1.0, 21.0)), -6, 5.01, "inconclusive"),
        (EQUAL, 1, 1.99, "equal"),
        (EQUAL, 1, 2.01, "inconclusive"),
        (EQUAL, 2, 0.5, "equal"),  # within the margin, though not 0
        (EQUAL, 3.5, 0.51, "inconclusive"),
        (EQUAL, 3.5, 0.49, "reversed"),
        (EQUAL, -3.5, 0.49, "reversed"),
        (replace(SOME, unit="pieces"), 0, 0.1, "inconclusive"),  # this unit has no margin
    ],
)
def test_each_word_is_reached_and_just_missed(claim, mean, half, expected):
    assert word(claim, around(mean, half)) == expected


def test_few_seeds_and_players_that_are_no_evidence_have_no_verdict():
    assert word(SOME, (5, 6)) is None
    (verdict,) = judge([Measured(SOME, (5.0, 6.0, 7.0), "they never changed")])
    assert verdict.word == "not tested"


def test_interval_and_p_values_are_students():
    values = [3.0, -1.0, 4.0, 1.5]
    (verdict,) = judge([Measured(SOME, tuple(values))])
    error = stats.sem(values)
    half = stats.t.ppf(0.975, 3) * error
    assert verdict.effect == pytest.approx((1.875, 1.875 - half, 1.875 + half))
    assert verdict.p == pytest.approx(2 * stats.t.sf(1.875 / error, 3))
    assert equality_p(values, MARGIN) == pytest.approx(2 * stats.t.sf((MARGIN - 1.875) / error, 3))


def test_identical_seeds_are_judged_by_the_sign_test():
    assert [difference_p([value] * 3) for value in (0, 5)] == [1, 1 / 4]
    assert [equality_p([value] * 3, MARGIN) for value in (0, 5)] == [1 / 4, 1]
    assert [word(SOME, [value] * 3) for value in (5, 0, -5)] == ["inconclusive"] * 3
    assert [word(SOME, [value] * 6) for value in (5, 0, -5)] == ["holds", "equal", "reversed"]


def test_families_are_corrected_by_benjamini_and_hochberg():
    """The four sorted p-values are multiplied by 4/1, 4/2, 4/3 and 4/4."""
    assert benjamini_hochberg([0.04, 0.01, 0.5, 0.02]) == pytest.approx([0.16 / 3, 0.04, 0.5, 0.04])
    claims = [replace(SOME, name=str(number), family="some") for number in range(4)]
    half = 4.99  # p is a little below 5 % for each
    weak = [Measured(claim, tuple(around(5, half))) for claim in claims]
    assert {it.word for it in judge(weak)} == {"holds"}  # four of four are no chance
    rest = [Measured(it.claim, tuple(around(5, 20))) for it in weak[1:]]
    found = judge([weak[0], *rest])
    assert {it.word for it in found} == {"inconclusive"}
    assert found[0].q == pytest.approx(4 * found[0].p)
    others = [replace(it, claim=replace(it.claim, family="other")) for it in rest]
    assert judge([weak[0], *others])[0].word == "holds"
    untested = [replace(it, untested="because") for it in rest]
    assert judge([weak[0], *untested])[0].word == "holds"  # no test, no correction


def test_power_is_the_share_of_samples_that_are_decided():
    rng = np.random.default_rng(0)
    samples = rng.normal(0, 2, (4000, 8))
    above = stats.ttest_1samp(samples, -MARGIN, axis=1, alternative="greater").pvalue
    below = stats.ttest_1samp(samples, MARGIN, axis=1, alternative="less").pvalue
    equal = np.maximum(above, below) <= 0.025
    assert [equality_p(each, MARGIN) <= 0.05 for each in samples[:100]] == equal[:100].tolist()
    assert equality_power(0, 2, 8, MARGIN) == pytest.approx(equal.mean(), abs=0.03)
    differ = stats.ttest_1samp(samples, -2, axis=1).pvalue <= 0.05
    assert [difference_p(each + 2) <= 0.05 for each in samples[:100]] == differ[:100].tolist()
    assert difference_power(2, 2, 8) == pytest.approx(differ.mean(), abs=0.03)


def test_seeds_to_decide_are_those_of_the_textbook():
    """At a power of 80 % one standard deviation takes ten samples, and half of one takes 34."""
    for effect, seeds in ((1.0, 10), (0.5, 34)):
        values = stats.zscore([1.0, 2.0, 3.0, 4.0, 5.0], ddof=1) + effect
        assert seeds_to_decide(values, 0) == seeds
    centred = stats.zscore([1.0, 2.0, 3.0, 4.0, 5.0], ddof=1)
    assert seeds_to_decide(centred, 0) is None  # no difference, and no margin
    needed = seeds_to_decide(centred, 0.5)
    assert equality_power(0, 1, needed, 0.5) >= 0.8 > equality_power(0, 1, needed - 1, 0.5)
    near = seeds_to_decide(centred + 0.7, 0.5, beyond=0.5)  # beyond the margin by 0.2
    assert near == seeds_to_decide(centred + 0.2, 0)


# The papers' own effects


def test_effects_of_the_papers_come_from_their_tables():
    claims = {claim.name: published_effect(claim) for claim in CLAIMS}
    lead = claims["blondie24-rr > c0"]  # 47 won, 26 drawn, 13 lost
    games = [1.0] * 47 + [0.5] * 26 + [0.0] * 13
    half = 100 * stats.t.isf(0.025, 85) * stats.sem(games)
    assert lead == pytest.approx((6000 / 86 - 50, 6000 / 86 - 50 - half, 6000 / 86 - 50 + half))
    assert claims["c5-n0.001 > c0"].mean == pytest.approx(100 * 51 / 86 - 50)  # printed as C0's
    assert claims["blondie24 by 311 points"] == pytest.approx((311.3, 50.3, 696.8), abs=0.1)
    steps = claims["blondie24-rr, growing steps"]  # 39-20-27 less 32-26-28
    assert steps.mean == pytest.approx(100 * (49 - 45) / 86)
    assert 0 in steps
    assert not finite(claims["Table 8.1"])
    assert claims["c0-common = blondie24-rr"] is None


def test_interval_of_a_short_match_is_that_of_clopper_and_pearson():
    found = stats.binomtest(12, 14).proportion_ci(method="exact")
    assert match_interval(12, 0, 2) == pytest.approx((12 / 14, found.low, found.high))
    assert match_interval(14, 0, 0).high == 1
    assert match_interval(0, 0, 14).low == 0


# Sameness


def test_evenness_is_the_chi_square_of_tosses():
    assert evenness([(30, 20), (10, 10), (0, 0)]) == (pytest.approx(2.0), 2)
    pairs = [(FIVE_WINS[i][j], FIVE_WINS[j][i]) for i in range(5) for j in range(i)]
    assert evenness(pairs).value == pytest.approx(1.6, abs=0.05)


def test_spread_finds_players_that_differ_and_spares_equals():
    rng = np.random.default_rng(1)
    players, cards = 6, 43
    ps = {0.0: [], 0.1: []}
    for gap, found in ps.items():
        strengths = gap * np.linspace(-1, 1, players)
        for _ in range(200):
            noise = np.triu(rng.normal(0, 0.3, (cards, players, players)), 1)
            lead = strengths[:, None] - strengths
            points = lead[..., None] + (noise - noise.swapaxes(1, 2)).transpose(1, 2, 0)
            found.append(spread_of_round_robin(points).p_uneven)
    assert np.mean(np.array(ps[0.0]) < 0.05) == pytest.approx(0.05, abs=0.04)
    assert np.mean(np.array(ps[0.1]) < 0.05) > 0.95
    same = rng.normal(0.1, 0.3, (200, 10, cards))
    rates = [spread_of_matches(points).p_uneven < 0.05 for points in same]
    assert np.mean(rates) == pytest.approx(0.05, abs=0.04)
    shifted = same[0] + np.linspace(-0.3, 0.3, 10)[:, None]
    assert spread_of_matches(shifted).p_uneven < 1e-4


# What the claims rest on


@pytest.fixture(scope="module")
def jobs_of_all_tables():
    return set(Scope(seeds=1).jobs(EXPERIMENTS.values()))


@pytest.mark.parametrize("claim", CLAIMS + REASONS + CHANGES, ids=lambda claim: claim.name)
def test_every_claim_uses_matches_of_the_tables(claim, jobs_of_all_tables):
    scope = Scope(seeds=1)
    jobs = jobs_of(claim, scope)
    assert jobs
    assert jobs <= jobs_of_all_tables
    linked = scope.jobs(tables_of(claim))
    assert jobs <= set(linked)  # the page links each claim to tables that show its games


def test_claims_have_names_and_families():
    claims = CLAIMS + REASONS + CHANGES
    assert len({claim.name for claim in claims}) == len(claims)
    assert all(claim.family for claim in claims)


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
PLAYED = replace(SOME, rows=(row("c1-n0.001", "c1-n0.01"),))
TINY = Table("tiny", "a tiny match", RESULTS, PLAYED.rows)


def test_incomplete_seeds_do_not_count(store):
    found = effects(PLAYED, SCOPE, store)
    assert len(found) == 2
    match = next(job for job in SCOPE.jobs([TINY]) if isinstance(job, Match))
    assert match.first == Player("c1-n0.001", seed=0)
    points = {"W": 1, "D": 0.5, "L": 0}
    played = store.result(match)
    shown = [points[it] for it in played.results[2:]]  # the first two are from the start position
    assert found[0] == 100 * np.mean(shown) - 50


def test_pages_show_the_available_results(store, tmp_path):
    asked = [EXPERIMENTS[name] for name in ("table-6.13", "skycak-2001")]
    write_page(tmp_path / "page.md", asked, SCOPE, store)
    write_verdicts(tmp_path / "verdicts.md", asked, SCOPE, store)
    page, told = ((tmp_path / f"{name}.md").read_text() for name in ("page", "verdicts"))
    claim = next(claim for claim in CLAIMS if claim.name == "c1-n0.001 > c1-n0.01")
    (verdict,) = verdicts([claim], SCOPE, store)
    line = next(line for line in told.splitlines() if claim.says in line)
    assert f"|  | {len(verdict.values)} |  |  | too few seeds |" in line
    assert any("0.0001" in line and "not yet played" in line for line in told.splitlines())
    assert "C10 > " not in told  # of matches that were not asked for
    assert "## table-6.13" in page
    assert claim.says in page.partition("## Drawn games")[2].partition("## ")[0]
    picture = ET.fromstring((tmp_path / "page" / "claims.svg").read_bytes())
    assert picture.tag.endswith("svg")
    assert "(page/claims.svg)" in page
    assert "curves.svg" not in page  # nothing is trained that it could show


# A page of invented records


class Invented:
    """Store of ten seeds in which Blondie24-RR beats C0 by 4 to 8 points of 86 games."""

    def result(self, job):
        if isinstance(job, Run):
            return None
        won = 47 + job.seed % 3 if job.first.seed == job.seed else 43
        results = ("W" * won).ljust(86, "L")
        if job.first.name == "c0":
            results = results.translate(SWAPPED)
        cards = tuple(f"card {number}" for number in range(43))
        return MatchResult(cards, results, (1,) * 86, (9,) * 86, {}, "", "", Origin(1.0))


def test_page_tells_theirs_and_ours(tmp_path):
    asked = [EXPERIMENTS["table-4.6"], EXPERIMENTS["table-4.1"]]
    write_verdicts(tmp_path / "verdicts.md", asked, Scope(), Invented())
    told = (tmp_path / "verdicts.md").read_text()
    assert "Verdicts on 1 claims: holds but much smaller 1." in told
    values = [100 * (47 + seed % 3) / 86 - 50 for seed in range(10)]
    line = next(line for line in told.splitlines() if line.startswith("| A round robin beats five"))
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert "; table-4.6)" in cells[0]
    assert cells[1:3] == ["19.8 [11.8, 27.7]", interval(values)]
    assert (cells[4], cells[7:]) == ("10", ["**holds, much smaller**", ""])
    same = told.partition("## Claims that players or runs are the same")[2]
    assert "1.6 on 10" in same


# Champions that never changed


def test_champion_of_the_first_generation_is_its_own_start(tmp_path):
    start = Run("c1-tuple", 0, 840, 0.01)
    regime = start.regime
    player = regime.champion(regime.init(0))
    for change, expected in ((0.0, True), (1.0, False)):
        genome = player.genome.copy()
        genome[3] += change
        content = encode_champion(player._replace(genome=genome), start, 8)
        name = name_champion(content)
        store = ResultStore(tmp_path / str(change))
        store.add(start, replace(run(x=[0.0]), champions=(name,), files={name: content}))
        assert is_own_start(start, store) == expected


def test_no_verdict_rests_on_a_champion_that_never_changed():
    """The records: a claim about players that are their own start is not tested."""
    store = ResultStore(ROOT / "results")
    scope = Scope()
    runs = {claim: runs_of(claim, scope) for claim in CLAIMS}
    starts = {it for it in set(chain(*runs.values())) if is_own_start(it, store)}
    resting = {claim.name for claim, several in runs.items() if starts.intersection(several)}
    untested = {it.claim.name for it in verdicts(CLAIMS, scope, store) if it.word == "not tested"}
    assert resting <= untested
