"""Command lines in this process or in another one, and waiting for them."""

import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

import numpy as np

SECONDS = 300  # after which nothing is waited for any more


def assert_equal_but_for_speed(first, second):
    """Compare two checkpoints, but for the measured speeds."""
    first, second = asdict(first), asdict(second)
    for checkpoint in (first, second):
        checkpoint["history"] = {
            name: row for name, row in checkpoint["history"].items() if not name.startswith("speed")
        }
    np.testing.assert_equal(first, second)


def run_here(program, words, monkeypatch, capsys, columns=200):
    """Call the main of a module in this process; return exit status, output and errors."""
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(sys, "argv", [program.__file__, *map(str, words)])
    handler = signal.getsignal(signal.SIGTERM)
    try:
        status = program.main()
    except SystemExit as end:
        status = end.code
    finally:
        signal.signal(signal.SIGTERM, handler)
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def command_of(program, monkeypatch, capsys):
    """Return a function that calls a module's main; it returns exit status and output."""

    def call(*words):
        status, out, error = run_here(program, words, monkeypatch, capsys)
        return status, out + error

    return call


def ended(result, status=0):
    """Return the output of a command that has ended with an exit status."""
    found, output, *_ = result
    assert found == status, result
    return output


def start(*line):
    """Start a command line in another process; its errors are part of its output."""
    return subprocess.Popen(
        [*map(str, line)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def recorded_processes(monkeypatch):
    """Yield a list of all processes that are started from here on."""
    started = []

    class Recorded(subprocess.Popen):
        def __init__(self, *given, **options):
            super().__init__(*given, **options)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Recorded)
    return started


def wait_for(condition, process=None):
    """Wait for a condition; a process that is to bring it about must not end before."""
    end = time.monotonic() + SECONDS
    while not condition():
        assert process is None or process.poll() is None, process.communicate()
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.02)


def sleepers():
    """Return the processes that hostile agents have left behind."""
    left = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (folder / "cmdline").read_bytes()
            if b"time.sleep(1e6)" in words and not is_gone(folder.name):
                left.append(folder.name)
    return left


def descendants(pid):
    """Return all processes that came of one; an agent knows them by other numbers."""
    found = []
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        found += map(int, file.read_text().split())
    return found + [it for child in found for it in descendants(child)]


def is_gone(pid):
    """Return whether a process has ended, reaped or not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True
