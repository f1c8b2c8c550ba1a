"""The frame of the commands: exit status and interruptions."""

import signal
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import pytest
import tyro

from training import evolve
from training.runtime.cli import FAILED, INTERRUPTED, read_options, run_command
from training.runtime.validation import NoEffectWith


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


@dataclass(frozen=True)
class Method:
    """Options with a prefix."""

    rule: str = "fixed"
    """A rule."""
    rate: Annotated[float, NoEffectWith(rule=("fixed",))] = 1.0
    """Of the rule "moving" only."""
    adaptive: Annotated[bool, NoEffectWith(sides=(0, 1))] = True
    """Of two sides or more."""
    sides: int = 1
    """A number."""


@dataclass(frozen=True)
class Session:
    """Options without a prefix."""

    workers: int = 1
    """A number."""


@dataclass(frozen=True)
class Conditional:
    """Options that others leave without effect."""

    method: Any
    """Its class is known from the default only."""
    list: bool = False
    """Leaves others without effect."""
    past: Annotated[int, NoEffectWith(share=(1,))] = 4
    """Of a share below 1."""
    share: float = 1.0
    """A share."""
    compare: str | None = None
    """A text."""
    pairs: Annotated[int, NoEffectWith(compare=(None, ""))] = 5
    """Of the comparison."""
    no_progress: Annotated[int, NoEffectWith("list")] = 0
    """A name that begins like the opposite of a flag."""
    session: Annotated[tyro.conf.OmitArgPrefixes[Session], NoEffectWith("list")] = field(
        default_factory=Session
    )
    """Options of their own."""


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("--method.rate 2", "--method.rate has no effect with --method.rule fixed: leave it out"),
        (
            "--method.rate=1.0",
            "--method.rate has no effect with --method.rule fixed",
        ),  # the default, but given
        ("--method.adaptive", "--method.adaptive has no effect with --method.sides 1"),
        ("--past 2", "--past has no effect with --share 1.0: leave it out"),
        ("--pairs 2", "--pairs has no effect without --compare: leave it out"),
        ("--list --no-progress 3", "--no-progress has no effect with --list: leave it out"),
        ("--list --no_progress 3", "--no-progress has no effect with --list"),
        ("--list --workers 1", "--workers has no effect with --list: leave it out"),
    ],
)
def test_option_without_effect_is_refused(words, error):
    with pytest.raises(ValueError, match="has no effect") as raised:
        read_options(Conditional, words.split(), "program", None, default=Conditional(Method()))
    assert error in str(raised.value)


@pytest.mark.parametrize(
    "words",
    [
        "",
        "--list",  # the defaults of the other options are not refused
        "--method.rate 2 --method.rule moving",
        "--method.sides 2 --method.no-adaptive",
        "--past 2 --share 0.5",
        "--pairs 2 --compare main",
        "--no-list --workers 3 --no-progress 2",
    ],
)
def test_option_with_an_effect_is_read(words):
    read_options(Conditional, words.split(), "program", None, default=Conditional(Method()))
