"""Claims and verdicts: effects, tests and the page."""

import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from tests import ROOT
from training.experiments.claims import CLAIMS, PAPER_CLAIMS, Claim, read_seeds, read_theirs
from training.experiments.crossed import crossed
from training.experiments.effects import EFFECTS, share_drawn, share_led
from training.experiments.inference import (
    Interval,
    benjamini_hochberg,
    independent,
    match_interval,
    spread_of_matches,
    spread_of_round_robin,
)
from training.experiments.jobs import Match, Player, Run
from training.experiments.measures import MEASURES, PlayerGame, score
from training.experiments.page import cells, write_page, write_verdicts
from training.experiments.plan import Scope, outcome_of
from training.experiments.results import MatchResult, Origin, ResultStore, TrainingResult
from training.experiments.tables import EXPERIMENTS, Table, read_tsv, row
from training.experiments.verdicts import (
    Measured,
    choices,
    effects,
    jobs_of,
    judge,
    measure,
    planned_jobs,
    players_of,
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


def timed(each):
    """Return a finished run of four points, the first of which compiles."""
    clock = (0.0, *(60 + each * np.arange(1, 4)))
    return replace(run(x=[0.0] * 4), origin=Origin(clock[-1], clock, "one"))


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
        ("", [games("WWDL") + START], 12.5),  # 2.5 of 4
        ("", [games("WW"), games("LD")], 12.5),
        ("start", [games("WWWW") + games("WD", opening="")], 25),
        ("played-out", [[it._replace(played_out="W") for it in games("DL")]], 50),
        ("red", [games("WLWD", reds=RED)], 37.5),  # red: 1 + 1 + 1 + 0.5
        ("red", [games("LWLD", reds=[not it for it in RED])], 37.5),
        ("rating", [games("WWWL")], 400 * np.log10(3)),
        ("rating", [games("WWWW")], 400 * np.log10(7)),  # half a point off
        ("rating", [ended("WDDDL", (0, 2, 1, -1, 0))], 400 * np.log10(3 / 2)),
        ("order", [games(it) for it in ("LLLL", "LLLW", "LLWW", "LWWW")], 75),
        ("order", [games(it) for it in ("LLWW", "LLLL", "LWWW")], 25),  # only the ends count
        ("gain", [games("WL"), games("LL"), games("WW")], 50),
        ("pieces-decide", LED, 100 * 3.5 / 6 - 50),
        (share_drawn, LED, 100 * 4 / 6),
        (share_led, LED, 50),  # by 3 and by 2; not by 1
        (share_led, [games("WL")], np.nan),
        ("fewer-drawn", [games("DD"), games("DL"), games("WL"), games("WD")], 50),
        ("drawn-lead", LED, 1),  # of 3, -1, 0 and 2
        ("pieces", [START + ended("WW", it) for it in ((4, 2), (7, 4))], 2.5),
        ("levels curve/heuristic", [run(curve__heuristic=GAPS), run(curve__heuristic=[1])], 2),
        ("rise curve/heuristic", [run(curve__heuristic=GAPS)], 3),
        ("fall curve/heuristic", [run(curve__heuristic=GAPS)], -3),
        ("climb curve/heuristic", [run(curve__heuristic=GAPS)], 3),
        ("late curve/heuristic", [run(curve__heuristic=GAPS)], 6 / 5),
        ("late curve/heuristic", [run(curve__heuristic=[np.nan])], np.nan),
        ("speed", [timed(2.0), timed(19.0)], np.log10(9.5)),
        ("speed", [timed(0.0), timed(2.0)], np.nan),
        ("speed", [timed(2.0), replace(timed(19.0), origin=Origin(0, (), "other"))], np.nan),
        ("reuse", [replace(run(), pool={"reused": np.array([0, 1, 1, 2, 4, 7, 5, 6])})], 4.5),
        ("untrained", [replace(run(), start={"games": (3, 2, 1)})], 100 / 6),
        ("untrained", [run()], np.nan),
    ],
)
def test_effect_of_a_seed(effect, rows, expected):
    of = EFFECTS[effect].of if isinstance(effect, str) else effect
    assert of(rows) == pytest.approx(expected, nan_ok=True)


# Verdicts

SOME = Claim("", "a > b", "A beats b.", "in no paper", (row("c0", "hughes"),), (), EFFECTS[""])
EQUAL = replace(SOME, kind="equal")


def judged(claim, values):
    """Return the finding and the verdict on a claim that is alone in its family."""
    (verdict,) = judge([measured(claim, values)])
    return verdict.finding, verdict.label


def measured(claim, values):
    return Measured(claim, independent(values), str(len(values)))


