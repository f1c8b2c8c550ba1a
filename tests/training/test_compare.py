"""Comparison of presets and constants: jobs, figures, pages and errors."""

import json
import sys

import numpy as np
import pytest
from scipy.stats import t as student

from training import compare as program
from training.experiments.comparison import (
    Comparison,
    ComparisonResult,
    compare,
    table_cells,
    verdict,
    with_adjusted_p,
)
from training.experiments.jobs import Conditions, digest_once
from training.experiments.results import ResultStore

TINY = ["--scale", "0.01", "--depth", "1", "--executor", "threads"]


def run(folder, *arguments):
    paths = ["--out", str(folder), "--results", str(folder / "results")]
    sys.argv = ["compare.py", *TINY, *paths, *arguments]
    return program.main()


@pytest.fixture(autouse=True)
def keep_arguments(monkeypatch):
    monkeypatch.setattr(sys, "argv", [])


def rows(folder, name):
    return [json.loads(line) for line in (folder / "results" / name).read_text().splitlines()]


def points(row, player):
    """Score of a player in a match, in per cent of the games with cards."""
    sign = 1 if row["first"]["name"] == player else -1
    value = {"W": 0.5 + sign * 0.5, "D": 0.5, "L": 0.5 - sign * 0.5}
    cards = np.repeat(row["cards"], 2)
    found = [value[it] for it, card in zip(row["results"], cards, strict=True) if card]
    return 100 * float(np.mean(found))


def test_constant_is_varied_and_nothing_is_done_twice(tmp_path, capsys):
    command = ("c0", "--vary", "regime.king", "2", "3", "--seeds", "2")
    assert run(tmp_path, *command) == 0
    runs, matches = rows(tmp_path, "runs.jsonl"), rows(tmp_path, "matches.jsonl")
    assert sorted((row["preset"], row["seed"]) for row in runs) == [
        ("c0", 0),
        ("c0", 1),
        ("c0@king=3.0", 0),
        ("c0@king=3.0", 1),
    ]
    assert {row["regime"]["king"] for row in runs if "@" in row["preset"]} == {3.0}
    assert len(matches) == 2 * 3
    name = "c0-regime.king-2-3-seeds-2-depth-1-scale-0.01"
    figures = json.loads((tmp_path / f"{name}.json").read_text())
    baseline, variant = figures["players"]
    assert (baseline["name"], variant["name"]) == ("c0", "c0@king=3.0")
    for player in (baseline, variant):
        expected = [
            points(row, player["name"])
            for row in sorted(matches, key=lambda row: row["seed"])
            if {row["first"]["name"], row["second"]["name"]} == {player["name"], "material"}
        ]
        assert player["score_against_material"] == pytest.approx(expected)
    between = [row for row in matches if "material" not in str(row)]
    assert variant["score_against_baseline"] == pytest.approx(
        [points(row, "c0@king=3.0") for row in sorted(between, key=lambda row: row["seed"])]
    )
    assert baseline["score_against_baseline"] == []
    assert "| c0 | baseline | 0 |" in (tmp_path / f"{name}.md").read_text()
    before = (tmp_path / "results" / "runs.jsonl").stat().st_mtime_ns
    capsys.readouterr()
    assert run(tmp_path, *command) == 0
    assert "c0@king=3.0" in capsys.readouterr().out
    assert (tmp_path / "results" / "runs.jsonl").stat().st_mtime_ns == before


def test_preset_in_a_file_is_trained_again_when_the_file_changes(tmp_path):
    file, versions = tmp_path / "own.py", set()
    for end in ("", "# another file"):
        digest_once.cache_clear()  # in another process
        file.write_text(
            f"from training.trainer.presets import PRESETS\nOWN = PRESETS['c10']\n{end}"
        )
        assert run(tmp_path, "c0", f"{file}:OWN", "--seeds", "1") == 0
        found = [row["results_version"].get("file") for row in rows(tmp_path, "runs.jsonl")]
        assert len(found) == 2
        versions.update(found)
    assert len(versions) == 3  # None is that of c0


def test_figures_are_over_finished_seeds_only(tmp_path):
    comparison = Comparison(("c0", "c10"), 2, Conditions(depth=1), scale=0.01)
    empty = compare(comparison, ResultStore(tmp_path))
    assert [len(it.against_counter) for it in empty] == [0, 0]
    assert verdict(empty[1], "c0").endswith("two finished seeds or more.")


def figures_of(*scores):
    """Return the figures of a baseline and of variants with these scores."""
    empty, one = np.array([]), np.ones(1)
    variants = [
        ComparisonResult(f"new {i}", np.array(it, float), np.array(it, float), one)
        for i, it in enumerate(scores)
    ]
    return with_adjusted_p([ComparisonResult("old", empty, one, one), *variants])


