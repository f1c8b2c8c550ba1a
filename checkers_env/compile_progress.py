"""A line on the terminal while kernels are compiled."""

from __future__ import annotations

import sys
import time
from typing import Any

from numba.core import event

DELAY = 1.0  # seconds before the line is shown: loading and small kernels take less


class CompileProgress(event.Listener):  # type: ignore[misc]
    """Listener that shows which kernel is being compiled, on a terminal or in a notebook.

    Elsewhere, as in a pipe, it shows nothing: :mod:`checkers_env.jit` has logged one line.
    """

    def __init__(self) -> None:
        self._names: list[str] = []
        self._count, self._start, self._width = 0, 0.0, 0

    def on_start(self, event: Any) -> None:
        """Show the kernel whose compilation begins."""
        if not self._names:
            self._count, self._start = 0, time.monotonic()
        self._names.append(event.data["dispatcher"].py_func.__name__)
        seconds = time.monotonic() - self._start
        if seconds >= DELAY:
            self._write(
                f"compiling {self._names[0]}, once on this machine: "
                f"{self._count} kernels in {seconds:.0f} s, now {self._names[-1]}"
            )

    def on_end(self, event: Any) -> None:
        """Count the kernel; wipe the line after the last one."""
        self._names.pop()
        self._count += 1
        if not self._names and self._width:
            self._write("")

    def _write(self, text: str) -> None:
        if _shows_lines(sys.stderr):
            sys.stderr.write(f"\r{text.ljust(self._width)}" + ("" if text else "\r"))
            sys.stderr.flush()
            self._width = len(text)


def _shows_lines(stream: Any) -> bool:
    """Whether a line can be written over; not while a progress bar of rich has the terminal."""
    if type(stream).__module__.startswith("ipykernel"):
        return True
    return stream is sys.__stderr__ and stream is not None and stream.isatty()


def show_compile_progress() -> None:
    """Show from now on what is compiled."""
    event.register("numba:compile", CompileProgress())