def around(mean, half):
    """Return five values with this mean, whose 95 % interval is as wide on either side."""
    values = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    unit = stats.t.isf(0.025, 4) * stats.sem(values)
    return mean + values * half / unit


TEN_POINTS = replace(SOME, theirs=Interval(10.0, 4.0, 16.0))
TIMES = replace(SOME, effect=EFFECTS["speed"])


@pytest.mark.parametrize(
    ("claim", "mean", "half", "finding", "label"),
    [
        (SOME, 5, 4.99, "leads", "confirmed"),
        (SOME, 5, 5.01, "undecided", "undecided"),
        (TEN_POINTS, 3.5, 1.51, "leads", "confirmed"),  # its upper end is just above half of 10
        (TEN_POINTS, 3.5, 1.49, "leads", "confirmed, smaller"),
        (SOME, 1, 0.99, "no difference", "refuted"),  # above 0, and within the margin
        (SOME, 0.5, 1.49, "no difference", "refuted"),
        (SOME, 0.5, 1.51, "undecided", "undecided"),
        (SOME, -5, 4.99, "trails", "refuted"),
        (SOME, -5, 5.01, "undecided", "undecided"),
        (EQUAL, -1, 0.99, "no difference", "confirmed"),
        (EQUAL, 1, 1.01, "undecided", "undecided"),
        (EQUAL, 2.5, 0.51, "leads", "undecided"),  # perhaps within the margin
        (EQUAL, 2.5, 0.49, "leads", "refuted"),
        (EQUAL, -2.5, 0.49, "trails", "refuted"),
        (TIMES, 0.02, 0.07, "no difference", "refuted"),  # up to a factor of 1.23
        (TIMES, 0.02, 0.08, "undecided", "undecided"),
    ],
)
def test_each_word_is_reached_and_just_missed(claim, mean, half, finding, label):
    assert judged(claim, around(mean, half)) == (finding, label)


def test_few_seeds_and_players_that_are_no_evidence_have_no_verdict():
    assert judged(SOME, (5, 6)) == judged(SOME, [np.nan]) == (None, None)
    untestable = replace(SOME, untestable="they never changed")
    assert judged(untestable, (5.0, 6.0, 7.0)) == (None, "not testable")


def test_p_and_q_are_of_the_test_that_decides():
    values = [3.0, -1.0, 4.0, 1.5]
    difference, equality = 1.875 / stats.sem(values), (2 - 1.875) / stats.sem(values)
    (one,), (other,) = judge([measured(SOME, values)]), judge([measured(EQUAL, values)])
    assert one.p == one.q == pytest.approx(2 * stats.t.sf(difference, 3))
    assert other.p == other.q == pytest.approx(2 * stats.t.sf(equality, 3))
    (same,) = judge([measured(SOME, around(0, 1))])
    assert same.finding == "no difference"
    assert same.p == pytest.approx(independent(around(0, 1)).equality_p(2))


def test_identical_seeds_are_judged_by_the_sign_test():
    assert [independent([value] * 3).difference_p for value in (0, 5)] == [1, 1 / 4]
    assert [judged(SOME, [value] * 3)[0] for value in (5, 0, -5)] == ["undecided"] * 3
    found = [judged(SOME, [value] * 6)[0] for value in (5, 0, -5)]
    assert found == ["leads", "no difference", "trails"]


def test_families_are_corrected_by_benjamini_and_hochberg():
    """The four sorted p-values are multiplied by 4/1, 4/2, 4/3 and 4/4."""
    assert benjamini_hochberg([0.04, 0.01, 0.5, 0.02]) == pytest.approx([0.16 / 3, 0.04, 0.5, 0.04])
    claims = [replace(SOME, name=str(number), family="some") for number in range(4)]
    weak = [measured(claim, around(5, 4.99)) for claim in claims]  # p is a little below 5 %
    assert {it.finding for it in judge(weak)} == {"leads"}  # four of four are no chance
    rest = [measured(it.claim, around(5, 20)) for it in weak[1:]]
    found = judge([weak[0], *rest])
    assert {it.finding for it in found} == {"undecided"}
    assert found[0].q == pytest.approx(4 * found[0].p)
    for change in ({"family": "other"}, {"untestable": "because"}):  # no test, no correction
        others = [replace(it, claim=replace(it.claim, **change)) for it in rest]
        assert judge([weak[0], *others])[0].finding == "leads"


# The papers' own effects


