"""After a power cut at any write, every command goes on to the same result."""

import json
import sys

import pytest

from tests.power_cut import Disk, restore
from training import benchmark, compare, evolve

TINY = ["--regime.depth", "1", "--regime.max-moves", "6", "--threads", "1"]
EVOLVE = ["c0", "--generations", "3", "--checkpoint-every", "1", "--regime.parents", "3", *TINY]
COMPARE = ["c0", "c10", "--seeds", "1", "--scale", "0.01", "--depth", "1", "--executor", "threads"]


def champion(folder):
    return (folder / "champion.safetensors").read_bytes()


def games(folder):
    found = json.loads((folder / "league.json").read_text())["games"]
    return [{**game, "seconds": None} for game in found]


def figures(folder):
    found = json.loads(next(folder.glob("c0-and-c10*.json")).read_text())
    return [{**player, "cpu_seconds": None} for player in found["players"]]


RUN_FILES = ["champion.safetensors", "checkpoint.safetensors", "curve.csv"]
COMMANDS = {  # with options, what must be equal, and files that must be on the disk in the end
    "evolve": (evolve, EVOLVE, champion, RUN_FILES),
    "benchmark": (
        benchmark,
        ["random", "--against", "heuristic", "--openings", "start", "--rounds", "2"],
        games,
        ["league.json", "games.jsonl", "games.pdn", "report.html"],
    ),
    "compare": (compare, COMPARE, figures, ["results/runs.jsonl", "results/matches.jsonl"]),
}


@pytest.fixture(autouse=True)
def undrawn_plots(monkeypatch):
    """Write empty plots of a comparison: drawing them takes twice as long as its runs."""
    monkeypatch.setattr(compare, "plot_scores", lambda results: b"")
    monkeypatch.setattr(compare, "plot_curves", lambda comparison, store: b"")


def run(module, options, folder):
    sys.argv = [module.__name__, *options, "--out", str(folder)]
    if module is compare:
        sys.argv += ["--results", str(folder / "results")]
    return module.main()


@pytest.mark.parametrize("name", COMMANDS)
def test_power_cut_at_any_write_changes_no_result(name, tmp_path, monkeypatch, capsys):
    module, options, result, files = COMMANDS[name]
    monkeypatch.setattr(sys, "argv", [])
    there = tmp_path / "there"
    there.mkdir()
    with monkeypatch.context() as patch:
        disk = Disk(there, patch)
        assert run(module, options, there / "run") == 0
    expected = result(there / "run")
    assert len(disk.images) > 4
    for number, image in enumerate(disk.images):
        folder = tmp_path / str(number)
        folder.mkdir()
        restore(image, folder)
        capsys.readouterr()
        resume = [] if module is compare else ["--resume"]
        status, errors = run(module, [*options, *resume], folder / "run"), capsys.readouterr().err
        if status and "to resume in" in errors:  # the cut came before any result
            status, errors = run(module, options, folder / "run"), capsys.readouterr().err
        finished = "has reached generation" in errors
        assert status == finished, (number, sorted(map(str, image)), errors)
        assert result(folder / "run") == expected
    last = {path.as_posix(): content for path, content in disk.images[-1].items()}
    for file in files:
        assert last[f"run/{file}"] == (there / "run" / file).read_bytes()
