"""One at a time: what keeps the threads that use one agent apart."""

from __future__ import annotations

import threading


class Turn:
    """Has a lock that a thread may take again; copies, pickled ones too, have locks of their own.

    The lock is taken as such: through methods of Python, which Ctrl-C can come between, it might be
    left taken for ever.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()

    def __reduce__(self) -> tuple[type[Turn], tuple[()]]:
        return Turn, ()
