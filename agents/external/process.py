"""Child processes under a supervisor, and line-based input and output of one.

A program that stalls, floods or dies harms nobody. One thread writes its input, two threads read
its output and its errors. The threads are daemons and refer to the pipes only. A process without a
reference is therefore ended.
"""

from __future__ import annotations

import os
import queue
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO, Any, NamedTuple

from agents.external import supervisor
from agents.external.errors import EngineError
from agents.external.sockets import shut_down

MAX_LINE_BYTES = 1 << 16  # a longer line arrives in pieces
MAX_UNREAD_LINES = 1000  # the program waits until they are read
STDERR_LINES = 5  # lines of standard error in an error message
GRACE_SECONDS = 2.0  # after each step: quit, terminate
REAP_SECONDS = 15.0  # for the supervisor to end all processes
MAX_SHOWN = 200  # characters of a line in an error message
MAX_REPORT_BYTES = 200  # largest report of the supervisor


class ProcessLimits(NamedTuple):
    """Limits of a hosted program with all processes that it starts; None for no limit.

    Attributes
    ----------
    memory
        Megabytes, together and of each process.
    processes
        Number of processes that run at once.
    """

    memory: int | None = 4096
    processes: int | None = 64


class SupervisedProcess:
    """A program under :mod:`agents.external.supervisor`, which ends it with all it starts (POSIX).

    Parameters
    ----------
    command
        Path of the program, and its arguments.
    limits
        Limits of memory and processes.
    pass_fds
        File descriptors that the program inherits.
    **streams
        ``stdin``, ``stdout`` and ``stderr`` as for :class:`subprocess.Popen`.
    """

    def __init__(
        self,
        command: Sequence[str],
        limits: ProcessLimits,
        pass_fds: Sequence[int] = (),
        **streams: int,
    ) -> None:
        self.lifeline, lifeline = socket.socketpair()
        """Socket that has something to read when the supervisor reports or ends."""
        bounds = [str(limits.memory * 2**20 if limits.memory else 0), str(limits.processes or 0)]
        arguments = [str(lifeline.fileno()), *bounds, *command]
        options: dict[str, Any] = {"pass_fds": [lifeline.fileno(), *pass_fds], **streams}
        try:
            # multiprocessing would import the caller's main program again.
            self.popen = subprocess.Popen(
                [sys.executable, "-IS", supervisor.__file__, *arguments],
                start_new_session=True,
                **options,
            )
        except BaseException:
            self.lifeline.close()
            raise
        finally:
            lifeline.close()
        self.lifeline.setblocking(False)

    def wait(self, seconds: float) -> bool:
        """Return whether the program ends in time."""
        with suppress(subprocess.TimeoutExpired):
            self.popen.wait(seconds)
            return True
        return False

    def report(self) -> str:
        """Return the limit that was passed, or why the program did not start; else nothing."""
        with suppress(OSError):
            return self.lifeline.recv(MAX_REPORT_BYTES).decode("utf-8", "replace")
        return ""

    def interrupt(self) -> None:
        """Make the supervisor end everything, without waiting for it; from any thread."""
        shut_down(self.lifeline)

    def terminate(self) -> None:
        """Send SIGTERM to the program and its process group."""
        self._order(supervisor.TERMINATE)

    def pause(self) -> None:
        """Stop the program and all that it started where they are (Linux)."""
        self._order(supervisor.PAUSE)

    def resume(self) -> None:
        """Let the program go on."""
        self._order(supervisor.RESUME)

    def _order(self, order: bytes) -> None:
        with suppress(OSError):
            self.lifeline.send(order)

    def kill(self) -> None:
        """End the program and all that it started by SIGKILL."""
        self.lifeline.close()
        self._signal(signal.SIGCONT)  # if the program has stopped its supervisor
        if not self.wait(REAP_SECONDS):
            self._signal(signal.SIGKILL)
            self.wait(REAP_SECONDS)

    def _signal(self, number: signal.Signals) -> None:
        """Send a signal to the supervisor."""
        if self.popen.poll() is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.popen.pid, number)


