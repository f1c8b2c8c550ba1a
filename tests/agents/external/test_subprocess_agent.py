"""Agents in subprocesses: errors, time limits and clean ends."""

import re
import subprocess
import sys
import textwrap
import time
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

import agents
from agents.external import subprocess_agent
from agents.external.channel import Channel
from agents.external.process import ProcessLimits, can_isolate
from agents.external.subprocess_agent import SubprocessAgent
from checkers_env.board import Board
from checkers_env.errors import EngineError
from tests import DATA
from tests.training.commands import descendants, is_gone, recorded_processes, wait_for
from training.league.entrants import make_entry

STRANGERS = DATA / "strangers.py"
LIMITS = ProcessLimits()
PATIENT = 60.0  # seconds, where nothing is to be waited for
TOLD = [  # of what the agent Moody does, one move after the other
    r"ZeroDivisionError: a message\nof two \ud800 lines .*\(strangers.py, line \d+\)",
    r"AttributeError: .* has no attribute 'missing' \(strangers.py, line \d+\)",
    r"ValueError: act\(board\) returned '1-32' is illegal: the legal moves are .*",
    r"TypeError: act\(board\) returned None, which is no Move of board\.legal_moves",
    r"TypeError: .*",
    r"SystemExit: that is all \(strangers.py, line \d+\)",
    r"it has ended with exit code 5",
    r"it gave no answer to act within 2 s",
    r"it gave no answer to act within 2 s",
]


@pytest.fixture(autouse=True)
def processes(monkeypatch):
    """Return all processes that a test starts; none of them may be left at its end."""
    started = recorded_processes(monkeypatch)
    yield started
    assert [process for process in started if process.returncode is None] == []


@pytest.fixture
def host():
    """Host agents of strangers.py; all are closed."""
    made = []

    def start(name, *, timeout=PATIENT, place=STRANGERS, limits=LIMITS, **options):
        make = partial(agents.make, f"{place}:{name}", **options)
        made.append(SubprocessAgent(name, make, timeout=timeout, limits=limits))
        return made[-1]

    yield start
    for agent in made:
        agent.close()


def test_subprocess_agent_plays_the_same_moves(host, capfd):
    board = Board()
    board.outcome()  # compiled here: the other process would tell that it has to
    agent = host("Noisy")
    agent.new_game(np.random.default_rng(0))
    for _ in range(20):
        move = agent.act(board)
        assert move == board.legal_moves[0]
        board.push(move)
    agent.game_over(board, 0)
    assert capfd.readouterr() == ("", "I think, therefore I print\n" * 20)


def test_hooks_are_forwarded_and_the_board_stays_unchanged(host, tmp_path, monkeypatch):
    monkeypatch.setenv("STORY", str(tmp_path / "story"))
    agent, board, rng = host("Tells"), Board(max_moves=1), np.random.default_rng(1)
    agent.new_game(rng)
    for _ in range(2):
        board.push(agent.act(board))
    agent.game_over(board, 1)
    expected = [f"new game {np.random.default_rng(1).integers(1000)}", "move", "move"]
    story = (tmp_path / "story").read_text().splitlines()
    assert story == [*expected, "game over 1 2 max moves"]


def test_errors_are_reported_and_the_agent_can_move_again(host, processes):
    agent, board = host("Moody", timeout=2.0), Board()
    said, running = [], []
    for _ in range(11):
        try:
            board.push(agent.act(board))
        except EngineError as error:
            said.append(str(error))
            board.push(board.legal_moves[0])
        running.append(processes[-1].returncode is None)
    assert len(said) == 9
    for text, pattern in zip(said, TOLD, strict=True):
        assert re.fullmatch(pattern, text, re.DOTALL), text
    assert running == [True] * 7 + [False] * 3 + [True]
    assert len(processes) == 4
    assert [process.returncode for process in processes] == [5, -9, -9, None]


