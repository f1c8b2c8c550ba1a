"""The frame of the commands: exit status and interruptions."""

import signal
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from training import evolve
from training.runtime.cli import FAILED, INTERRUPTED, read_options, run_command


@pytest.fixture(autouse=True)
def _keep_handlers():
    handler, hooks = signal.getsignal(signal.SIGTERM), (threading.excepthook, sys.unraisablehook)
    yield
    signal.signal(signal.SIGTERM, handler)
    threading.excepthook, sys.unraisablehook = hooks


class Interrupted:
    """Ctrl-C comes while this object is freed."""

    def __del__(self):
        raise KeyboardInterrupt


def test_ctrl_c_in_a_finalizer_ends_the_command_without_a_traceback(capfd):
    def command(arguments, console):
        del arguments, console
        Interrupted()
        time.sleep(60)

    began = time.monotonic()
    assert run_command(command) == INTERRUPTED
    assert time.monotonic() - began < 30  # the command does not sleep on
    assert "Traceback" not in capfd.readouterr().err


def test_other_faults_of_a_finalizer_are_still_printed(capfd):
    class Faulty:
        def __del__(self):
            raise ValueError("seen")

    def command(arguments, console):
        del arguments, console
        Faulty()

    assert run_command(command) == 0
    assert "ValueError: seen" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("program", "called", "other"),
    [
        ("bin/checkers-evolve", "checkers-evolve", "checkers-td"),
        ("training/evolve.py", "python training/evolve.py", "python training/td.py"),
    ],
)
def test_help_and_errors_name_the_program_as_it_was_called(
    program, called, other, monkeypatch, capsys
):
    monkeypatch.setattr(sys, "argv", [program, "--help"])
    with pytest.raises(SystemExit):
        evolve.main()
    said = capsys.readouterr().out
    assert f"usage: {called} [REGIME]" in said
    assert f"{called} --list" in said
    monkeypatch.setattr(sys, "argv", [program, "strong"])
    assert evolve.main() == FAILED
    expected = f"error: 'strong' is trained by another program: {other} strong\n"
    assert capsys.readouterr().err == expected


@dataclass(frozen=True)
class Paths:
    """Options with paths."""

    out: Path | None = None
    """A folder."""
    last_work: Path = Path("runs")
    """A folder."""
    address: str = "here"
    """A text."""


@pytest.mark.parametrize("words", [["--out", ""], ["--out="], ["--out", "a", "--last-work", ""]])
def test_empty_path_is_refused(words):
    with pytest.raises(ValueError, match=r"takes a path, not an empty text$") as raised:
        read_options(Paths, words, "program", None)
    assert str(raised.value).startswith(words[-2] if words[-1] == "" else "--out")


def test_current_folder_and_other_empty_texts_are_read():
    options = read_options(Paths, ["--out", ".", "--address", ""], "program", None)
    assert options == Paths(Path(), address="")