def test_effects_of_the_papers_come_from_their_tables():
    theirs = {claim.name: claim.theirs for claim in CLAIMS}
    games = [1.0] * 47 + [0.5] * 26 + [0.0] * 13
    half = 100 * stats.t.isf(0.025, 85) * stats.sem(games)
    lead = 6000 / 86 - 50
    assert theirs["blondie24-rr > c0"] == pytest.approx((lead, lead - half, lead + half))
    assert theirs["blondie24 by 311 points"] == pytest.approx((311.3, 50.3, 696.8), abs=0.1)
    steps = theirs["blondie24-rr, growing steps"]  # 39-20-27 less 32-26-28
    assert steps.mean == pytest.approx(100 * (49 - 45) / 86)
    assert 0 in steps
    assert theirs["Table 8.1"] is None
    assert read_theirs("3 2", EFFECTS["pieces"]) == pytest.approx((2.5, -3.85, 8.85), abs=0.01)
    assert read_theirs("100", EFFECTS["speed"]) == (2, -np.inf, np.inf)
    assert [*map(read_seeds, ("", "2", "3-5"))] == [((), 0), ((0, 1), 0), ((3, 4, 5), 0)]
    assert read_seeds("3+2") == ((0, 1, 2, 3, 4), 2)


def test_figures_of_claims_are_those_of_the_tables():
    """A claim on one match has the games won, drawn and lost that its table prints."""
    checked = 0
    for line in read_tsv("claims"):
        rows, results = line["rows"].split("; "), line["theirs"].split()
        for table in line["tables"].split():
            if EXPERIMENTS[table].measure is not MEASURES["results"] or len(results) != len(rows):
                continue
            for pair, result in zip(rows, results, strict=True):
                first, _, other = pair.partition(" v ")
                for found in EXPERIMENTS[table].rows:
                    printed = "-".join(found.theirs[:: 1 if str(found.first) == first else -1])
                    if printed and {str(found.first), str(found.others[0])} == {first, other}:
                        checked += 1
                        assert printed == result
    assert checked > 35


def test_interval_of_a_short_match_is_that_of_clopper_and_pearson():
    found = stats.binomtest(12, 14).proportion_ci(method="exact")
    assert match_interval(12, 0, 2) == pytest.approx((12 / 14, found.low, found.high))
    assert (match_interval(14, 0, 0).high, match_interval(0, 0, 14).low) == (1, 0)


# Sameness


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
def records():
    return ResultStore(ROOT / "results")


def test_every_claim_has_a_name_and_uses_matches_of_its_tables():
    assert len({claim.name for claim in CLAIMS}) == len(CLAIMS)
    for claim in CLAIMS:
        scope = Scope(seeds=1 + max((best.seed for best in choices(claim)), default=0))
        jobs = jobs_of(claim, scope)
        assert jobs
        assert jobs <= set(scope.jobs(claim.tables)), claim.name


def test_best_of_ten_is_the_best_by_the_panel(records):
    found = [it for claim in CLAIMS for it in choices(claim).items()]
    assert [player.name for player, _ in found] == ["c0", "blondie24-2001"]
    for player, seeds in found:
        scores = [[score(outcome_of([match], records)) for match in games] for games in seeds]
        assert player.seed == np.argmax(np.mean(scores, axis=1))


def test_best_of_ten_does_not_play_itself():
    jobs = Scope().jobs([EXPERIMENTS["best-of-ten"]])
    assert {len(job.runs) for job in jobs if isinstance(job, Match)} == {2}


def test_verdict_on_champions_that_never_changed_says_so(records):
    for claim in PAPER_CLAIMS:
        runs = Counter()
        for job in jobs_of(claim, Scope()):
            for run in [job] if isinstance(job, Run) else job.runs:
                untouched = records.result(run).start.get("untouched") == 1
                runs[run.preset] += 1 if untouched else -1
        told = claim.untestable or "never leave their start" in claim.reading
        assert told or all(count < 0 for count in runs.values()), claim.name


PLAYED = replace(SOME, rows=(row("c1-n0.001", "c1-n0.01"),), tables=(EXPERIMENTS["table-6.13"],))
TINY = Table("tiny", "a tiny match", MEASURES["results"], PLAYED.rows)
SCOPE = Scope(seeds=3, scale=0.01)


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


def test_incomplete_seeds_do_not_count(store):
    found = effects(PLAYED, SCOPE, store)
    assert len(found) == 2
    match = next(job for job in SCOPE.jobs([TINY]) if isinstance(job, Match))
    assert match.first == Player("c1-n0.001", seed=0)
    points = {"W": 1, "D": 0.5, "L": 0}
    shown = [points[it] for it in store.result(match).results[2:]]  # two are from the start
    assert found[0] == pytest.approx(100 * np.mean(shown) - 50)


class Invented:
    """Store of champions that win by their strength, which `strengths` gives for each seed."""

    def __init__(self, strengths, missing=()):
        self.strengths, self.missing = strengths, missing

    def result(self, job):
        if isinstance(job, Run) or (job.first.seed, job.second.seed) in self.missing:
            return None
        first, second = (self.strengths(it.name, it.seed) for it in (job.first, job.second))
        results = "DD" + ("W" * (43 + first - second)).ljust(86, "L")
        cards = ("", *(f"card {number}" for number in range(43)))
        return MatchResult(cards, results, (1,) * 88, (9,) * 88, {}, "", "", Origin(1.0))


