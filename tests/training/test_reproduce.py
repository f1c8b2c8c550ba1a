"""The reproduce command: output, errors and resumed sessions."""

import signal
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from filelock import FileLock

from tests import ROOT
from tests.training.commands import SECONDS, command_of, start, wait_for
from training import reproduce
from training.experiments.plan import Scope
from training.experiments.results import ResultStore
from training.experiments.tables import EXPERIMENTS

SCRIPT = Path(reproduce.__file__)
ONE = ["--experiment", "table-6.18", "--scale", "0.01"]
QUICK = [*ONE, "--executor", "threads", "--workers", "1"]


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    """Run the command line in this process; return its exit status and output."""
    monkeypatch.chdir(tmp_path)
    return command_of(reproduce, monkeypatch, capsys)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*.*") if path.is_file()}


def test_list_shows_every_experiment_and_its_remaining_work(command):
    status, said = command("--list", "--results", "nothing")
    assert status == 0
    assert all(f" {name} " in said for name in EXPERIMENTS)
    jobs = Scope().jobs(EXPERIMENTS.values())
    assert f"0/{len(jobs)}" in said.splitlines()[-2]


def test_table_is_computed_once(command, tmp_path):
    assert command(*QUICK, "--work", "work")[0] == 0
    made = contents(tmp_path / "work" / "results")
    assert [len(made[name].splitlines()) for name in ("runs.jsonl", "matches.jsonl")] == [2, 1]
    table = (tmp_path / "work" / "reproduction.md").read_text()
    assert "## table-6.18: C5-N0.001 against C1-N0.001, two-move ballot" in table
    assert "| c5-n0.001 | c1-n0.001 | theirs | 29 | 35 | 22 |" in table
    assert "| c5-n0.001 | c1-n0.001 | ours, 1 seed |" in table
    status, said = command(*QUICK, "--work", "work", "--page", "here/reproduction.md")
    assert status == 0
    today = datetime.now(UTC).date().isoformat()
    assert f"3 of 3 jobs are from records of {today}; --fresh computes them again." in said
    assert "3 of 3 jobs are done. The page: here/reproduction.md" in said
    shown = next(line.split() for line in said.splitlines() if "theirs" in line)
    assert shown == ["c5-n0.001", "c1-n0.001", "theirs", "29", "35", "22"]
    assert "ours, 1 seed" in said
    assert contents(tmp_path / "work" / "results") == made
    assert (tmp_path / "here" / "reproduction.md").read_text() == table
    assert "# Verdicts\n" in (tmp_path / "here" / "verdicts.md").read_text()
    status, said = command("--list", *ONE, "--work", "work")
    assert "3/3" in said.splitlines()[-2]


def test_fresh_computation_is_compared_with_the_record(command, tmp_path):
    assert command(*QUICK, "--work", "work")[0] == 0
    before = contents(tmp_path / "work" / "results")
    status, said = command(*QUICK, "--work", "work", "--fresh")
    assert status == 0
    assert "from records" not in said
    assert "3 of 3 jobs are in both folders, and all are equal" in said
    assert contents(tmp_path / "work" / "results") == before
    assert not (tmp_path / "work" / "fresh").exists()
    store = ResultStore(tmp_path / "work" / "results")
    match = Scope(scale=0.01).jobs([EXPERIMENTS["table-6.18"]])[-1]
    store.add(match, replace(store.result(match), plies=(1, *store.result(match).plies[1:])))
    status, said = command(*QUICK, "--work", "work", "--fresh")
    assert status == 1
    assert f"{match.title}: plies" in said
    said = command(*QUICK, "--work", "other", "--fresh")[1]
    assert "3 of 3 jobs have no record in other/results to compare with" in said
    assert contents(tmp_path / "other" / "fresh" / "results").keys() == before.keys()


