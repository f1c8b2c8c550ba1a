"""A program that is spoken to in lines, and that may chatter, stall or die without harm.

Three threads serve a process: one writes what it is told, two take down what it says. They are
daemons that know of the pipes only, so that a process nobody refers to any more is ended.
"""

from __future__ import annotations

import os
import queue
import shlex
import signal
import subprocess
import threading
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO

from agents.external.errors import EngineError

LONGEST_LINE = 1 << 16  # bytes; what is longer comes in pieces
UNREAD = 1000  # lines that may wait; then the oldest go
TAIL = 5  # lines of standard error that an error message shows
GRACE = 2.0  # seconds to end in, at each step of asking, terminating and killing
LAST_GRACE = 60.0  # seconds for the system to take away what was killed
SHOWN = 200  # characters of a line in an error message


class LineProcess:
    """A child process in a session of its own (POSIX).

    It is ended by :meth:`close`, when nothing refers to this object any more, or at the
    interpreter's exit: asked to by `farewell` and the end of its input, then terminated, then
    killed, with what it has started.

    Parameters
    ----------
    command
        The program and its arguments.
    farewell
        A line that asks the program to end.

    Raises ValueError when the program cannot be started.
    """

    def __init__(self, command: Sequence[str], farewell: str | None = None) -> None:
        self.name = shlex.join(command)
        """How errors call the program."""
        pipe = subprocess.PIPE
        try:
            process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
            )
        except OSError as error:
            raise ValueError(f"{self.name} cannot be started: {error.strerror}") from error
        assert process.stdin
        assert process.stdout
        assert process.stderr
        self._process = process
        self._output = _Lines(process.stdout, UNREAD)
        self._errors = _Lines(process.stderr, TAIL)
        self._outbox: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._last = ""
        _in_background(_write, process.stdin, self._outbox)
        self._end = weakref.finalize(self, _end, process, self._outbox, farewell, os.getpid())

    def say(self, line: str) -> None:
        """Send a line. Never waits; whether it arrived only an answer can tell."""
        self._outbox.put(line)

    def read(self, awaited: str, seconds: float) -> str:
        """The next line, without the blanks around it.

        Raises EngineError when the program has ended or, naming what was `awaited`, when no line
        has come in time.
        """
        line = self._output.take(seconds)
        if line is not None:
            self._last = line
            return line
        raise self.failure(self._ending() if self._output.ended else f"gave no {awaited}")

    def forget(self) -> None:
        """Drop the lines that have come and were not read."""
        self._output.clear()

    def failure(self, what: str) -> EngineError:
        """An error that names the program, what it did, and what it said last."""
        parts = [f"{self.name} {what}"]
        if self._last:
            parts.append(f"its last line was {self._last[:SHOWN]!r}")
        if errors := self._errors.lines():
            parts.append("its standard error ends: " + " / ".join(e[:SHOWN] for e in errors))
        return EngineError("; ".join(parts))

    def close(self) -> None:
        """End the program, if it still runs."""
        self._end()

    def _ending(self) -> str:
        self._errors.wait_for_end(GRACE)
        try:
            code = self._process.wait(GRACE)
        except subprocess.TimeoutExpired:
            return "has closed its output"
        return f"was ended by signal {-code}" if code < 0 else f"has ended with exit code {code}"


class _Lines:
    """The latest lines of a pipe, taken down by a thread of its own."""

    def __init__(self, pipe: IO[bytes], most: int) -> None:
        self.ended = False
        self._lines: deque[str] = deque(maxlen=most)
        self._changed = threading.Condition()
        _in_background(self._take_down, pipe)

    def _take_down(self, pipe: IO[bytes]) -> None:
        with pipe:
            while line := pipe.readline(LONGEST_LINE):
                with self._changed:
                    self._lines.append(line.decode("utf-8", "replace").strip())
                    self._changed.notify_all()
        with self._changed:
            self.ended = True
            self._changed.notify_all()

    def take(self, seconds: float) -> str | None:
        """The oldest line, or None when none has come in time or will come any more."""
        if seconds <= 0:
            return None  # not even those that have come: of a flood there is no end
        with self._changed:
            self._changed.wait_for(lambda: self._lines or self.ended, seconds)
            return self._lines.popleft() if self._lines else None

    def wait_for_end(self, seconds: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self.ended, seconds)

    def lines(self) -> list[str]:
        with self._changed:
            return list(self._lines)

    def clear(self) -> None:
        with self._changed:
            self._lines.clear()


def _in_background(work: Callable[..., None], *given: object) -> None:
    threading.Thread(target=work, args=given, daemon=True).start()


def _write(pipe: IO[bytes], outbox: queue.SimpleQueue[str | None]) -> None:
    """Write lines as they come, until None; a broken pipe is noticed by the readers."""
    with suppress(OSError), pipe:
        while (line := outbox.get()) is not None:
            pipe.write(line.encode("utf-8", "surrogateescape") + b"\n")
            pipe.flush()


def _end(
    process: subprocess.Popen[bytes],
    outbox: queue.SimpleQueue[str | None],
    farewell: str | None,
    owner: int,
) -> None:
    if os.getpid() != owner:
        return  # in a fork of the process that started it: the program is not ours
    if farewell is not None:
        outbox.put(farewell)
    outbox.put(None)
    for number in (None, signal.SIGTERM, signal.SIGKILL):
        _signal(process, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE)
            break
    _signal(process, signal.SIGKILL)  # to what it may have started and left behind
    with suppress(subprocess.TimeoutExpired):
        process.wait(LAST_GRACE)


def _signal(process: subprocess.Popen[bytes], number: signal.Signals | None) -> None:
    """Send a signal to the session of a process."""
    if number is not None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
