"""The bench: rows, equal work of the reference programs, and revisions measured in pairs."""

import json
import subprocess
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.agent import PlayerAgent
from agents.blondie.architecture import BLONDIE_1999, BLONDIE_2001, NETWORK_LAYOUTS
from checkers_env.board import Board
from tests.training.commands import run_here
from training.bench import __main__ as command
from training.bench import revisions, speeds
from training.bench.plain_search import PlainSearch
from training.bench.revisions import check_out, mean_ratio, measure_tree
from training.evolution.metrics import sample_positions
from training.regimes.coevolution import Coevolution

NAMES = [
    "perft 9, bulk",
    "2001 network alone",
    "2001 network in the search",
    "self-play, a generation",
    "raw_env(), with last()",
    "env(), with last()",
    "make_vec(1024)",
]


def contestants(name: str, depth: int) -> tuple[list[Any], list[PlainSearch]]:
    """Return two random networks as players, and the same two as slow ones."""
    shape = NETWORK_LAYOUTS[name]
    regime = Coevolution(shape.name, parents=1, depth=depth)
    states = [regime.init(seed) for seed in (1, 2)]
    fast = [regime.contenders(state)[0] for state in states]
    genomes = [state.population.genomes[0] for state in states]
    return fast, [PlainSearch(shape, genome, regime.king, depth) for genome in genomes]


@pytest.mark.parametrize("name", [BLONDIE_1999.name, BLONDIE_2001.name])
def test_slow_search_makes_the_moves_of_the_fast_one(name: str) -> None:
    fast, slow = contestants(name, 3)
    agent = PlayerAgent("fast", fast[0], np.random.default_rng())
    for position in sample_positions()[::23]:
        board = Board.from_position(*position)
        board.push(agent.act(board))
        assert slow[0].select_successor(position) == board.position


def test_every_row_is_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "speed.json"
    monkeypatch.setattr(command, "FEW_REPEATS", 1)
    status, out, _ = run_here(command, ["--quick", "--json", path], monkeypatch, capfd)
    assert status == 0
    assert all(name in out for name in NAMES)
    rows = json.loads(path.read_text("utf-8"))["rows"]
    assert [row["name"] for row in rows] == NAMES
    for row in rows:
        assert row["value"] > 0
        assert row["ratio"] is None or row["ratio"] == row["value"] / row["yardstick_value"]
        assert row["ratio"] is not None or "not installed" in row["yardstick"]


def test_rows_that_need_openspiel_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speeds, "openspiel", lambda: None)
    rows = [*speeds.measure_perft(1), *speeds.measure_environments(1)]
    assert {row.yardstick for row in rows} == {"OpenSpiel (not installed)"}
    assert {row.ratio for row in rows} == {None}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "file").write_text("first")
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "file"], ["commit", "-q", "-m", "First"]):
        subprocess.run([*git, *words], check=True)
    (folder / "file").write_text("second")
    return folder


def test_a_revision_is_checked_out_and_removed(repository: Path) -> None:
    with check_out("HEAD", repository) as place:
        assert (place / "file").read_text() == "first"
    assert not place.exists()
    listed = ["git", "-C", str(repository), "worktree", "list"]
    found = subprocess.run(listed, capture_output=True, text=True, check=True).stdout
    assert len(found.splitlines()) == 1


@pytest.mark.parametrize("revision", ["no-such-revision", "--help"])
def test_an_unknown_revision_is_refused(revision: str, repository: Path) -> None:
    message = f"no revision '{revision}' here"
    with pytest.raises(ValueError, match=message), check_out(revision, repository):
        pass


def test_ratio_of_pairs() -> None:
    theirs = np.array([100.0, 150.0, 80.0, 120.0])
    ratio = mean_ratio((theirs * [1.1, 1.2, 1.0, 1.1]).tolist(), theirs.tolist())
    assert ratio.mean == pytest.approx((1.1 * 1.2 * 1.0 * 1.1) ** 0.25)
    # By hand: the logarithms' mean 0.0932, standard error 0.0372, t = 3.182 at three degrees.
    assert (ratio.low, ratio.high) == pytest.approx((0.975, 1.236), abs=0.001)


@pytest.mark.parametrize("script", ["bench/__main__.py", "speed.py"])
def test_bench_of_a_tree_uses_its_packages(script: str, tmp_path: Path) -> None:
    (tmp_path / "thing.py").write_text("VALUE = 7")
    path = tmp_path / "training" / script
    path.parent.mkdir(parents=True)
    (tmp_path / "training" / "__init__.py").touch()
    path.write_text(
        "import json, sys, thing\n"
        "assert '--quick' in sys.argv\n"
        "rows = [{'name': 'perft', 'value': thing.VALUE}]\n"
        "json.dump({'rows': rows}, open(sys.argv[sys.argv.index('--json') + 1], 'w'))\n"
    )
    assert measure_tree(tmp_path, True, tmp_path) == {"perft": 7}
    path.write_text("raise ValueError('it broke')")
    with pytest.raises(ChildProcessError, match="it broke"):
        measure_tree(tmp_path, False, tmp_path)


def test_speeds_are_compared_in_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    calls: list[bool] = []

    def measured(tree: Path, quick: bool, folder: Path) -> dict[str, float]:
        calls.append(tree == revisions.ROOT)
        value = 300.0 if tree == revisions.ROOT else 200.0
        return {"perft": value + len(calls) % 2}

    monkeypatch.setattr(revisions, "measure_tree", measured)
    monkeypatch.setattr(revisions, "check_out", lambda revision: nullcontext(tmp_path))
    file = tmp_path / "ratios.json"
    words = ["--compare", "HEAD", "--pairs", "4", "--json", file]
    status, out, _ = run_here(command, words, monkeypatch, capfd)
    assert status == 0
    warm_up, turns = [True, False], [True, False, False, True, True, False, False, True]
    assert calls == warm_up + turns
    content = json.loads(file.read_text())
    assert content["ratios"]["perft"]["mean"] == pytest.approx(1.5, abs=0.01)
    assert "perft" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--pairs", "3"], "--pairs has no effect without --compare: leave it out"),
        (["--compare", "HEAD", "--pairs", "1"], "pairs must be at least 2, not 1"),
        (["--json", "none/file.json"], "json is a file in a folder that exists"),
    ],
)
def test_invalid_options_are_refused(
    words: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    status, _, error = run_here(command, words, monkeypatch, capfd)
    assert status == 1
    assert message in error.replace("\n", " ")
