"""Child processes under a supervisor, and line-based input and output of one.

A program that stalls, floods or dies harms nobody.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from threading import Thread
from typing import IO, NamedTuple

from agents.external import supervisor
from agents.external.channel import Channel, ChannelClosedError, shut_down
from checkers_env.errors import EngineError

MAX_LINE_BYTES = 1 << 16  # a longer line arrives in pieces
STDERR_LINES = 5  # lines of standard error in an error message
GRACE_SECONDS = 2.0  # after each step: quit, terminate
REAP_SECONDS = 15.0  # for the supervisor to end all processes
MAX_SHOWN = 200  # characters of a line in an error message
MAX_REPORT_BYTES = 200  # largest report of the supervisor
MOST_LATE_STARTS = 2
CRASHES = {  # signals that a program's own fault brings
    *(signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV),
    *(signal.SIGSYS, signal.SIGTRAP),
}


class Starts:
    """Starts of a program, which its agents on all threads share: two that are late are enough."""

    def __init__(self) -> None:
        self._late = 0

    @contextmanager
    def limit(self, seconds: float) -> Iterator[None]:
        """Count a start that fails in a with block, if it has taken so long.

        After two of them raise EngineError at once.
        """
        if self._late >= MOST_LATE_STARTS:
            raise EngineError(f"it is not started again: {self._late} starts were too slow")
        end = time.monotonic() + seconds
        try:
            yield
        except EngineError:
            self._late += time.monotonic() >= end
            raise


class ProcessLimits(NamedTuple):
    """Limits of a hosted program with all processes that it starts; None for no limit."""

    memory: int | None = 4096  # megabytes, together and of each process
    processes: int | None = 64  # that run at once
    starts: Starts | None = None  # by default each agent has its own


@cache
def can_isolate() -> bool:
    """Return whether a program can be kept from seeing and signalling other processes.

    That takes PID namespaces: Linux, where they need no administrator.
    """
    probe = [sys.executable, "-IS", supervisor.__file__]
    return not subprocess.run(probe, stderr=subprocess.DEVNULL, check=False).returncode


class SupervisedProcess:
    """A program under :mod:`agents.external.supervisor`, which ends it with all it starts (POSIX).

    `command` starts with the path of the program. `channel` carries lines to its standard input,
    and from its standard output. `stderr` is as for :class:`subprocess.Popen`.
    """

    def __init__(
        self, command: Sequence[str], limits: ProcessLimits, stderr: int | None = None
    ) -> None:
        # The lifeline has something to read when the supervisor reports or ends.
        self._lifeline, lifeline = socket.socketpair()
        number, memory = lifeline.fileno(), (limits.memory or 0) << 20
        numbers = [number, memory, limits.processes or 0, int(can_isolate())]
        words = [sys.executable, "-IS", supervisor.__file__, *map(str, numbers)]
        try:
            # multiprocessing would import the caller's main program again.
            self.popen = subprocess.Popen(
                [*words, *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                pass_fds=[number],
                start_new_session=True,
            )
        except BaseException:
            self._lifeline.close()
            raise
        finally:
            lifeline.close()
        self._lifeline.setblocking(False)
        assert self.popen.stdin
        assert self.popen.stdout
        self.channel = Channel(
            self.popen.stdout, self.popen.stdin, b"\n", MAX_LINE_BYTES, self._lifeline
        )

    def wait(self, seconds: float) -> bool:
        """Return whether the program ends in time."""
        with suppress(subprocess.TimeoutExpired):
            self.popen.wait(seconds)
            return True
        return False

    def send(self, line: bytes) -> None:
        """Send a line without waiting. There is no sign of its arrival but an answer."""
        with suppress(ChannelClosedError):
            self.channel.send(line)

    def read(self, expected: str, seconds: float | None) -> bytes:
        """Return the next line.

        Raise EngineError, whose text lacks the subject, when the program has ended, or sends no
        line in time; `expected` is what it should be.
        """
        try:
            return self.channel.receive(None if seconds is None else time.monotonic() + seconds)
        except TimeoutError:
            raise EngineError(f"gave no {expected}") from None
        except ChannelClosedError:
            raise EngineError(self._exit_text()) from None

    def _exit_text(self) -> str:
        report, has_ended = self._report(), self.wait(GRACE_SECONDS)
        if report := report or self._report():
            return report
        if not has_ended:
            return "has closed its output"
        code = self.popen.returncode  # a signal such as SIGKILL is sent to it
        is_own = code >= 0 or -code in CRASHES
        return f"has ended with exit code {code}" if is_own else f"was killed by signal {-code}"

    def _report(self) -> str:
        """Return the limit that was passed, or why the program did not start; else nothing."""
        with suppress(OSError):
            return self._lifeline.recv(MAX_REPORT_BYTES).decode("utf-8", "replace")
        return ""

    def interrupt(self) -> None:
        """Make the supervisor end everything, without waiting for it; from any thread."""
        shut_down(self._lifeline)

    def pause(self) -> None:
        """Stop the program and all that it started where they are (Linux)."""
        self._order(supervisor.PAUSE)

    def resume(self) -> None:
        """Let the program go on."""
        self._order(supervisor.RESUME)

    def close(self, grace: float, last: bytes | None = None) -> None:
        """End the program with all that it started.

        After the line `last` and the end of the input the program has `grace` seconds, and as many
        after SIGTERM. Then SIGKILL ends it.
        """
        if last is not None:
            self.send(last)
        for order in (supervisor.RESUME, supervisor.TERMINATE) if grace else ():
            self._order(order)
            end = time.monotonic() + grace
            self.channel.finish(end)
            if self.wait(max(end - time.monotonic(), 0.0)):
                break
        else:
            self._kill()
        self.channel.close()
        self._lifeline.close()

    def _order(self, order: bytes) -> None:
        with suppress(OSError):
            self._lifeline.send(order)

    def _kill(self) -> None:
        self._lifeline.close()
        for number in (signal.SIGCONT, signal.SIGKILL):  # it may have stopped its supervisor
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.popen.pid, number)
            if self.wait(REAP_SECONDS):
                return


class LineProcess:
    """A supervised program that speaks by lines of text (POSIX).

    `close`, the garbage collection of this object and the exit of the interpreter end the
    program, first by `quit_line`. A program that cannot be started is a ValueError.
    """

    def __init__(self, command: Sequence[str], quit_line: str, limits: ProcessLimits) -> None:
        self.name = shlex.join(command)  # in errors
        program = shutil.which(command[0])
        if program is None:
            raise ValueError(f"{self.name} cannot be started: {command[0]!r} is no program")
        try:
            process = SupervisedProcess([program, *command[1:]], limits, subprocess.PIPE)
        except OSError as error:
            raise ValueError(f"{self.name} cannot be started: {error.strerror}") from error
        self._process = process
        self._last_line = ""
        self._errors: deque[str] = deque(maxlen=STDERR_LINES)
        self._error_reader = Thread(
            target=_keep_lines, args=(process.popen.stderr, self._errors), daemon=True
        )
        self._error_reader.start()
        self.close = weakref.finalize(self, _end_process, process, _encode(quit_line), os.getpid())
        self.pause, self.resume, self.interrupt = process.pause, process.resume, process.interrupt
        self.discard_output = process.channel.discard

    def send(self, line: str) -> None:
        """Send a line without waiting."""
        self._process.send(_encode(line))

    def read(self, expected: str, seconds: float) -> str:
        """Return the next line, stripped.

        Raises
        ------
        EngineError
            When the program has ended, or sends no line in time; `expected` is what it should be.
        """
        try:
            self._last_line = _decode(self._process.read(expected, seconds))
        except EngineError as fault:
            if self._process.popen.returncode is not None:
                self._error_reader.join(GRACE_SECONDS)
            raise self.error(str(fault)) from None
        return self._last_line

    def error(self, fault: str) -> EngineError:
        """Return an error with the program's name, its fault and its last output."""
        parts = [f"{self.name} {fault}"]
        if self._last_line:
            parts.append(f"its last line was {self._last_line[:MAX_SHOWN]!r}")
        if errors := list(self._errors):
            parts.append("its standard error ends: " + " / ".join(e[:MAX_SHOWN] for e in errors))
        return EngineError("; ".join(parts))


def _keep_lines(pipe: IO[bytes], lines: deque[str]) -> None:
    with pipe:
        while line := pipe.readline(MAX_LINE_BYTES):
            lines.append(_decode(line))


def _decode(line: bytes) -> str:
    return line.decode("utf-8", "replace").strip()


def _encode(line: str) -> bytes:
    return line.encode("utf-8", "surrogateescape")


def _end_process(process: SupervisedProcess, last: bytes, owner_pid: int) -> None:
    if os.getpid() == owner_pid:  # the program of a fork belongs to its parent
        process.close(GRACE_SECONDS, last)