def test_late_answer_is_not_taken_for_the_next_one(host, monkeypatch):
    agent, board = host("First"), Board()
    with monkeypatch.context() as patched:
        patched.setattr(Channel, "receive", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            agent.act(board)
    board.push("9-13")
    assert agent.act(board) == board.legal_moves[0]


def test_killed_process_is_restarted(host, processes):
    agent = host("First")
    processes[0].kill()

    def play_on():
        for _ in range(10_000):  # the agent may answer until it learns of its supervisor's end
            agent.act(Board())

    with pytest.raises(EngineError, match="it was killed by signal 9"):
        play_on()
    assert agent.act(Board()) == Board().legal_moves[0]
    agent.close()
    agent.close()
    assert len(processes) == 2


@pytest.mark.parametrize(
    ("name", "error"),
    [
        (
            "NeverMade",
            r"^NeverMade cannot be made: KeyError: 'weights' \(strangers.py, line \d+\)$",
        ),
        ("DiesWhenMade", r"^DiesWhenMade cannot be made: it has ended with exit code 9$"),
        ("nobody", "^nobody cannot be made: ValueError: .* has no class or function 'nobody'$"),
    ],
)
def test_agent_that_cannot_be_created_is_named(host, processes, name, error):
    with pytest.raises(EngineError, match=error):
        host(name)
    assert len(processes) == 1


def test_failed_start_terminates_the_process(processes, monkeypatch):
    monkeypatch.setattr(SubprocessAgent, "_request", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        SubprocessAgent("mine", partial(agents.make, "material"))
    assert len(processes) == 1


def test_agent_is_not_started_again_after_two_late_starts(processes, monkeypatch):
    entry = make_entry(f"{STRANGERS}:First")
    monkeypatch.setattr(subprocess_agent, "START_SECONDS", 0.05)
    late, refused = "it gave no answer to start within 0.05 s", "it is not started again: 2 starts"
    reasons = [late, late, refused]
    for reason in reasons:
        with pytest.raises(EngineError, match=f"cannot be made: {reason}"):
            entry.make()
    assert len(processes) == 1 + 2


FAMILY = """
    import os, subprocess, sys, time

    class Parent:
        def __init__(self):
            command = [sys.executable, "-ISc", "import time; time.sleep(1000)"]
            self.child = subprocess.Popen(command)

        def act(self, board):
            open(os.environ["STORY"], "x").close()
            time.sleep(1000)
"""
CALLER = """
    import sys
    from functools import partial
    import agents
    from agents.external.subprocess_agent import SubprocessAgent
    from checkers_env.board import Board

    SubprocessAgent("mine", partial(agents.make, sys.argv[1])).act(Board())
"""


def test_process_ends_with_its_children_when_its_parent_dies(tmp_path, monkeypatch):
    path, story = tmp_path / "family.py", tmp_path / "story"
    monkeypatch.setenv("STORY", str(story))
    path.write_text(textwrap.dedent(FAMILY))
    caller = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(CALLER), f"{path}:Parent"], stderr=subprocess.DEVNULL
    )
    try:
        wait_for(story.exists)
        pids = descendants(caller.pid)
    finally:
        caller.kill()
        caller.wait()
    assert len(pids) >= 3
    wait_for(lambda: all(map(is_gone, pids)))


BUSY = """
    import subprocess, sys

    class Busy:
        def __init__(self):
            subprocess.Popen([sys.executable, "-ISc", "while True: pass"])

        def act(self, board):
            return board.legal_moves[0]
"""


def state_of(pid):
    """Return the letter of a process's state: R runs, T is stopped."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_agent_is_stopped_between_its_requests_with_all_that_it_started(host, processes, tmp_path):
    (tmp_path / "busy.py").write_text(textwrap.dedent(BUSY))
    agent = host("Busy", place=tmp_path / "busy.py")
    pids = descendants(processes[0].pid)[-2:]
    for _ in range(3):
        wait_for(lambda: [state_of(pid) for pid in pids] == ["T", "T"])
        assert agent.act(Board()) == Board().legal_moves[0]
    agent._process.resume()
    wait_for(lambda: state_of(pids[1]) == "R")
    agent.close()
    wait_for(lambda: all(map(is_gone, pids)))


HOSTILE = DATA / "hostile.py"
SMALL = ProcessLimits(memory=768, processes=16)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Crash", "it has ended with exit code -11"),
        ("Trickle", "it gave no answer to act within 2 s"),
        ("FloodOfText", r"ValueError: (.|\n)*"),
        ("SharedMemory", "it used more than 768 MB of memory"),
        ("Pickle", "it sent no JSON: .*"),
        ("StopSupervisor", "it gave no answer to act within 2 s"),
        ("ForeignDescriptors", "it answered another request"),
    ],
)
def test_hostile_agent_ends_its_move_only(host, processes, name, reason, tmp_path, monkeypatch):
    monkeypatch.setenv("STORY", str(tmp_path / "story"))
    timeout = 2.0 if "no answer" in reason else 15.0
    agent = host(name, place=HOSTILE, timeout=timeout, limits=SMALL)
    board = Board()
    for _ in range(2):
        board.push(agent.act(board))
    start = time.monotonic()
    with pytest.raises(EngineError) as raised:
        agent.act(board)
    assert re.fullmatch(reason, str(raised.value)), str(raised.value)
    assert len(str(raised.value)) < 5000
    assert time.monotonic() - start < 20
    assert not (tmp_path / "story").exists()
    goes_on = reason.startswith("ValueError") or str(raised.value).startswith("MemoryError")
    assert (processes[0].returncode is None) == goes_on


@pytest.mark.skipif(not can_isolate(), reason="the system has no PID namespaces for programs")
def test_agent_cannot_kill_another(host):
    killer, other = host("KillOthers", place=HOSTILE, timeout=2.0), host("First")
    board = Board()
    for _ in range(2):
        board.push(killer.act(board))
    with pytest.raises(EngineError, match="it gave no answer to act within 2 s"):
        killer.act(board)
    assert other.act(board) == board.legal_moves[0]


@pytest.mark.parametrize(
    "value",
    [None, "x", [1], True, 1.0, -1, 7],
)
def test_other_results_are_no_move(monkeypatch, value):
    agent = SubprocessAgent.__new__(SubprocessAgent)
    monkeypatch.setattr(SubprocessAgent, "_call", lambda *arguments: value)
    with pytest.raises(EngineError, match="it sent no move"):
        agent.act(Board())
