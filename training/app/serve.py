"""Play against the agents, and watch them, in a browser.

    checkers-play [--agent NAME ...] [--runs FOLDER ...] [options]

The page is served to this machine only. Games against people are kept as PDN files, and the agents
are rated by them.
"""

from __future__ import annotations

import asyncio
import ctypes
import errno
import os
import socket
import sys
import threading
import time
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from threading import Thread
from typing import Annotated, Any

import tyro
import uvicorn
from platformdirs import user_data_path
from rich.console import Console
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from checkers_env.files import check_folder
from training.app.agent_catalog import AgentCatalog
from training.app.app import create_app
from training.app.preparation import preparing
from training.app.request_body import JSONAnswer
from training.app.security import is_loopback
from training.runtime.cli import read_options, run_command

DEFAULT_PORT, MAX_PORT = 8024, 65_535
SHUTDOWN_SECONDS = 2  # for requests, and then for threads, to end when the server stops
RUNS = Path("runs")
HEADER_SECONDS = 10.0  # for the first line and the headers of a request to arrive
M_ARENA_MAX = -8  # of glibc's mallopt

Names = Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME ...", help_behavior_hint="")]
Folders = Annotated[tuple[Path, ...], tyro.conf.arg(metavar="FOLDER ...")]


@dataclass(frozen=True)
class ServerConfig:
    """Options of the command line."""

    port: int | None = None
    """Port; by default 8024, or any free one if that is taken."""
    host: str = "127.0.0.1"
    """Address to listen at: one of this machine's own, such as 127.0.0.1 or localhost."""
    agent: Names = ()
    """Agents to offer beside ours: weight files, or whatever else agents.make takes."""
    runs: Folders = (RUNS,)
    """Folders in which runs of evolve.py are looked for, to be watched and played against."""
    games: Path = user_data_path("checkers-laboratory", False) / "games"
    """Folder in which games against people are kept."""
    open: bool = True
    """Open the page in the browser."""


def main() -> int:
    """Run the command line; return the exit status."""
    before = set(threading.enumerate())
    share_heap()
    status = run_command(run)
    exit_despite_threads(set(threading.enumerate()) - before, status)
    return status


def share_heap() -> None:
    """Give all threads one heap: glibc's own of each keeps what its loading of kernels needed."""
    with suppress(AttributeError, TypeError):  # another C library
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 1)


def run(arguments: Sequence[str], console: Console) -> None:
    """Read the command line and serve until Ctrl-C."""
    config = read_options(ServerConfig, arguments, "checkers-play", __doc__)
    check_config(config)
    app = create_app(config.games, extra=config.agent, runs=config.runs)
    with open_listener(config.host, config.port) as listener:
        host = f"[{config.host}]" if ":" in config.host else config.host
        address = f"http://{host}:{listener.getsockname()[1]}/"

        def announce() -> None:
            console.print(f"Checkers at {address} (Ctrl-C stops it)", markup=False)
            console.print(f"Games are kept in {config.games}", markup=False)
            for folder in config.runs:
                if folder != RUNS and not folder.exists():
                    console.print(f"There is no folder {folder} yet: it has no runs", markup=False)
            if config.open:
                Thread(target=webbrowser.open, args=(address,), daemon=True).start()

        server = AnnouncingServer(
            announce,
            uvicorn.Config(
                answer_when_stopped(app),
                http=HeaderTimeoutProtocol,
                log_config=None,
                timeout_graceful_shutdown=SHUTDOWN_SECONDS,
            ),
        )
        with suppress(KeyboardInterrupt), preparing():  # Ctrl-C is the way to stop it
            server.run([listener])


class AnnouncingServer(uvicorn.Server):
    """Server that calls a function when it answers requests."""

    def __init__(self, announce: Callable[[], None], config: uvicorn.Config) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and announce it."""
        await super().startup(sockets)
        if self.started:
            self._announce()


class HeaderTimeoutProtocol(H11Protocol):
    """HTTP connection that is closed if a request's headers do not arrive in time.

    uvicorn has a time-out for a connection at rest between two requests only.
    """

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Start to wait for the first request."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Read a part of a request."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        super().connection_lost(exc)
        self._stop_timer()

    def _watch(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_timer()
        elif self._timer is None:
            self._timer = self.loop.call_later(HEADER_SECONDS, self.transport.close)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def answer_when_stopped(app: ASGIApp) -> ASGIApp:
    """Answer requests that the server cancels when it stops by 503, without a traceback."""

    async def respond(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await app(scope, receive, send)
        except asyncio.CancelledError:
            if scope["type"] != "http":
                raise
            response = JSONAnswer({"error": "The server has stopped."}, 503)
            with suppress(RuntimeError):  # an answer was on its way
                await response(scope, receive, send)

    return respond


def exit_despite_threads(threads: set[Thread], status: int) -> None:
    """End the process if one of these threads goes on, such as that of an agent that hangs.

    Nothing is lost: every change of a game is on disk before the page shows it.
    """
    end = time.monotonic() + SHUTDOWN_SECONDS
    waited_for = [thread for thread in threads if not thread.daemon]
    with suppress(KeyboardInterrupt):
        for thread in waited_for:
            thread.join(max(end - time.monotonic(), 0))
    if any(thread.is_alive() for thread in waited_for):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def check_config(config: ServerConfig) -> None:
    """Check the options and create the folder of the games. Raise ValueError for a wrong option."""
    if config.port is not None and not 0 <= config.port <= MAX_PORT:
        raise ValueError(f"--port must be 0 to {MAX_PORT}, not {config.port}")
    if not is_loopback(config.host):
        raise ValueError(f"--host must be this machine's own address, not {config.host!r}")
    catalog = AgentCatalog(config.agent)
    for name in config.agent:
        catalog.entry(name)  # raises where the agent cannot be made
    check_folder("--games", config.games)
    for folder in config.runs:
        check_folder("--runs", folder)
    try:
        config.games.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=config.games).close()
    except OSError as error:
        raise ValueError(f"no games can be kept in {str(config.games)!r}: {error}") from error


def open_listener(host: str, port: int | None) -> socket.socket:
    """Return a listening socket; without a port at 8024 or a free one. Raise OSError."""
    first_port = DEFAULT_PORT if port is None else port
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, first_port), family=family)
    except OSError as error:
        if port is not None or error.errno != errno.EADDRINUSE:
            raise OSError(f"cannot listen at {host}, port {first_port}: {error}") from None
    return socket.create_server((host, 0), family=family)


if __name__ == "__main__":
    sys.exit(main())
