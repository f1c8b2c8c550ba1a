"""Preparation when the server starts: kernels of the first opponents and the judge, endgame tables.

Both take time once on a machine. It has a process of its own: while a kernel is compiled, all
other threads of its process that need a kernel would wait, and with them the pages. The server then
loads the kernels and the tables from the cache. Until then the first opponents play in another
process, whose kernels are plain Python functions: fast enough for searches of a few plies.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from multiprocessing.pool import Pool
from threading import Event, Lock, Thread
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agents.agent import Limits
from agents.analysis import analyse_until
from agents.endgame.probe import probe_board
from agents.endgame.tables import load_tablebase
from checkers_env.board import Board
from training.app.agent_catalog import DEFAULT_AGENT, JUDGE, AgentCatalog
from training.app.opponents import BY_ID, RECOMMENDED
from training.app.request_body import JSONAnswer
from training.runtime.executors import blocked_signals, tell_once

SPAWN = multiprocessing.get_context("spawn")
TYPICAL_SECONDS = 10
POLL_SECONDS = 0.1
TABLE_PIECES = 4


class Preparation:
    """State of a preparation, of agents' kernels or of endgame tables of up to so many pieces.

    It is done as long as none was started.
    """

    _process: Any = None
    _plain: Pool | None = None  # a process whose kernels are plain Python functions

    def __init__(self, *agents: str, pieces: int = 0) -> None:
        self._agents, self._pieces = agents, pieces
        self._done, self._stop, self._start, self._lock = Event(), Event(), 0.0, Lock()
        self._done.set()

    def start(self, told: Any, *, after: Preparation | None = None) -> None:
        """Start the process, now or after another preparation; `told` is as for `tell_once`."""
        self._done.clear()
        self._start = time.monotonic()
        Thread(target=self._run, args=(told, after), daemon=True).start()

    def _run(self, told: Any, after: Preparation | None) -> None:
        try:
            if after:
                after.wait(self._stop)
            target = partial(_prepare, self._agents, self._pieces, told)
            with self._lock, blocked_signals({signal.SIGINT}):
                if self._stop.is_set():
                    return
                self._process = SPAWN.Process(target=target, daemon=True)
                self._process.start()
            self._process.join()
            if not self._stop.is_set():
                load_tables(self._pieces)
        finally:
            with self._lock:
                self._done.set()
                if self._plain:
                    self._plain.close()

    def stop(self) -> None:
        """End it, since the server ends."""
        self._stop.set()
        with self._lock:
            for process in (self._process, self._plain):
                if process:
                    process.terminate()

    def call_plainly(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function where kernels are plain Python functions; None once it is done."""
        with self._lock:
            if self._done.is_set():
                return None
            self._plain = self._plain or _start_plain_process()
            task = self._plain.apply_async(function, arguments)
        while not (task.ready() or self._done.is_set()):  # a killed process is never ready
            task.wait(POLL_SECONDS)
        return task.get() if task.ready() else None

    def wait(self, stop: Event) -> None:
        """Wait for its end, or until `stop` is set."""
        while not (stop.is_set() or self._done.wait(POLL_SECONDS)):
            pass

    @property
    def seconds(self) -> float | None:
        """Seconds since its start, or None when it is done."""
        return None if self._done.is_set() else time.monotonic() - self._start


FIRST = (BY_ID[RECOMMENDED].agent, "random")
PREPARATION = Preparation(*FIRST)
OTHERS_PREPARATION = Preparation(DEFAULT_AGENT)
JUDGE_PREPARATION = Preparation(JUDGE)
TABLES_PREPARATION = Preparation(pieces=TABLE_PIECES)


def wait_for_kernels(agent: str, stop: Event) -> None:
    """Wait for what prepares the kernels of an agent, or for those of the default agent."""
    others = JUDGE_PREPARATION if agent == JUDGE else OTHERS_PREPARATION
    (PREPARATION if agent in FIRST else others).wait(stop)


@contextmanager
def preparing() -> Iterator[None]:
    """Prepare all in a with block; the judge, who gives hints, waits for the first opponents."""
    told = SPAWN.Lock()
    tell_once(told)
    PREPARATION.start(told)
    OTHERS_PREPARATION.start(told, after=PREPARATION)
    JUDGE_PREPARATION.start(told, after=PREPARATION)
    TABLES_PREPARATION.start(told, after=JUDGE_PREPARATION)
    try:
        yield
    finally:
        for it in (TABLES_PREPARATION, JUDGE_PREPARATION, OTHERS_PREPARATION, PREPARATION):
            it.stop()


def warm_up(*agents: str) -> None:
    """Compile the kernels of agents, or load them."""
    for name in agents:
        analyse_until(AgentCatalog().make(name), Board(), Limits(depth=2), Event())


def load_tables(pieces: int) -> None:
    """Load the endgame tables of up to so many pieces, or work them out; nothing for 0."""
    if pieces:
        probe_board(load_tablebase(pieces), Board("B:WK1:BK32"))


def _start_plain_process() -> Pool:
    os.environ["NUMBA_DISABLE_JIT"] = "1"  # it is read when numba is imported
    try:
        with blocked_signals({signal.SIGINT}):
            return SPAWN.Pool(1, signal.signal, (signal.SIGINT, signal.SIG_IGN))
    finally:
        del os.environ["NUMBA_DISABLE_JIT"]


def _prepare(agents: tuple[str, ...], pieces: int, told: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this
    tell_once(told)
    warm_up(*agents)
    load_tables(pieces)


async def show_preparation(request: Request) -> Response:
    """Return the seconds since the start of the compilation, None when it is done."""
    return JSONAnswer({"seconds": PREPARATION.seconds, "typical": TYPICAL_SECONDS})


routes = [Route("/api/preparation", show_preparation)]