@pytest.mark.parametrize(
    ("scores", "word"),
    [([60, 61, 62, 63], "is stronger"), ([40, 39, 41], "is weaker"), ([50, 70], "Inconclusive")],
)
def test_verdict_on_one_variant_follows_the_interval_over_seeds(scores, word):
    text = verdict(figures_of(scores)[1], "old")
    mean, half = np.mean(scores), student.isf(0.025, len(scores) - 1) * np.std(scores, ddof=1)
    half /= np.sqrt(len(scores))
    assert word in text
    assert (mean - half > 50, mean + half < 50) == ("stronger" in text, "weaker" in text)


@pytest.mark.parametrize(
    ("scores", "start", "p"),
    [
        ([75] * 2, "Inconclusive", 0.5),
        ([50] * 9, "Inconclusive", 1),
        ([100] * 6, "new 0 is stronger", 1 / 32),
        ([0] * 6, "new 0 is weaker", 1 / 32),
    ],
)
def test_equal_scores_of_all_seeds_make_no_interval(scores, start, p):
    figures = figures_of(scores)
    assert figures[1].p == p
    text = verdict(figures[1], "old")
    assert text.startswith(start)
    assert f"{scores[0]} % of the points" in text
    assert not any("[" in cell for row in table_cells(figures) for cell in row)


def test_verdict_on_several_variants_follows_the_adjusted_p():
    scores = [51, 54.5, 53, 55]  # p is 0.033 if nothing else is tested
    assert "is stronger" in verdict(figures_of(scores)[1], "old")
    assert "Inconclusive" in verdict(figures_of(scores, [40, 60, 51])[1], "old")


def test_elo_of_a_lopsided_score_is_bounded():
    cells = [table_cells(figures_of([score] * 4))[1][2] for score in (0, 100)]
    assert cells == ["< -920", "> +920"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["c0"], "compare two or more different players, not c0"),
        (["c0", "c0"], "two or more different players"),
        (["c0", "c11"], "no preset 'c11': did you mean c1"),
        (["c0", "mine"], "no preset 'mine': see --list of evolve.py and td.py"),
        (["c0", "--vary", "opponents", "5"], "--vary takes one preset, an option, and two values"),
        (["c0", "--vary", "oponents", "5", "6"], "no option 'oponents': it has opponents"),
        (["c0", "--vary", "opponents", "5", "5"], "two or more different players"),
        (["c0", "--vary", "opponents", "5", "x"], "'x' cannot take its place"),
        ([], "two or more different players, not none"),
        (["c0", "c10", "--depth", "65"], "depth must be 1 to 64, not 65"),
        (["c0", "c10", "--seeds", "0"], "seeds must be 1 to 1000, not 0"),
        (["c0", "c10", "--workers", "1001"], "workers (threads) must be at most 1,000"),
        (["c0", "c10", "--results", __file__], "--results must be a folder, not the file"),
        (["blondie24-rr", "--vary", "opponents", "5", "9"], "opponents has no effect with pairing"),
        (["c0", "c10", "--generations", "0"], "generations must be at least 1"),
        (["c0", "c10", "--deadline", "-1"], "deadline must be at least 0 minutes, not -1"),
        (["c0", "strong"], "strong keeps no champions"),
        (["c0", "c10", "--ballot", "start"], "ballot must have cards"),
        (["c0", "c10", "--ballot", "2-move"], "not '2-move': did you mean 'two-move'?"),
    ],
)
def test_bad_comparisons_are_refused(tmp_path, capsys, arguments, message):
    assert run(tmp_path / "out", *arguments) == 1
    assert message in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "out").exists()


def test_files_of_other_comparisons_have_other_names():
    base = {"presets": ("c5-n0.001",), "vary": ("opponents", "5", "10")}
    changes = [
        {},
        {"vary": ("opponents", "5", "40")},
        {"depth": 4},
        {"ballot": "three-move"},
        {"seeds": 10},
        {"generations": 3},
        {"scale": 0.5},
        {"presets": ("c0", "c10"), "vary": ()},
        {"presets": tuple(f"learns-{number}" for number in range(40)), "vary": ()},
        {"presets": tuple(f"learns-{number}" for number in range(41)), "vary": ()},
    ]
    names = [program.file_name(program.CompareConfig(**base | change)) for change in changes]
    assert names[0] == "c5-n0.001-opponents-5-10"
    assert len(set(names)) == len(names)
    assert all(len(name) < 100 for name in names)


def test_option_without_an_effect_is_named_in_games_from_a_file(tmp_path, capsys):
    """So few generations have no round of social learning."""
    base, book = "c10@depth=1,parents=3,max_moves=20", tmp_path / "book.pdn"
    book.write_text('1. 9-13 21-17 *\n[FEN "B:W21,22:B1,2"] *')
    words = [base, "--vary", "satisfied", "0.8", "0.5", "--seeds", "2", "--ballot", str(book)]
    assert run(tmp_path, *words) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "what differs between them has no effect" in said
    assert "Inconclusive" not in said
    assert run(tmp_path, *words) == 0
    assert "0 of 10 jobs to do" in capsys.readouterr().err
    for row in rows(tmp_path, "matches.jsonl"):
        assert row["conditions"]["openings"] == ["9-13 21-17", "B:W21,22:B1,2"]
