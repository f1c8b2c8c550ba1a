"""The tracked page of verdicts and the article, which have the verdicts of the records."""

import copy
import runpy

import pytest
import typst

from tests import ROOT
from training.experiments.claim_text import claim_table
from training.experiments.own_claims import REASONS
from training.experiments.paper_claims import CLAIMS
from training.experiments.plan import Scope
from training.experiments.results import ResultStore
from training.experiments.verdicts import WORDS, verdicts


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
def test_verdicts_are_those_of_the_tracked_page(article, name, claims):
    lines = list(claim_table(verdicts(claims, Scope(), ResultStore(ROOT / "results"))))
    assert set(lines) <= set((ROOT / "docs" / "verdicts.md").read_text("utf-8").splitlines())
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
