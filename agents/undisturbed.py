"""Ctrl-C, put off while a kernel takes its arguments and gives its result.

numba takes a generator apart in Python, and puts a NamedTuple together there, and does not look
whether that was interrupted: an exception that a signal raises just then crashes the process. So
whoever hands the one to a kernel, or gets the other from it, does it undisturbed; a signal that
comes meanwhile is handled when the kernel has returned, which is when Python would have come to it
anyway.
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
    for each in handlers:
        signal.signal(each, note)
    try:
        yield
    finally:
        for each, handler in handlers.items():
            signal.signal(each, handler)
        for number, frame in came:
            handlers[number](number, frame)
