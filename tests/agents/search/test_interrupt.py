"""Deferred signals and stopped searches."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import agents
from agents.baselines.samuel import samuel
from agents.endgame.tables import load_tablebase
from agents.match import play_game
from agents.nnue.sampling import SamplingConfig, sample
from agents.ntuple.td import TDConfig, learn
from agents.search.interrupt import defer_signals, stop_after
from agents.search.workspace import workspace
from checkers_env import Board

LOOP = """
import signal
import numpy as np
import agents, checkers_env
from agents.match import play_game
from agents.baselines.samuel import samuel
from agents.nnue.sampling import SamplingConfig, sample
from agents.ntuple.td import learn
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
board, player, rng = checkers_env.Board(), agents.make("random"), np.random.default_rng(0)
timed, mcts = agents.make("blondie24", seconds=0.003), agents.make("mcts", simulations=1)
for work in [{works}]:
    work()
    for _ in range({interruptions}):
        try:
            print("ready", flush=True)
            while True:
                work()
        except KeyboardInterrupt:
            pass
print("ready", flush=True)
while True:
    work()
"""
WORK = (  # kernels that take a generator, and two that give a NamedTuple
    "player.act(board)",
    "timed.act(board)",
    "agents.analyse(mcts, board)",
    "play_game(player.player, player.player)",
    "learn(samuel(np.zeros(8)), 50, rng)",
)


@pytest.mark.parametrize("call", range(1, 5))
def test_signal_during_the_change_of_handlers_restores_the_old_ones(monkeypatch, call):
    before, set_handler, calls = signal.getsignal(signal.SIGINT), signal.signal, []

    def interrupted(number, handler):
        old = set_handler(number, handler)
        calls.append(number)
        if len(calls) == call:
            os.kill(os.getpid(), signal.SIGTERM)
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
        return old

    def stop(number, frame):
        raise InterruptedError

    old = signal.signal(signal.SIGTERM, stop)
    try:
        monkeypatch.setattr(signal, "signal", interrupted)
        with pytest.raises((InterruptedError, KeyboardInterrupt)), defer_signals():
            pass
        assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == (before, stop)
    finally:
        set_handler(signal.SIGTERM, old)


def test_a_signal_of_one_block_stops_no_later_block():
    ws = workspace()
    for _ in range(1000):
        with pytest.raises(KeyboardInterrupt), defer_signals(ws):
            os.kill(os.getpid(), signal.SIGINT)
        with defer_signals(ws):
            time.sleep(1e-4)
        assert not ws.stop.any()


@pytest.fixture
def run_python():
    """Run Python code in other processes, none of which outlives a test or five minutes."""
    started = []

    def run(code):
        process = subprocess.Popen(
            [sys.executable, "-c", code], stdin=-1, stdout=-1, stderr=-1, text=True
        )
        started.append((process, threading.Timer(300, process.kill)))
        started[-1][1].start()
        return process

    yield run
    for process, timer in started:
        timer.cancel()
        process.kill()
        process.communicate()


def test_ctrl_c_ends_a_loop_cleanly(run_python):
    works = ", ".join(f"lambda: {work}" for work in WORK)
    process = run_python(LOOP.format(works=works, interruptions=8))
    for attempt in range(8 * len(WORK) + 1):
        assert process.stdout.readline() == "ready\n", WORK[min(attempt // 8, len(WORK) - 1)]
        time.sleep(0.005 * (attempt % 8))
        process.send_signal(signal.SIGINT)
    _, error = process.communicate()
    assert "KeyboardInterrupt" in error
    assert process.returncode == -signal.SIGINT


SEARCHES = {
    "a search": lambda: agents.make("blondie24", depth=64).act(Board()),
    "a selective search": lambda: agents.make("strong", depth=64).act(Board()),
    "simulations": lambda: agents.make("mcts", simulations=10**9).act(Board()),
    "a game": lambda: play_game(*[agents.make("blondie24", depth=64).player] * 2),
    "a game of temporal differences": lambda: learn_td(1, depth=64),
    "a game of TD-leaf": lambda: learn_td(1, depth=64, leaf=True),
    "a game with samples": lambda: sample_games(10**9),
}


def learn_td(games, **settings):
    learn(samuel(np.zeros(8)), games, np.random.default_rng(0), TDConfig(**settings))


def sample_games(nodes):
    config, tables = SamplingConfig(nodes=nodes, side_nodes=1), load_tablebase(2)
    network, starts = agents.make("strong").player.evaluator, [Board().position]
    sample(network, 1, np.random.default_rng(0), config, starts=starts, tables=tables)


def test_ctrl_c_ends_a_search_without_a_limit_at_once(run_python):
    process = run_python(SEARCH)
    assert process.stdout.readline() == "compiled\n"
    for name in SEARCHES:
        assert process.stdout.readline() == f"{name} begins\n", name
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == f"{name} was stopped\n", name
    assert process.wait() == 0


SEARCH = """
import signal, agents
from checkers_env import Board
from tests.agents.search import test_interrupt as tests
signal.signal(signal.SIGINT, signal.default_int_handler)
for name in ("blondie24", "strong", "mcts"):
    agents.make(name).act(Board())
tests.learn_td(1)
tests.sample_games(1)
print("compiled", flush=True)
for name, search in tests.SEARCHES.items():
    try:
        print(name, "begins", flush=True)
        search()
    except KeyboardInterrupt:
        print(name, "was stopped", flush=True)
"""


def test_handler_that_continues_gets_the_whole_search():
    ws, calls = workspace(8), []
    old = signal.signal(signal.SIGINT, lambda number, frame: calls.append(number))
    try:
        with defer_signals(ws):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)
            assert not ws.stop[0]
    finally:
        signal.signal(signal.SIGINT, old)
    assert calls == [signal.SIGINT]


def test_event_loop_keeps_its_own_wakeup():
    ws, (source, target) = workspace(8), os.pipe()
    os.set_blocking(target, False)

    def search():
        with defer_signals(ws):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.1)

    signal.set_wakeup_fd(target)
    try:
        with pytest.raises(KeyboardInterrupt):
            search()
    finally:
        assert signal.set_wakeup_fd(-1) == target
    assert os.read(source, 10) == bytes([signal.SIGINT])
    os.close(source)
    os.close(target)


def test_ctrl_c_at_the_end_of_a_timed_search_clears_the_stop_flag(monkeypatch):
    ws, join = workspace(8), threading.Thread.join

    def interrupted(thread):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
        join(thread)

    def search():
        with stop_after(ws, threading.Event(), 0.0):
            time.sleep(0.05)
            assert ws.stop[0]

    monkeypatch.setattr(threading.Thread, "join", interrupted)
    with pytest.raises(KeyboardInterrupt):
        search()
    assert not ws.stop[0]
