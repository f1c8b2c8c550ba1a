"""One at a time: what keeps the threads that use one agent apart."""

from __future__ import annotations

import threading


class Turn:
    """A lock that a thread may take again; its copies, pickled ones too, are locks of their own."""

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def __reduce__(self) -> tuple[type[Turn], tuple[()]]:
        return Turn, ()
