"""Compilation of the default agent's kernels, once on a machine, when the server starts.

It has a process of its own: while a kernel is compiled, all other threads of its process that need
a kernel would wait, and with them the pages. The server then loads the kernels from the cache.
"""

from __future__ import annotations

import multiprocessing
import signal
import time
from threading import Event, Thread

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from agents.analysis import Limits, analyse_until
from checkers_env.board import Board
from training.app.agent_catalog import DEFAULT_AGENT, AgentCatalog

TYPICAL_SECONDS = 20
POLL_SECONDS = 0.1


class Preparation:
    """State of the compilation; it is done as long as none was started."""

    def __init__(self) -> None:
        self._done, self._start = Event(), 0.0
        self._done.set()

    def start(self) -> None:
        """Start the process."""
        self._done.clear()
        self._start = time.monotonic()
        Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        try:
            process = multiprocessing.get_context("spawn").Process(target=_compile, daemon=True)
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


PREPARATION = Preparation()


def warm_up() -> None:
    """Compile the kernels of the default agent, or load them."""
    analyse_until(AgentCatalog().make(DEFAULT_AGENT), Board(), Limits(depth=2), Event())


def _compile() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this
    warm_up()


async def show_preparation(request: Request) -> Response:
    """Return the seconds since the start of the compilation, None when it is done."""
    return JSONResponse({"seconds": PREPARATION.seconds, "typical": TYPICAL_SECONDS})


routes = [Route("/api/preparation", show_preparation)]