class LineProcess:
    """A supervised program that speaks by lines of text (POSIX).

    :meth:`close`, the garbage collection of this object and the exit of the interpreter end the
    program: by `quit_line` and the end of its input, then by SIGTERM, then by SIGKILL. Processes
    that it started are killed then, too.

    Parameters
    ----------
    command
        The program and its arguments.
    quit_line
        The line that asks the program to quit.
    limits
        Limits of memory and processes.

    Raises
    ------
    ValueError
        When the program cannot be started.
    """

    def __init__(
        self,
        command: Sequence[str],
        quit_line: str | None = None,
        limits: ProcessLimits = ProcessLimits(),  # noqa: B008 - immutable
    ) -> None:
        self.name = shlex.join(command)
        """Name of the program in errors."""
        program = shutil.which(command[0])
        if program is None:
            raise ValueError(f"{self.name} cannot be started: {command[0]!r} is no program")
        pipe = subprocess.PIPE
        try:
            process = SupervisedProcess(
                [program, *command[1:]], limits, stdin=pipe, stdout=pipe, stderr=pipe
            )
        except OSError as error:
            raise ValueError(f"{self.name} cannot be started: {error.strerror}") from error
        assert process.popen.stdin
        assert process.popen.stdout
        assert process.popen.stderr
        self._process = process
        self._output = _LineReader(process.popen.stdout, MAX_UNREAD_LINES)
        self._errors = _LineReader(process.popen.stderr, STDERR_LINES)
        self._errors.keep_latest()
        self._outbox: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._last_line = ""
        _start_thread(_write_lines, process.popen.stdin, self._outbox)
        self._end = weakref.finalize(
            self, _end_process, process, self._output, self._outbox, quit_line, os.getpid()
        )

    def send(self, line: str) -> None:
        """Send a line without waiting. There is no sign of its arrival but an answer.

        Raises
        ------
        EngineError
            When the program or its supervisor has ended.
        """
        if self._process.popen.poll() is not None:
            raise self.error(self._exit_text())
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

    def pause(self) -> None:
        """Stop the program where it is (Linux), so that it takes no time from others."""
        self._process.pause()

    def resume(self) -> None:
        """Let the program go on."""
        self._process.resume()

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

    def interrupt(self) -> None:
        """End the program from another thread; the :meth:`read` of this one raises an error."""
        self._process.interrupt()

    def close(self) -> None:
        """End the program if it is running."""
        self._end()

    def _exit_text(self) -> str:
        self._errors.wait_for_end(GRACE_SECONDS)
        if not self._process.wait(GRACE_SECONDS):
            return "has closed its output"
        if report := self._process.report():
            return report.removeprefix("it ")
        code = self._process.popen.returncode
        return f"was ended by signal {-code}" if code < 0 else f"has ended with exit code {code}"


class _LineReader:
    """Unread lines of a pipe, read by a thread.

    When there are `max_lines` the thread waits, and with it the program.
    """

    def __init__(self, pipe: IO[bytes], max_lines: int) -> None:
        self.ended = False
        self._max_lines = max_lines
        self._drops = False
        self._lines: deque[str] = deque(maxlen=max_lines)
        self._changed = threading.Condition()
        _start_thread(self._read_pipe, pipe)

    def _read_pipe(self, pipe: IO[bytes]) -> None:
        with pipe:
            while line := pipe.readline(MAX_LINE_BYTES):
                with self._changed:
                    self._changed.wait_for(self._has_room)
                    self._lines.append(line.decode("utf-8", "replace").strip())
                    self._changed.notify_all()
        with self._changed:
            self.ended = True
            self._changed.notify_all()

    def _has_room(self) -> bool:
        return self._drops or len(self._lines) < self._max_lines

    def keep_latest(self) -> None:
        """Drop the oldest lines from now on when there are too many, instead of waiting."""
        with self._changed:
            self._drops = True
            self._changed.notify_all()

    def pop(self, seconds: float) -> str | None:
        """Return the oldest line, or None at the end of the pipe or of the time."""
        if seconds <= 0:
            return None  # even if lines are there: a flood of lines must not last for ever
        with self._changed:
            self._changed.wait_for(lambda: self._lines or self.ended, seconds)
            if not self._lines:
                return None
            self._changed.notify_all()
            return self._lines.popleft()

    def wait_for_end(self, seconds: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self.ended, seconds)

    def lines(self) -> list[str]:
        with self._changed:
            return list(self._lines)

    def clear(self) -> None:
        with self._changed:
            self._lines.clear()
            self._changed.notify_all()


def _start_thread(work: Callable[..., None], *arguments: object) -> None:
    threading.Thread(target=work, args=arguments, daemon=True).start()


def _write_lines(pipe: IO[bytes], outbox: queue.SimpleQueue[str | None]) -> None:
    """Write lines until None comes. The readers notice a broken pipe."""
    with suppress(OSError), pipe:
        while (line := outbox.get()) is not None:
            pipe.write(line.encode("utf-8", "surrogateescape") + b"\n")
            pipe.flush()


def _end_process(
    process: SupervisedProcess,
    output: _LineReader,
    outbox: queue.SimpleQueue[str | None],
    quit_line: str | None,
    owner_pid: int,
) -> None:
    if os.getpid() != owner_pid:
        return  # this is a fork, and the program belongs to its parent
    process.resume()
    if quit_line is not None:
        outbox.put(quit_line)
    outbox.put(None)
    output.keep_latest()  # a program that waits to write would not hear it
    if not process.wait(GRACE_SECONDS):
        process.terminate()
        if not process.wait(GRACE_SECONDS):
            process.kill()
    process.lifeline.close()
