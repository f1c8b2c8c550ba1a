"""Guard of compiled searches: stop them when a move takes too long, or at an event."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager

from agents.search.interrupt import set_stop, watch
from agents.search.workspace import Workspace

POLL_SECONDS = 0.05
NOT_BEGUN = -1  # as a number of plies: the kernel is still compiled or loaded


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
