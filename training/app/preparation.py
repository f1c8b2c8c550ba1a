"""Preparation when the server starts: kernels of the first opponents and the judge, endgame tables.

Both take time once on a machine. It has a process of its own: while a kernel is compiled, all
other threads of its process that need a kernel would wait, and with them the pages. The server then
loads the kernels and the tables from the cache.
"""

from __future__ import annotations

import multiprocessing
import signal
import time
from functools import partial
from threading import Event, Thread

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

TYPICAL_SECONDS = 10
POLL_SECONDS = 0.1
TABLE_PIECES = 4


class Preparation:
    """State of a preparation, of agents' kernels or of endgame tables of up to so many pieces.

    It is done as long as none was started.
    """

    def __init__(self, *agents: str, pieces: int = 0) -> None:
        self._agents, self._pieces = agents, pieces
        self._done, self._start = Event(), 0.0
        self._done.set()

    def start(self, *, after: Preparation | None = None) -> None:
        """Start the process, or wait until another preparation is done and start it then."""
        self._done.clear()
        self._start = time.monotonic()
        Thread(target=self._run, args=(after,), daemon=True).start()

    def _run(self, after: Preparation | None) -> None:
        try:
            if after:
                after.wait(Event())
            target = partial(_prepare, self._agents, self._pieces)
            process = multiprocessing.get_context("spawn").Process(target=target, daemon=True)
            process.start()
            process.join()
            load_tables(self._pieces)
        finally:
            self._done.set()

    def wait(self, stop: Event) -> None:
        """Wait for its end, or until `stop` is set."""
        while not (stop.is_set() or self._done.wait(POLL_SECONDS)):
            pass

    @property
    def seconds(self) -> float | None:
        """Seconds since its start, or None when it is done."""
        return None if self._done.is_set() else time.monotonic() - self._start


FIRST = BY_ID[RECOMMENDED].agent
PREPARATION = Preparation(FIRST)
OTHERS_PREPARATION = Preparation(DEFAULT_AGENT)
JUDGE_PREPARATION = Preparation(JUDGE)
TABLES_PREPARATION = Preparation(pieces=TABLE_PIECES)


def wait_for_kernels(agent: str, stop: Event) -> None:
    """Wait for what prepares the kernels of an agent; only the first opponent answers sooner."""
    (PREPARATION if agent == FIRST else OTHERS_PREPARATION).wait(stop)


def warm_up(*agents: str) -> None:
    """Compile the kernels of agents, or load them."""
    for name in agents:
        analyse_until(AgentCatalog().make(name), Board(), Limits(depth=2), Event())


def load_tables(pieces: int) -> None:
    """Load the endgame tables of up to so many pieces, or work them out; nothing for 0."""
    if pieces:
        probe_board(load_tablebase(pieces), Board("B:WK1:BK32"))


def _prepare(agents: tuple[str, ...], pieces: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this
    warm_up(*agents)
    load_tables(pieces)


async def show_preparation(request: Request) -> Response:
    """Return the seconds since the start of the compilation, None when it is done."""
    return JSONAnswer({"seconds": PREPARATION.seconds, "typical": TYPICAL_SECONDS})


routes = [Route("/api/preparation", show_preparation)]
