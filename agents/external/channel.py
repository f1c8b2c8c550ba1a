"""A child process under a supervisor, and a channel of JSON lines to it.

Nothing that the child does keeps the caller waiting or fills its memory: each request has a
deadline, each answer a greatest size. What it sends is parsed as JSON and never executed.
"""

from __future__ import annotations

import json
import select
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from agents.external.errors import EngineError
from agents.external.process import ProcessLimits, SupervisedProcess

MAX_ANSWER_BYTES = 1 << 16
STDERR = 2


class ChannelClosedError(Exception):
    """Raised when the other end of a channel is closed."""


class Channel:
    """A child process that answers requests, each with one line of JSON (POSIX).

    Parameters
    ----------
    program, arguments
        Python source that the child executes. Its ``sys.argv[1]`` is the number of the channel's
        file descriptor, and `arguments` follow.
    limits
        Limits of memory and processes.
    """

    def __init__(self, program: str, arguments: Sequence[str], limits: ProcessLimits) -> None:
        self._socket, channel = socket.socketpair()
        self._received = b""
        self._requests = 0
        number = channel.fileno()
        try:
            self._process = SupervisedProcess(
                [sys.executable, "-u", "-c", program, str(number), *arguments],
                limits,
                [number],
                stdin=subprocess.DEVNULL,
                stdout=STDERR,  # keep the output of agents out of tables
            )
        except BaseException:
            self._socket.close()
            raise
        finally:
            channel.close()
        self._socket.setblocking(False)

    def request(self, message: dict[str, Any], seconds: float | None) -> dict[str, Any]:
        """Send a message and return the answer, a JSON object.

        Raises
        ------
        ChannelClosedError
            When the child has ended or closed the channel.
        TimeoutError
            After `seconds`; None waits for ever.
        EngineError
            For an answer that is too long, no JSON object, or to another request.
        """
        end = None if seconds is None else time.monotonic() + seconds
        self._requests += 1
        line = json.dumps(message | {"request": self._requests}).encode() + b"\n"
        self._process.resume()
        try:
            self._send(line, end)
            answer = _parse(self._receive(end))
        except OSError as error:
            if isinstance(error, TimeoutError):
                raise
            raise ChannelClosedError from error
        self._process.pause()  # it must not take processor time from others
        if answer.pop("request", None) != self._requests:
            raise EngineError("it answered another request")
        return answer

    def interrupt(self) -> None:
        """End the process from another thread; the request of this one raises an error."""
        self._process.interrupt()

    def close(self, grace: float) -> tuple[int | None, str]:
        """Close the channel, wait `grace` seconds, then kill the process with all that it started.

        Returns
        -------
        The exit code, and the limit that was passed, if any, in words.
        """
        report = self._process.report()
        self._process.resume()
        self._socket.close()
        if not self._process.wait(grace):
            self._process.kill()
        report = report or self._process.report()
        self._process.lifeline.close()
        return self._process.popen.returncode, report

    def _send(self, line: bytes, end: float | None) -> None:
        data = memoryview(line)
        while data:
            self._await_event(end, sending=True)
            with suppress(BlockingIOError):
                data = data[self._socket.send(data) :]

    def _receive(self, end: float | None) -> bytes:
        """Return the next line."""
        while b"\n" not in self._received:
            if len(self._received) > MAX_ANSWER_BYTES:
                raise EngineError(f"it sent more than {MAX_ANSWER_BYTES} bytes without a line end")
            self._await_event(end)
            with suppress(BlockingIOError):
                data = self._socket.recv(MAX_ANSWER_BYTES)
                if not data:
                    raise ChannelClosedError
                self._received += data
        line, _, self._received = self._received.partition(b"\n")
        return line

    def _await_event(self, end: float | None, sending: bool = False) -> None:
        """Wait until the socket is ready. Raise ChannelClosedError if the supervisor has gone."""
        left = None if end is None else end - time.monotonic()
        if left is not None and left <= 0:
            raise TimeoutError
        poll = select.poll()  # select itself takes no descriptors above 1023
        poll.register(self._socket, select.POLLOUT if sending else select.POLLIN)
        poll.register(self._process.lifeline, select.POLLIN)
        ready = dict(poll.poll(None if left is None else left * 1000))
        if not ready:
            raise TimeoutError
        if self._socket.fileno() not in ready:
            raise ChannelClosedError


def _parse(line: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(line.decode())  # loads would guess other encodings
    except (ValueError, RecursionError) as error:
        raise EngineError(f"it sent no JSON: {error}") from None
    if not isinstance(answer, dict):
        raise EngineError("it sent JSON that is no object")
    return answer
