"""Interrupts of a search: time limits, stop events and deferred signals."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from agents.search.workspace import Workspace

Handler = Callable[[int, FrameType | None], object]
SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def defer_signals() -> Iterator[None]:
    """Handle SIGINT and SIGTERM at the end of a with block.

    Python handles signals on the main thread only; on other threads this does nothing.
    """
    received: list[tuple[int, FrameType | None]] = []

    def note(number: int, frame: FrameType | None) -> None:
        received.append((number, frame))

    handlers: dict[int, Handler] = {}
    if threading.current_thread() is threading.main_thread():
        handlers = {it: call for it in SIGNALS if callable(call := signal.getsignal(it))}
    try:
        for each in handlers:
            signal.signal(each, note)
        yield
    finally:
        _restore(list(handlers.items()))
        for number, frame in received:
            handlers[number](number, frame)


def _restore(handlers: list[tuple[int, Handler]]) -> None:
    """Set all handlers, even if a handler that is set raises before the others are."""
    if handlers:
        try:
            signal.signal(*handlers.pop())
        finally:
            _restore(handlers)


@contextmanager
def stop_after(ws: Workspace, stopped: threading.Event, seconds: float | None) -> Iterator[None]:
    """Stop the searches of a with block after a time, or when an event is set.

    Parameters
    ----------
    ws
        Workspace of the searches, whose stop flag is set.
    stopped
        Event that ends the searches; at the end of the block it is set in any case.
    seconds
        Time limit; None for no limit.
    """

    def wait() -> None:
        stopped.wait(None if seconds is None else min(seconds, threading.TIMEOUT_MAX))
        ws.stop.fill(1)

    guard = threading.Thread(target=wait, daemon=True)
    try:
        with defer_signals():
            guard.start()
        yield
    finally:
        with defer_signals():  # Ctrl-C could leave the flag set, which ends all later searches
            stopped.set()
            if guard.ident is not None:
                guard.join()
            ws.stop.fill(0)
