"""Interrupts of a search: time limits, stop events, late moves and deferred signals."""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from functools import cache
from types import FrameType

from agents.search.workspace import Workspace

Handler = Callable[[int, FrameType | None], object]
SIGNALS = (signal.SIGINT, signal.SIGTERM)
HAS_WAKEUP_PIPE = os.name == "posix"  # elsewhere a search ends before the signal is handled
POLL_SECONDS = 0.05
NOT_BEGUN = -1  # as a number of plies: the kernel is still compiled or loaded


class _SignalListener:
    """Thread that sets stop flags when a signal arrives, while the main thread runs a kernel.

    Python runs signal handlers between two instructions of the main thread, so not before a kernel
    returns. At once it only writes the signal's number to a pipe, from which the thread reads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._workspaces: tuple[Workspace, ...] = ()
        self._numbers: Collection[int] = ()
        self._source, self._target = os.pipe()
        for end in (self._source, self._target):
            os.set_blocking(end, False)
        threading.Thread(target=self._listen, daemon=True).start()

    @contextmanager
    def stop_on(self, numbers: Collection[int], *workspaces: Workspace) -> Iterator[None]:
        """Stop the searches of a with block at these signals."""
        self._numbers, self._workspaces = numbers, workspaces
        before = signal.set_wakeup_fd(self._target, warn_on_full_buffer=False)
        if before != -1:  # an event loop listens, which must hear of its signals
            signal.set_wakeup_fd(before)
        try:
            yield
        finally:
            if before == -1:
                signal.set_wakeup_fd(-1)
            with self._lock:  # no flag is set from here on
                self._workspaces = ()
                self._read()  # or a slow thread would stop a later block at a signal of this one

    def _read(self) -> bytes:
        try:
            return os.read(self._source, 1024)
        except BlockingIOError:
            return b""

    def _listen(self) -> None:
        pipe = select.poll()
        pipe.register(self._source, select.POLLIN)
        while pipe.poll():
            with self._lock:
                if set(self._read()) & set(self._numbers):
                    set_stop(self._workspaces, True)


@cache
def _listener() -> _SignalListener:
    return _SignalListener()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_listener.cache_clear)  # a fork has no copy of its thread


@contextmanager
def defer_signals(*workspaces: Workspace, interrupts_only: bool = False) -> Iterator[None]:
    """Handle SIGINT and SIGTERM at the end of a with block.

    Python handles signals on the main thread only; on other threads this does nothing. A signal
    that raises KeyboardInterrupt at the end of the block ends the searches in these workspaces at
    once; another handler may go on, and needs whole searches. With `interrupts_only` it is called
    at once.
    """
    received: list[tuple[int, FrameType | None]] = []

    def note(number: int, frame: FrameType | None) -> None:
        received.append((number, frame))

    handlers: dict[int, Handler] = {}
    if threading.current_thread() is threading.main_thread():
        handlers = {it: call for it in SIGNALS if callable(call := signal.getsignal(it))}
    raising = [it for it, call in handlers.items() if call is signal.default_int_handler]
    if interrupts_only:
        handlers = {it: handlers[it] for it in raising}
    try:
        for each in handlers:
            signal.signal(each, note)
        if workspaces and raising and HAS_WAKEUP_PIPE:
            with _listener().stop_on(raising, *workspaces):
                if any(number in raising for number, _ in received):  # before the listener heard
                    set_stop(workspaces, True)
                yield
        else:
            yield
    finally:
        if any(number in raising for number, _ in received):
            set_stop(workspaces, False)
        _restore(list(handlers.items()))
        for number, frame in received:
            handlers[number](number, frame)


def set_stop(workspaces: Collection[Workspace], stop: bool) -> None:
    """Set or clear the flags that end the searches in these workspaces."""
    for ws in workspaces:
        ws.stop.fill(stop)


def _restore(handlers: list[tuple[int, Handler]]) -> None:
    """Set all handlers, even if a handler that is set raises before the others are."""
    if handlers:
        try:
            signal.signal(*handlers.pop())
        finally:
            _restore(handlers)


@contextmanager
def stop_after(ws: Workspace, stopped: threading.Event, seconds: float | None) -> Iterator[None]:
    """Stop the searches of a with block after a time or at an event; at the end it is set."""

    def wait() -> None:
        stopped.wait(None if seconds is None else min(seconds, threading.TIMEOUT_MAX))
        set_stop([ws], True)

    with watch(wait, stopped, [ws]):
        yield


@contextmanager
def watch(
    watcher: Callable[[], None], ended: threading.Event, workspaces: Collection[Workspace]
) -> Iterator[None]:
    """Run a function in a thread beside a with block; it must return soon after `ended` is set.

    `ended` is set at the end of the block, and the stop flags of the workspaces are cleared.
    """
    thread = threading.Thread(target=watcher, daemon=True)
    with defer_signals(*workspaces, interrupts_only=True):  # else Ctrl-C could leave the flags set
        try:
            with defer_signals():
                thread.start()
            yield
        finally:
            with defer_signals():
                ended.set()
                if thread.ident is not None:
                    thread.join()
                del thread  # Python would drop an exception raised while it forgets a thread
                set_stop(workspaces, False)


class LateMoveError(Exception):
    """Raised when a player takes too long for a move, `plies` moves into the game."""

    def __init__(self, plies: int) -> None:
        super().__init__(plies)
        self.plies = plies
        self.paths: tuple[int, ...] = ()


@contextmanager
def guard_moves(
    workspaces: Sequence[Workspace],
    seconds: float | None,
    stop: threading.Event | None,
    count_plies: Callable[[], int],
) -> Iterator[None]:
    """Stop the searches of a with block when a move takes longer than `seconds`, or at an event.

    `count_plies` returns how many moves have been made, or NOT_BEGUN; the time of the first move
    counts from when this is over. At the end of the block raise LateMoveError if a move was late,
    and CancelledError if the event stopped it.
    """
    ended = threading.Event()
    late: list[int] = []

    def watch_plies() -> None:
        plies, since = NOT_BEGUN, 0.0
        pause = min(POLL_SECONDS, (seconds or 1.0) / 4)
        while not ended.wait(pause):
            now = time.monotonic()
            reached = count_plies()
            if reached > plies:
                plies, since = reached, now
            elif plies > NOT_BEGUN and seconds is not None and now - since > seconds:
                late.append(plies)
            if late or (stop and stop.is_set()):
                set_stop(workspaces, True)
                return

    with watch(watch_plies, ended, workspaces):
        yield
    if late:
        raise LateMoveError(late[0])
    if stop and stop.is_set():
        raise CancelledError
