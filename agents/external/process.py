"""A child process with line-based input and output, which may stall or die without harm.

One thread writes the input, two threads read the output and the errors. The threads are daemons
and refer to the pipes only. A process without a reference is therefore ended.
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

MAX_LINE_BYTES = 1 << 16  # a longer line arrives in pieces
MAX_UNREAD_LINES = 1000  # the oldest lines are dropped
STDERR_LINES = 5  # lines of standard error in an error message
GRACE_SECONDS = 2.0  # after each step: quit, terminate, kill
REAP_SECONDS = 60.0  # for the system to remove a killed process
MAX_SHOWN = 200  # characters of a line in an error message


class LineProcess:
    """A child process in its own session (POSIX).

    :meth:`close`, the garbage collection of this object and the exit of the interpreter end the
    process: by `quit_line` and the end of its input, then by SIGTERM, then by SIGKILL. SIGKILL goes
    to the processes that it started, too.

    Parameters
    ----------
    command
        The program and its arguments.
    quit_line
        The line that asks the program to quit.

    Raises
    ------
    ValueError
        When the program cannot be started.
    """

    def __init__(self, command: Sequence[str], quit_line: str | None = None) -> None:
        self.name = shlex.join(command)
        """Name of the program in errors."""
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
        self._output = _LineReader(process.stdout, MAX_UNREAD_LINES)
        self._errors = _LineReader(process.stderr, STDERR_LINES)
        self._outbox: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._last_line = ""
        _start_thread(_write_lines, process.stdin, self._outbox)
        self._end = weakref.finalize(
            self, _end_process, process, self._outbox, quit_line, os.getpid()
        )

    def send(self, line: str) -> None:
        """Send a line without waiting. There is no sign of its arrival but an answer."""
        self._outbox.put(line)

    def read(self, expected: str, seconds: float) -> str:
        """Return the next line, stripped.

        Parameters
        ----------
        expected
            Description of the line, for the error message.
        seconds
            Time to wait.

        Raises
        ------
        EngineError
            When the program has ended, or sends no line in time.
        """
        line = self._output.pop(seconds)
        if line is not None:
            self._last_line = line
            return line
        raise self.error(self._exit_text() if self._output.ended else f"gave no {expected}")

    def discard_output(self) -> None:
        """Drop all unread lines."""
        self._output.clear()

    def error(self, fault: str) -> EngineError:
        """Return an error with the program's name, its fault and its last output."""
        parts = [f"{self.name} {fault}"]
        if self._last_line:
            parts.append(f"its last line was {self._last_line[:MAX_SHOWN]!r}")
        if errors := self._errors.lines():
            parts.append("its standard error ends: " + " / ".join(e[:MAX_SHOWN] for e in errors))
        return EngineError("; ".join(parts))

    def close(self) -> None:
        """End the program if it is running."""
        self._end()

    def _exit_text(self) -> str:
        self._errors.wait_for_end(GRACE_SECONDS)
        try:
            code = self._process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            return "has closed its output"
        return f"was ended by signal {-code}" if code < 0 else f"has ended with exit code {code}"


class _LineReader:
    """The latest lines of a pipe, read by a thread."""

    def __init__(self, pipe: IO[bytes], max_lines: int) -> None:
        self.ended = False
        self._lines: deque[str] = deque(maxlen=max_lines)
        self._changed = threading.Condition()
        _start_thread(self._read_pipe, pipe)

    def _read_pipe(self, pipe: IO[bytes]) -> None:
        with pipe:
            while line := pipe.readline(MAX_LINE_BYTES):
                with self._changed:
                    self._lines.append(line.decode("utf-8", "replace").strip())
                    self._changed.notify_all()
        with self._changed:
            self.ended = True
            self._changed.notify_all()

    def pop(self, seconds: float) -> str | None:
        """Return the oldest line, or None at the end of the pipe or of the time."""
        if seconds <= 0:
            return None  # even if lines are there: a flood of lines must not last for ever
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


def _start_thread(work: Callable[..., None], *arguments: object) -> None:
    threading.Thread(target=work, args=arguments, daemon=True).start()


def _write_lines(pipe: IO[bytes], outbox: queue.SimpleQueue[str | None]) -> None:
    """Write lines until None comes. The readers notice a broken pipe."""
    with suppress(OSError), pipe:
        while (line := outbox.get()) is not None:
            pipe.write(line.encode("utf-8", "surrogateescape") + b"\n")
            pipe.flush()


def _end_process(
    process: subprocess.Popen[bytes],
    outbox: queue.SimpleQueue[str | None],
    quit_line: str | None,
    owner_pid: int,
) -> None:
    if os.getpid() != owner_pid:
        return  # this is a fork, and the program belongs to its parent
    if quit_line is not None:
        outbox.put(quit_line)
    outbox.put(None)
    for number in (None, signal.SIGTERM, signal.SIGKILL):
        if number is not None:
            signal_group(process, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_SECONDS)
            break
    signal_group(process, signal.SIGKILL)  # processes that it started may still run
    with suppress(subprocess.TimeoutExpired):
        process.wait(REAP_SECONDS)


def signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Send a signal to a process and all processes of its session."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
