"""A league of hostile agents: it ends, with the right table, and nothing is left of them."""

import re
import sys
import time
from dataclasses import replace

import pytest

import agents
from agents.weights import load_weights, save_weights
from checkers_env.board import Board
from tests import DATA, ROOT
from tests.training.commands import recorded_processes, run_here, sleepers, wait_for
from training import benchmark
from training.league.journal import FILE_NAME
from training.league.records import load_league

HOSTILE = DATA / "hostile.py"
LATE = "it gave no answer to act within N s"
FAULTS = {  # of hostile.py, and what the record says of each
    "Crash": r"it has ended with exit code -11",
    "Exit": r"it has ended with exit code 0",
    "Hang": LATE,
    "Stop": LATE,
    "PartialWrite": LATE,
    "Trickle": LATE,
    "Flood": "it sent more than 65536 bytes without a line end",
    "FloodOfLines": "it answered another request",
    "FloodOfText": r"ValueError: \?\[2J and so on .*",
    "Forks": r"it has ended with exit code 0",
    "ManyForks": "it had more than 16 processes",
    "Memory": "(MemoryError: .*|it used more than 768 MB of memory)",
    "SharedMemory": "it used more than 768 MB of memory",
    "ClosedDescriptors": r"it has ended with exit code \d",
    "WrongTypes": "it sent .*",
    "WrongMoves": "(it sent no move|it answered another request)",
    "Pickle": "it sent no JSON: .*",
    "KillSupervisor": rf"({LATE}|it was killed by signal 9)",
    "KillOthers": LATE,
    "StopSupervisor": LATE,
    "ForeignDescriptors": "it answered another request",
}
CLAIM = "ended the game and claimed a draw, which was refused: it is a draw because I say so"
FEW = ["PartialWrite", "ManyForks", "ClaimDraw"]


@pytest.fixture
def league(monkeypatch, capsys, tmp_path):
    """Run a league of hostile agents and of one of ours that searches for ever."""
    agents.make("random").act(Board())  # compiled before its time is taken
    agents.make("blondie24", depth=2).act(Board())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.setenv("STORY", str(tmp_path / "story"))
    processes = recorded_processes(monkeypatch)
    weights, metadata = load_weights(ROOT / "agents" / "zoo" / "blondie24.safetensors")
    save_weights(tmp_path / "endless.safetensors", weights, replace(metadata, depth=64))

    def play(names, seconds):
        texts = [f"{HOSTILE}:{name}" for name in names]
        options = "--openings start --memory-limit 768 --process-limit 16"
        words = ["material@depth=1", "--against", "endless.safetensors", *texts, *options.split()]
        words += ["--move-limit", seconds]
        status, out, error = run_here(
            benchmark, [*words, "--threads", 2, "--out", "league"], monkeypatch, capsys
        )
        assert (status, error) == (0, "Report: league/report.html\n")
        assert [process for process in processes if process.poll() is None] == []
        wait_for(lambda: not sleepers())
        return load_league(tmp_path / "league" / "league.json"), out

    return play


def check(league, out, names, seconds):
    """Whoever attacks has lost both games, for the reason given."""
    assert len(league.games) == 2 * (len(names) + 1)
    for game in league.games:
        opponent = max(game.black, game.white)
        name, side = ["endless", *names][opponent - 1], int(game.white == opponent)
        colour = ("Black", "White")[side]
        assert game.score == side, (name, game.reason)
        if name == "ClaimDraw":
            assert game.reason == f"{colour} {CLAIM}"
        elif name == "endless":
            assert game.reason == f"{colour} forfeits: more than {seconds} s for a move"
        else:
            reason = game.reason.removeprefix(f"{colour} forfeits: ")
            expected = FAULTS[name].replace("N s", f"{seconds} s")
            assert re.fullmatch(expected, reason), (name, game.reason)
        assert game.reason.isprintable()
    (row,) = [line for line in out.splitlines() if line.split()[:1] == ["1"]]
    assert "material (depth 1)" in row
    assert "100.0%" in row


def test_few_hostile_agents_lose_and_the_league_ends(league, tmp_path):
    start = time.monotonic()
    check(*league(FEW, 2), FEW, 2)
    assert time.monotonic() - start < 200
    assert len((tmp_path / "league" / FILE_NAME).read_text().splitlines()) == 1 + 2 * (len(FEW) + 1)


@pytest.mark.slow
def test_all_hostile_agents_lose_and_the_league_ends(league, tmp_path):
    names = [*FAULTS, "ClaimDraw"]
    defined = re.findall(r"class (\w+)\(Hostile\)", HOSTILE.read_text())
    assert sorted(names) == sorted(defined)
    check(*league(names, 4), names, 4)
