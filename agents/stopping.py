"""The end of a search that comes from outside: the time is up, or somebody has had enough."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from agents.undisturbed import undisturbed
from agents.workspace import Workspace


@contextmanager
def stopping(ws: Workspace, stopped: threading.Event, seconds: float | None) -> Iterator[None]:
    """Set the workspace's stop flag when it is `stopped` or the time is up.

    At the end `stopped` is set in any case, and the flag is not.
    """

    def wait() -> None:
        stopped.wait(None if seconds is None else min(seconds, threading.TIMEOUT_MAX))
        ws.stop.fill(1)

    guard = threading.Thread(target=wait, daemon=True)
    try:
        with undisturbed():
            guard.start()
        yield
    finally:
        with undisturbed():  # or Ctrl-C could leave the flag set, and end each search to come
            stopped.set()
            if guard.ident is not None:
                guard.join()
            ws.stop.fill(0)
