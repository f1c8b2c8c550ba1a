"""Sockets that another thread waits for."""

from __future__ import annotations

import socket
from contextlib import suppress


def shut_down(waiting: socket.socket) -> None:
    """End a connection or a wait for one, from any thread."""
    with suppress(OSError):  # it is closed already
        waiting.shutdown(socket.SHUT_RDWR)
