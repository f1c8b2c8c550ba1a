"""The transport of outside programs: messages over a socket or two pipes (POSIX).

Nothing that the other end does keeps the caller waiting or fills its memory: each wait has a
deadline, each message a greatest size.
"""

from __future__ import annotations

import os
import select
import socket
import time
from collections import deque
from contextlib import suppress
from typing import IO

CHUNK = 1 << 16  # bytes read at once: all that a pipe holds
MAX_UNSENT = 1 << 20  # bytes that the other end has not read yet


class ChannelClosedError(Exception):
    """Raised when the other end of a channel has closed it or cannot be reached any more."""


class Channel:
    """Messages that the byte `end` ends.

    Messages are read from `source` and written to `sink`, which may be one socket. `lifeline` is
    a socket that has something to read when the other end has gone.
    """

    def __init__(
        self,
        source: IO[bytes] | socket.socket,
        sink: IO[bytes] | socket.socket,
        end: bytes,
        largest: int,
        lifeline: socket.socket | None = None,
    ) -> None:
        self._source, self._sink, self._lifeline = source, sink, lifeline
        self._end, self._largest = end, largest
        self._messages: deque[bytes] = deque()
        self._received = self._unsent = b""
        self._is_closed = False
        for stream in (source, sink):
            os.set_blocking(stream.fileno(), False)

    def send(self, message: bytes) -> None:
        """Send a message without waiting; what the other end does not take yet follows later.

        Raises
        ------
        ChannelClosedError
            When the other end takes nothing any more. A broken connection is seen by `receive`.
        """
        if len(self._unsent) > MAX_UNSENT:
            raise ChannelClosedError("reads nothing")
        self._unsent += message + self._end
        self._write()

    def receive(self, deadline: float | None) -> bytes:
        """Return the next message without its end; one above the greatest size comes in pieces.

        Raises
        ------
        TimeoutError
            At the `deadline` of :func:`time.monotonic`, even if messages flood in.
        ChannelClosedError
            When the other end has gone.
        """
        while True:
            left = _seconds_left(deadline)
            if self._messages:
                return self._messages.popleft()
            self._wait(left)

    def discard(self) -> None:
        """Drop the messages that have come."""
        with suppress(ChannelClosedError):
            self._read()
        self._messages.clear()

    def finish(self, deadline: float) -> None:
        """Close the sink once all is sent, and drop what comes until the other end is closed."""
        with suppress(ChannelClosedError, TimeoutError):
            while True:
                self._messages.clear()
                if not self._unsent:
                    self._sink.close()
                self._wait(_seconds_left(deadline))

    def close(self) -> None:
        """Close both streams."""
        self._is_closed = True
        self._source.close()
        self._sink.close()

    def _wait(self, seconds: float | None) -> None:
        """Read and write what is possible, or wait for that."""
        if self._is_closed:
            raise ChannelClosedError("is closed")
        source = self._source.fileno()
        events = {source: select.POLLIN}
        if self._unsent:
            sink = self._sink.fileno()
            events[sink] = events.get(sink, 0) | select.POLLOUT
        if self._lifeline:
            events.setdefault(self._lifeline.fileno(), select.POLLIN)
        poll = select.poll()  # select itself takes no descriptors above 1023
        for stream, event in events.items():
            poll.register(stream, event)
        ready = dict(poll.poll(None if seconds is None else seconds * 1000))
        if self._unsent and self._sink.fileno() in ready:
            self._write()
        elif ready and source not in ready:
            raise ChannelClosedError("has gone")
        self._read()

    def _write(self) -> None:
        try:
            self._unsent = self._unsent[os.write(self._sink.fileno(), self._unsent) :]
        except BlockingIOError:
            pass
        except (OSError, ValueError):  # reading tells why
            self._unsent = b""

    def _read(self) -> None:
        try:
            data = os.read(self._source.fileno(), CHUNK)
        except BlockingIOError:
            return
        except OSError as error:
            raise ChannelClosedError(f"cannot be reached any more: {error}") from error
        if not data:
            raise ChannelClosedError("hung up")
        *whole, self._received = (self._received + data).split(self._end)
        self._messages.extend(whole)
        if len(self._received) > self._largest:
            self._messages.append(self._received)
            self._received = b""


def _seconds_left(deadline: float | None) -> float | None:
    """Return the time to a deadline. Raise TimeoutError after it."""
    left = None if deadline is None else deadline - time.monotonic()
    if left is not None and left <= 0:
        raise TimeoutError
    return left


def shut_down(waiting: socket.socket) -> None:
    """End a connection or a wait for one, from any thread."""
    with suppress(OSError):  # it is closed already
        waiting.shutdown(socket.SHUT_RDWR)
