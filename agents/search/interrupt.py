"""The end of a search that comes from outside: the time is up, or somebody has had enough."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from agents.search.workspace import Workspace

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Handle signals at the end of a with block. Threads other than the main one never do."""
    came: list[tuple[int, FrameType | None]] = []

    def note(number: int, frame: FrameType | None) -> None:
        came.append((number, frame))

    handlers: dict[int, Callable[[int, FrameType | None], object]] = {}
    if threading.current_thread() is threading.main_thread():
        handlers = {it: call for it in SIGNALS if callable(call := signal.getsignal(it))}
    try:
        for each in handlers:
            signal.signal(each, note)
        yield
    finally:
        _set(list(handlers.items()))
        for number, frame in came:
            handlers[number](number, frame)


def _set(handlers: list[tuple[int, Callable[[int, FrameType | None], object]]]) -> None:
    """Set all handlers, though one that is set raises before the others are."""
    if handlers:
        try:
            signal.signal(*handlers.pop())
        finally:
            _set(handlers)


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
