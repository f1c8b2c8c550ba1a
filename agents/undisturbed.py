"""Ctrl-C, put off while a kernel takes its arguments and gives its result.

numba takes a generator apart in Python, and puts a NamedTuple together there, and does not look
whether that was interrupted: an exception that a signal raises just then crashes the process. So
whoever hands the one to a kernel, or gets the other from it, does it undisturbed; a signal that
comes meanwhile is handled when the kernel has returned, which is when Python would have come to it
anyway (but for the first call, in which the kernel is compiled).
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

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
