"""Compilation of the kernels of the first opponents and of the judge, when the server starts.

That takes time once on a machine. It has a process of its own: while a kernel is compiled, all
other threads of its process that need a kernel would wait, and with them the pages. The server then
loads the kernels from the cache.
"""

from __future__ import annotations

import multiprocessing
import signal
import time
from functools import partial
from threading import Event, Thread

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from agents.analysis import Limits, analyse_until
from checkers_env.board import Board
from training.app.agent_catalog import DEFAULT_AGENT, JUDGE, AgentCatalog
from training.app.opponents import BY_ID, RECOMMENDED

TYPICAL_SECONDS = 20
POLL_SECONDS = 0.1


class Preparation:
    """State of a compilation; it is done as long as none was started.

    Parameters
    ----------
    agents
        Names of agents whose kernels are compiled.
    """

    def __init__(self, *agents: str) -> None:
        self._agents = agents
        self._done, self._start = Event(), 0.0
        self._done.set()

    def start(self, *, after: Preparation | None = None) -> None:
        """Start the process, or wait until another compilation is done and start it then."""
        self._done.clear()
        self._start = time.monotonic()
        Thread(target=self._run, args=(after,), daemon=True).start()

    def _run(self, after: Preparation | None) -> None:
        try:
            if after:
                after.wait(Event())
            target = partial(_compile, self._agents)
            process = multiprocessing.get_context("spawn").Process(target=target, daemon=True)
            process.start()
            process.join()
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


PREPARATION = Preparation(BY_ID[RECOMMENDED].agent, DEFAULT_AGENT)
JUDGE_PREPARATION = Preparation(JUDGE)


def warm_up(*agents: str) -> None:
    """Compile the kernels of agents, or load them."""
    for name in agents:
        analyse_until(AgentCatalog().make(name), Board(), Limits(depth=2), Event())


def _compile(agents: tuple[str, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this
    warm_up(*agents)


async def show_preparation(request: Request) -> Response:
    """Return the seconds since the start of the compilation, None when it is done."""
    return JSONResponse({"seconds": PREPARATION.seconds, "typical": TYPICAL_SECONDS})


routes = [Route("/api/preparation", show_preparation)]
