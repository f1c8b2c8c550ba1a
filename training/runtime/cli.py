"""Frame of the command lines: messages, exit status, errors and interruptions."""

from __future__ import annotations

import itertools
import logging
import os
import re
import shlex
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar, get_args, get_type_hints

import tyro
from rich.console import Console
from rich.logging import RichHandler

from checkers_env.errors import EngineError
from training.runtime.executors import AbandonedThreadsError, hide_writer_error
from training.runtime.run_folder import lock_run_folder
from training.runtime.validation import refuse_ineffective

FAILED, INTERRUPTED = 1, 130
KEPT = "what was reached is saved"  # after Ctrl-C

Options = TypeVar("Options")


def run_command(command: Callable[[list[str], Console], None]) -> int:
    """Call a command with its arguments and a console for messages; return the exit status."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    _show_log(console)
    threading.excepthook = hide_writer_error
    sys.unraisablehook = interrupt_again
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: save, then go
    try:
        command(sys.argv[1:], console)
    except AbandonedThreadsError:
        end_at_once(INTERRUPTED)
    except KeyboardInterrupt:
        return INTERRUPTED
    except (ValueError, OSError, EngineError, ModuleNotFoundError) as error:
        console.print(f"error: {as_called(str(error))}", style="red", markup=False)
        return FAILED
    return 0


def end_at_once(status: int) -> NoReturn:
    """End the process without waiting for its threads."""
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # closed
            stream.flush()
    os._exit(status)


def read_options(
    options: type[Options],
    arguments: Sequence[str],
    program: str,
    description: str | None,
    **others: Any,
) -> Options:
    """Read a command line; ``--help`` and errors end the program.

    `options` is a dataclass whose docstrings are the help; `program` is the words that call the
    program, such as ``python training/evolve.py``; `others` are arguments of ``tyro.cli``.

    Raises
    ------
    ValueError
        For an empty path, which would otherwise be the current folder, and for an option that has
        no effect beside the others.
    """
    _refuse_empty_paths(options, arguments)
    program, description = as_called(program), as_called(description or "")
    config = tyro.cli(options, args=arguments, prog=program, description=description, **others)
    words = {word.partition("=")[0].replace("_", "-") for word in arguments}
    _refuse_ineffective(config, words)
    return config


def _refuse_empty_paths(options: type[Any], arguments: Sequence[str]) -> None:
    for name, kind in get_type_hints(options).items():
        option = f"--{name.replace('_', '-')}"
        empty = f"{option}=" in arguments or (option, "") in itertools.pairwise(arguments)
        if empty and Path in (kind, *get_args(kind)):
            raise ValueError(f"{option} takes a path, not an empty text")


def _refuse_ineffective(config: Any, words: Collection[str], prefix: str = "--") -> str:
    """Check a dataclass of options, and those in it; return one that is given, if one is.

    `words` are those of the command line, without values after "=".
    """

    def spell(name: str) -> str:
        return prefix + name.replace("_", "-")

    given = {}
    hints = get_type_hints(type(config), include_extras=True)
    for name in (field.name for field in fields(config)):
        value, option = getattr(config, name), spell(name)
        forms = {option, f"{prefix}no-{option.removeprefix(prefix)}"}
        if is_dataclass(value):
            bare = tyro.conf.OmitArgPrefixes in getattr(hints[name], "__metadata__", ())
            option = _refuse_ineffective(value, words, prefix if bare else f"{option}.")
        else:
            option = min(forms.intersection(words), default="")
        if option:
            given[name] = option
    refuse_ineffective(config, given, spell)
    return next(iter(given.values()), "")


def as_called(text: str) -> str:
    """Return a text that calls our scripts, by the installed commands' names if one runs now."""
    return as_installed(text) if Path(sys.argv[0]).name.startswith("checkers-") else text


def as_installed(text: str) -> str:
    """Return a text that calls our scripts by the installed commands' names."""
    return re.sub(r"python training/(\w+)\.py", r"checkers-\1", text)


def interrupt_again(arguments: sys.UnraisableHookArgs) -> None:
    """Send SIGINT again a moment after one came in a finalizer, where Python ignores exceptions.

    Else Ctrl-C while compiled code is freed would print a traceback and end nothing. It goes to the
    main thread: sent to another, it would not end a sleep or a wait.
    """
    if arguments.exc_type is KeyboardInterrupt:
        main = threading.main_thread().ident
        again = threading.Timer(0.02, signal.pthread_kill, (main, signal.SIGINT))
        again.daemon = True
        again.start()
    else:
        sys.__unraisablehook__(arguments)


def print_resume_command(saved: bool, console: Console, kept: str = KEPT) -> None:
    """Print what an interruption has left and the command line that goes on from there."""
    options = ["--resume"] if saved and "--resume" not in sys.argv else []
    state = f"{kept}. Go on" if saved else "nothing was begun. Start again"
    again = shlex.join([*command_line(), *options])
    console.print(f"Interrupted; {state} with: {again}", markup=False)


def command_line() -> list[str]:
    """Return the words that call this program again: a script needs its interpreter before it."""
    if Path(sys.argv[0]).suffix != ".py":
        return sys.argv
    return [shell_name("python", sys.executable), *sys.argv]


def shell_name(name: str, program: str) -> str:
    """Return `name` if the shell finds the program by it, else the program's path."""
    found = shutil.which(name)
    return name if found is not None and Path(found).absolute() == Path(program) else program


@contextmanager
def in_folder(
    folder: Path,
    checkpoint: str,
    champion: str,
    picture: str,
    console: Console,
    complete: Callable[[], bool],
    kept: str = KEPT,
) -> Iterator[None]:
    """Lock a run's folder for a with block; at its end, print the run's files.

    Parameters
    ----------
    folder
        Folder of the run.
    checkpoint, champion, picture
        Names of the run's files.
    console
        Console of the messages.
    complete
        Function that tells whether the saved run has reached its end.
    kept
        As for :func:`print_resume_command`.

    Raises
    ------
    ValueError
        If another process works in the folder.
    """
    try:
        with lock_run_folder(folder, "choose another folder by --out"):
            yield
    except KeyboardInterrupt:
        saved = (folder / checkpoint).exists()
        if saved and complete():
            console.print(f"Interrupted, but the run in {str(folder)!r} is complete", markup=False)
        else:
            print_resume_command(saved, console, kept)
        raise
    except OSError as error:
        raise OSError(f"{error} (the run is in {str(folder)!r})") from error
    console.print(
        f"Champion: {folder / champion}\nCurve:    {folder / picture}\n"
        f"TensorBoard: tensorboard --logdir {shlex.quote(str(folder))}",
        markup=False,
    )


def _show_log(console: Console) -> None:
    handler = RichHandler(console=console, show_time=False, show_level=False, show_path=False)
    logging.basicConfig(level=logging.WARNING, handlers=[handler], format="%(message)s")
