"""The page's tables that compare players, and the article, which has the same verdicts."""

import copy
import runpy

import numpy as np
import pytest
import typst
from scipy import stats

from tests import ROOT
from training.reproduction.claim_text import claim_table
from training.reproduction.drawn_games import by_lead, thesis_matches
from training.reproduction.gains import BEGIN, END, lines
from training.reproduction.jobs import Conditions
from training.reproduction.own_claims import REASONS
from training.reproduction.paper_claims import CLAIMS
from training.reproduction.papers.tie_rules import DRAWS_AND_LEAD
from training.reproduction.plan import EXPERIMENTS, Scope
from training.reproduction.results import MatchResult, Origin, ResultStore
from training.reproduction.tables import SCORE, Table, interval, row
from training.reproduction.verdicts import WORDS, verdicts

NAMES = ("blondie24-2001", "learns-hall", "learns-games", "learns")
BOTH = [
    Table(f"at-{plies}", "", SCORE, tuple(row(it, "material") for it in NAMES), Conditions(plies))
    for plies in (4, 6)
]
# Games won of ten, by player, plies and seed.
WON = {
    ("blondie24-2001", 4): (4, 5, 6, 5),
    ("blondie24-2001", 6): (5, 6, 7, 4),
    ("learns", 4): (7, 9, 9),
    ("learns", 6): (6, 8, 8),
    ("learns-games", 4): (5, 4, 7, 9),
    ("learns-games", 6): (None, 6, 9, 1),  # its first seed comes last
    ("learns-hall", 4): (6,),  # and not yet at 6 plies
}


class Told:
    """Store of matches with invented results."""

    def result(self, job):
        won = dict(enumerate(WON.get((job.first.name, job.conditions.depth), ())))
        if won.get(job.first.seed) is None:
            return None
        results = ("W" * won[job.first.seed]).ljust(10, "L")
        cards = ("9-13 22-18",) * 5
        return MatchResult(cards, results, (0,) * 10, (50,) * 10, {}, "", "", Origin(1.0))


def told():
    found = list(lines(BOTH, Scope(seeds=4), Told()))
    assert (found[0], found[-2], found[-1]) == (BEGIN, END, "")
    rows = [line.strip("| ").split(" | ") for line in found[3:-2]]
    assert rows[0][1:3] == ["seeds", "at 4 plies"]
    return {cells[0]: cells[1:] for cells in rows[2:]}


def test_gains_use_equal_seeds_and_are_sorted_by_the_last():
    rows = told()
    assert list(rows) == ["blondie24-2001", "learns-games", "learns"]
    assert rows["learns"] == [
        "3",
        interval([70.0, 90.0, 90.0]),
        interval([60.0, 80.0, 80.0]),
        f"**{interval([30.0, 40.0, 30.0])}**",
        interval([10.0, 20.0, 10.0]),
    ]
    assert rows["learns-games"][0] == "4, 3"
    assert rows["learns-games"][3:] == [interval([10, -10, 10, 40]), interval([0, 20, -30])]


def test_bold_marks_significant_gains():
    for gains, cell, sure in (([30, 40, 30], 3, True), ([10, 20, 10], 4, False)):
        low, _ = stats.t.interval(0.95, 2, np.mean(gains), stats.sem(gains))
        assert told()["learns"][cell].startswith("**") == (low > 0) == sure


def test_page_without_results_has_no_table():
    nobody = Table("nobody", "", SCORE, (row("c0", "material"),), Conditions(4))
    assert list(lines([nobody], Scope(seeds=4), Told())) == []


def test_draws_by_lead_stand_beside_the_thesis():
    equals, others = thesis_matches(list(EXPERIMENTS.values())).values()
    assert (len(equals), len(others)) == (10 + 5, 57)
    assert all(49 < drawn < 54 and abs(lead) < 2 for drawn, lead in equals)  # Tables 3.2 and 4.1
    for won, drawn in ((47, 26), (59, 14), (24, 31)):  # Tables 4.6, 7.5 and 7.11 to 7.13
        figures = 100 * drawn / 86, 100 * (won + drawn / 2) / 86 - 50
        assert any(np.allclose(figures, match) for match in others)
    rule = Table("tie", "a rule", DRAWS_AND_LEAD, (row("c0", "material"),))

    class Store:
        """Store of three matches: 5, 2 and 0 points ahead of 10 games."""

        def result(self, job):
            results = {0: "WWWWWDDDDD", 1: "WWDDDDDDDD", 2: "WLDDDDDDDD"}.get(job.seed)
            if results is None:
                return None
            cards = ("9-13 22-18",) * 5
            return MatchResult(cards, results, (0,) * 10, (50,) * 10, {}, "", "", Origin(1.0))

    found = list(by_lead([rule], Scope(seeds=4), Store()))
    assert found[-2] == "| a rule | 80 % of 1 |  | 80 % of 1 | 50 % of 1 |"
    assert list(by_lead([rule], Scope(seeds=4), Told())) == []


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(ROOT / "docs" / "article" / "make.py"))


@pytest.fixture(scope="module")
def article(script):
    """Return the numbers of the article, and its figures."""
    scope, store = Scope(), ResultStore(ROOT / "results")
    data = script["collect"](scope, store) | {"verified": script["verified"]()}
    return data, script["pictures"](scope, store, data)


@pytest.mark.parametrize(("name", "claims"), [("claims", CLAIMS), ("reasons", REASONS)])
def test_verdicts_are_those_of_the_page(article, name, claims):
    lines = claim_table(verdicts(claims, Scope(), ResultStore(ROOT / "results")))
    page = [line for line in lines if any(f"**{word}**" in line for word in WORDS)]
    assert len(page) == len(article[0][name]) == len(claims)
    for text, claim in zip(page, article[0][name], strict=True):
        assert text.startswith(f"| {claim['says']} ")
        assert f"**{claim['word']}**" in text
        assert claim["ours"] in text


def test_article_has_the_length_of_one(script, article):
    assert 8 <= len(script["compile_article"](*article, kind="png")) <= 12


def test_unknown_number_stops_the_command(script, article):
    data = copy.deepcopy(article[0])
    data["claims"] = [it for it in data["claims"] if it["name"] != "c5-n0.001 > c0"]
    with pytest.raises(typst.TypstError, match=r"no claim c5-n0\.001 > c0"):
        script["compile_article"](data, article[1])
    with pytest.raises(KeyError, match="runs"):
        script["fill_metadata"](data | {"size": {}})


def test_sentence_that_is_no_longer_true_stops_the_command(script, article):
    data = copy.deepcopy(article[0])
    claim = next(it for it in data["claims"] if it["name"] == "c5-n0.001 > c0")
    claim["low"], claim["high"] = -claim["high"], -claim["low"]
    with pytest.raises(typst.TypstError, match="the results no longer say"):
        script["compile_article"](data, article[1])
