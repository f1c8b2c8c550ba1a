"""The tracked page of verdicts and the article, which have the verdicts of the records."""

import copy
import runpy

import pytest
import typst

from tests import ROOT
from training.experiments.claims import OWN_CLAIMS, PAPER_CLAIMS
from training.experiments.page import cells
from training.experiments.plan import Scope
from training.experiments.results import ResultStore
from training.experiments.verdicts import verdicts


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(ROOT / "docs" / "article" / "make.py"))


@pytest.fixture(scope="module")
def article(script):
    """Return the numbers of the article, its figures, and the records."""
    scope, store = Scope(), ResultStore(ROOT / "results")
    data = script["collect"](scope, store) | {"verified": script["verified"]()}
    return data, script["pictures"](scope, store, data), store


@pytest.mark.parametrize(("name", "claims"), [("claims", PAPER_CLAIMS), ("reasons", OWN_CLAIMS)])
def test_verdicts_are_those_of_the_tracked_page(article, name, claims):
    page = set((ROOT / "docs" / "verdicts.md").read_text("utf-8").splitlines())
    judged = verdicts(claims, Scope(), article[2])
    for verdict, told in zip(judged, article[0][name], strict=True):
        written = cells(verdict)
        written[1:2] = [] if claims is OWN_CLAIMS else written[1:2]  # no paper has figures of ours
        line = f"| {' | '.join(written)} |"
        assert line in page
        assert line.startswith(f"| {told['says']} ")
        assert f"**{told['word']}**" in line
        assert told["ours"] in line


def test_first_figures_that_people_read_are_those_of_the_records(article):
    words, claims = article[0]["words"], f"{len(PAPER_CLAIMS)} claims"
    confirmed = words["confirmed"] + words["confirmed, smaller"]
    told = f"Of {claims} of the papers {confirmed} are confirmed, {words['refuted']} are refuted, "
    told += f"and {words['undecided']} are undecided."
    assert told in (ROOT / "docs" / "findings.md").read_text("utf-8")
    assert f"tests {claims}" in (ROOT / "README.md").read_text("utf-8")


def test_command_writes_an_article_of_the_usual_length(script, article, tmp_path, monkeypatch):
    for name, known in zip(("collect", "pictures"), article, strict=False):
        monkeypatch.setitem(script["main"].__globals__, name, lambda *_, known=known: known)
    monkeypatch.setattr("sys.argv", ["make.py", "--out", str(tmp_path), "--png"])
    script["main"]()
    assert (tmp_path / "article.pdf").read_bytes().startswith(b"%PDF")
    assert 6 <= len([*tmp_path.glob("page-*.png")]) <= 8


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
