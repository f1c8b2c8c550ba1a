"""Play against the agents, and watch them, in a browser.

    checkers-play [--agent NAME ...] [--runs FOLDER ...] [options]

The page is served to this machine only. Games against people are kept as PDN files, and the agents
are rated by them.
"""

from __future__ import annotations

import errno
import socket
import sys
import webbrowser
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from threading import Event, Thread
from typing import Annotated

import tyro
import uvicorn
from platformdirs import user_data_path
from rich.console import Console

from agents.analysis import Limits, analyse_until
from checkers_env.board import Board
from training.app.agent_catalog import DEFAULT, Roster
from training.app.app import application
from training.app.security import is_loopback
from training.runtime.cli import run_command

LAST_PORT = 65_535
PORT = 8024
PATIENCE = 2  # seconds that requests are given to end when the server stops

Names = Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME ...", help_behavior_hint="")]
Folders = Annotated[tuple[Path, ...], tyro.conf.arg(metavar="FOLDER ...")]


@dataclass(frozen=True)
class Settings:
    """Where the page is, and what it offers."""

    port: int | None = None
    """Port; by default 8024, or any free one if that is taken."""
    host: str = "127.0.0.1"
    """Address to listen at: one of this machine's own, such as 127.0.0.1 or localhost."""
    agent: Names = ()
    """Agents to offer beside ours: weight files, or whatever else agents.make takes."""
    runs: Folders = (Path("runs"),)
    """Folders in which runs of evolve.py are looked for, to be watched and played against."""
    games: Path = user_data_path("checkers-laboratory", False) / "games"
    """Folder in which games against people are kept."""
    open: bool = True
    """Open the page in the browser."""


def main() -> int:
    """Run the command line; return the exit status."""
    return run_command(run)


def run(arguments: Sequence[str], console: Console) -> None:
    """Read the command line and serve until Ctrl-C."""
    settings = tyro.cli(Settings, args=arguments, prog="checkers-play", description=__doc__)
    if settings.port is not None and not 0 <= settings.port <= LAST_PORT:
        raise ValueError(f"--port must be 0 to {LAST_PORT}, not {settings.port}")
    if not is_loopback(settings.host):
        raise ValueError(f"--host must be this machine's own address, not {settings.host!r}")
    roster = Roster(settings.agent)
    for name in settings.agent:
        roster.offer(name)  # so that one that cannot be made is told of here
    if settings.games.exists() and not settings.games.is_dir():
        raise ValueError(f"--games must be a folder, not {str(settings.games)!r}")
    try:
        settings.games.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=settings.games).close()
    except OSError as error:
        raise ValueError(f"no games can be kept in {str(settings.games)!r}: {error}") from error
    app = application(settings.games, extra=settings.agent, runs=settings.runs)
    with listening(settings.host, settings.port) as listener:
        address = f"http://{_written(settings.host)}:{listener.getsockname()[1]}/"
        console.print(f"Checkers at {address} (Ctrl-C stops it)", markup=False)
        console.print(f"Games are kept in {settings.games}", markup=False)
        if settings.open:
            webbrowser.open(address)
        Thread(target=warm_up, daemon=True).start()
        server = uvicorn.Server(
            uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=PATIENCE)
        )
        with suppress(KeyboardInterrupt):  # the way to stop it
            server.run([listener])


def listening(host: str, port: int | None) -> socket.socket:
    """A socket that listens; without a port at 8024, or at a free one. Raises OSError."""
    asked = PORT if port is None else port
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, asked), family=family)
    except OSError as error:
        if port is not None or error.errno != errno.EADDRINUSE:
            raise OSError(f"cannot listen at {host}, port {asked}: {error}") from None
    return socket.create_server((host, 0), family=family)


def warm_up() -> None:
    """Compile, on a new machine, what the default agent needs, before it is asked to play."""
    analyse_until(Roster().make(DEFAULT), Board(), Limits(depth=2), Event())


def _written(host: str) -> str:
    return f"[{host}]" if ":" in host else host


if __name__ == "__main__":
    sys.exit(main())