def by_seed(name, seed):
    """Return the strength of a champion: Blondie24-RR leads C0 by 4 to 8 games."""
    return 4 + seed % 3 if name == "blondie24-rr" else 0


BY_NAME = {claim.name: claim for claim in CLAIMS}
LEAD = BY_NAME["blondie24-rr > c0"]
FIRST_TEN = replace(LEAD, seeds=tuple(range(10)))


def test_all_pairings_are_crossed_once_they_are_played():
    whole = measure(FIRST_TEN, Scope(), Invented(by_seed))
    scores = [[100 * (43 + by_seed("blondie24-rr", i)) / 86 - 50] * 10 for i in range(10)]
    assert whole.estimate == pytest.approx(crossed(scores))
    assert whole.seeds == "10 x 10"
    partly = measure(FIRST_TEN, Scope(), Invented(by_seed, [(3, 7)]))
    assert partly.seeds == "10 (planned)"
    assert partly.estimate == pytest.approx(independent([line[0] for line in scores]))
    assert measure(FIRST_TEN, Scope(seeds=4), Invented(by_seed)).seeds == "4"
    assert Counter(map(type, planned_jobs([FIRST_TEN]))) == {Run: 20, Match: 100}
    assert judge([partly])[0].finding == "leads"
    # Its first ten seeds were seen before the plan.
    assert judge([measure(LEAD, Scope(), Invented(by_seed, [(13, 17)]))])[0].finding == "undecided"


def test_p_of_a_second_look_counts_twice():
    claim = replace(LEAD, seeds=tuple(range(15)), second_look=5)
    both, first = (measure(it, Scope(), Invented(by_seed)) for it in (claim, FIRST_TEN))
    assert both.seeds == "10+5 x 10+5"
    assert judge([both])[0].p == pytest.approx(2 * both.estimate.difference_p)
    before = measure(claim, Scope(), Invented(by_seed, [(3, 12)]))
    assert before == replace(first, claim=claim)  # the first look, until all new pairs are played
    assert judge([before])[0].p == pytest.approx(first.estimate.difference_p)


def test_order_is_a_contrast_of_scores_against_the_panel():
    claim, steps = BY_NAME["c0, 1 < ... < 4 plies"], BY_NAME["c0, growing steps"]
    strengths = {"c0-1ply": 1, "c0-2ply": 2, "c0-3ply": 3, "c0": 4}
    store = Invented(lambda name, seed: strengths.get(name, 0) * (1 + seed % 2))
    found = measure(claim, Scope(), store)
    assert found.estimate.mean == pytest.approx(100 / 86 * 3 * 1.5)
    assert [player.name for player in players_of(claim)] == list(strengths)
    assert [player.name for player in players_of(steps)] == list(strengths)
    assert measure(steps, Scope(), store).estimate.mean == pytest.approx(0)
    assert Counter(map(type, planned_jobs([claim, steps]))) == {Run: 45, Match: 200}


def test_fixed_opponents_are_met_by_all_seeds_and_are_not_crossed():
    fixed = BY_NAME["ahead of SXcheckers"]
    assert Counter(map(type, planned_jobs([fixed]))) == {Run: 41, Match: 40}
    assert measure(fixed, Scope(), Invented(by_seed)).seeds == "10+10"
    assert measure(fixed, Scope(), Invented(by_seed, [(17, 0)])).seeds == "10"


def test_pages_show_the_available_results(store, tmp_path):
    asked = [EXPERIMENTS[name] for name in ("table-6.13", "skycak-2001")]
    write_page(tmp_path / "page.md", asked, SCOPE, store)
    write_verdicts(tmp_path / "verdicts.md", asked, SCOPE, store)
    page, told = ((tmp_path / f"{name}.md").read_text() for name in ("page", "verdicts"))
    (verdict,) = verdicts([BY_NAME["c1-n0.001 > c1-n0.01"]], SCOPE, store)
    line = next(line for line in told.splitlines() if verdict.claim.statement in line)
    assert line == f"| {' | '.join(filter(None, cells(verdict)))} |"  # of the columns in use
    assert line.endswith("| 2 | **too few seeds** |")
    assert "C10 > " not in told  # of matches that were not asked for
    assert "## table-6.13" in page
    picture = ET.fromstring((tmp_path / "page" / "claims.svg").read_bytes())
    assert picture.tag.endswith("svg")
    assert "(page/claims.svg)" in page
    assert "curves.svg" not in page  # nothing is trained that it could show