def test_records_are_found_beside_the_package(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings, work = reproduce.ReproductionConfig(), Path("work")
    assert reproduce.results_folder(settings, Scope(), work) == ROOT / "results"
    assert reproduce.results_folder(settings, Scope(scale=0.5), work) == work / "results"
    chosen = replace(settings, results=Path("mine"))
    assert reproduce.results_folder(chosen, Scope(scale=0.5), work) == Path("mine")
    monkeypatch.setattr(reproduce, "CHECKOUT", tmp_path)  # installed without records
    assert reproduce.results_folder(settings, Scope(), work) == Path("results")


@pytest.mark.parametrize("text", ["table-4.6", "4.6", "Table 4.6", "table4.6", "TABLE_4.6 "])
def test_names_of_experiments_are_forgiving(text):
    assert reproduce.find_name(text) == "table-4.6"


def test_results_of_another_version_are_computed_again(command, tmp_path, monkeypatch):
    assert command(*QUICK, "--work", "work")[0] == 0
    before = contents(tmp_path / "work" / "results")
    monkeypatch.setattr("training.regimes.td_learning.TDLearning.results_version", 2)
    status, said = command(*QUICK, "--work", "work", "--deadline", "0")
    assert (status, "3 results are out of date" in said, "0 of 3 jobs" in said) == (0, True, True)
    status, said = command(*QUICK, "--work", "work")
    assert (status, "3 of 3 jobs are done" in said) == (0, True)
    after = contents(tmp_path / "work" / "results")
    assert after.keys() == before.keys()  # the champions are the same
    assert b'"results_version":{"regime":2,' in after["runs.jsonl"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "give --experiment NAME or --all; --list shows"),
        (["--all", "--experiment", "table-3.2"], "give --all, or --experiment with names, but not"),
        (["--experiment", "table-9.9"], "unknown experiment 'table-9.9': did you mean table-"),
        (["--all", "--scale", "2"], "scale must be above 0 and at most 1, not 2.0"),
        (["--all", "--seeds", "0"], "seeds must be at least 1, not 0"),
        (["--list", "--workers", "-3"], "--workers has no effect with --list: leave it out"),
        (["--list", "--deadline", "5"], "--deadline has no effect with --list"),
        (
            ["--all", "--compare", "results", "--page", "a.md"],
            "--page has no effect with --compare",
        ),
        (["--all", "--starts", "--compare", "results"], "--starts has no effect with --compare"),
        (["--all", "--seeds", "101"], "seeds must be at most 100, not 101"),
        (["--list", "--results", "file"], "--results must be a folder, not the file 'file'"),
        (["--list", "--work", "file/w"], "--work must be a folder, not below the file 'file'"),
        (["--all", "--compare", "file"], "--compare must be a folder, not the file 'file'"),
        (["--all", "--page", "folder"], "--page must be a file, not the folder 'folder'"),
        (["--all", "--verdicts", "folder"], "--verdicts must be a file, not the folder 'folder'"),
        (["--all", "--fresh", "--champions"], "--champions has no effect with --fresh"),
        (["--all", "--deadline", "nan"], "deadline must be at least 0 minutes, not nan"),
        ([*ONE, "--address", "here:1"], "an address is for the executor 'ray'"),
        ([*ONE, "--compare", "nowhere"], "compare must be a folder: 'nowhere' does not exist"),
    ],
)
def test_invalid_options_are_refused(command, tmp_path, words, message):
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    status, said = command(*words)
    assert status == 1
    assert message in said


def test_two_sessions_in_one_folder_are_refused(command, tmp_path):
    (tmp_path / "work").mkdir()
    with FileLock(tmp_path / "work" / "lock"):
        status, said = command(*QUICK, "--work", "work")
    assert status == 1
    assert "another session is at work in 'work'" in said


def test_stopped_sessions_resume_to_the_same_results(command, tmp_path):
    """Stopped while a run trains, and killed after the first result."""
    words = ["--experiment", "table-6.18", "--scale", "0.02"]
    work = tmp_path / "stopped"
    session = start(sys.executable, SCRIPT, *words, "--work", work, "--workers", 1)
    wait_for(lambda: any(work.glob("c*/checkpoint.safetensors")), session)
    session.send_signal(signal.SIGINT)
    said = session.communicate(timeout=SECONDS)[0]
    assert session.returncode == 130, said
    assert [line.rstrip() for line in said.splitlines()][-2:] == [
        "Stopping when what is under way is done or saved; Ctrl-C again: at once.",
        "Interrupted; all progress is saved. Run the same command again to resume.",
    ]
    session = start(sys.executable, SCRIPT, *words, "--work", work, "--workers", 1)
    wait_for((work / "results" / "runs.jsonl").exists, session)
    session.kill()
    session.communicate()
    status, said = command(*words, "--work", work, "--executor", "threads")
    assert (status, "3 of 3 jobs are done" in said) == (0, True)
    assert command(*words, "--work", "whole", "--executor", "threads")[0] == 0
    status, said = command(*words, "--work", "whole", "--compare", work / "results")
    assert status == 0, said
    left = {"lock", "results", "reproduction", "reproduction.md", "verdicts.md"}  # and no run
    assert {path.name for path in work.iterdir()} == left
