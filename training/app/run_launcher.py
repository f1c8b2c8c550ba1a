"""Small runs that the page "Evolution" starts, one at a time, each in a process of its own.

    python -m training.app.run_launcher PRESET [options]

is that process: evolve.py or td.py, ended as by Ctrl-C when its standard input closes. The system
closes it with the server, however the server ends.
"""

from __future__ import annotations

import _thread
import faulthandler
import os
import shlex
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple, NoReturn

from starlette.exceptions import HTTPException

from training.app.request_body import Json
from training.app.run_reader import is_run, last_generation
from training.runtime.cli import end_at_once
from training.trainer.cli import PRESETS_BY_COMMAND, TrainingCommand, run_program, shell_words
from training.trainer.presets import Preset

OFFERED = (
    *("blondie24-1999", "blondie24-2001", "c0", "blondie24-rr", "c10", "c1-tuple", "hughes"),
    *("nguyen", "c5-n0.001", "c1-n0.001"),
)
DEFAULT_GENERATIONS, GENERATIONS, SEEDS = 20, range(1, 51), range(2**32)
NICENESS = 10
SAVE_SECONDS = 0.8  # for a run to save when the server ends; it loses one generation at most
EXIT_SECONDS = 60.0  # for a run to save when it is stopped, before it is ended without
LOG_BYTES = 2000  # of a failed run's last words


def offered_presets() -> dict[str, Preset]:
    """Return the presets that the page can start."""
    return {name: PRESETS_BY_COMMAND[_call(name)][name] for name in OFFERED}


def _call(preset: str) -> str:
    """Return the command line of the script that trains a preset."""
    return next(call for call, presets in PRESETS_BY_COMMAND.items() if preset in presets)


class Launch(NamedTuple):
    """A run that the page has started."""

    folder: Path
    generations: int
    options: list[str]  # preset and options of the command line
    process: subprocess.Popen[bytes]
    log: IO[bytes]


class RunLauncher:
    """Starts and stops a run in a folder; without a folder no run can be started."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._launch: Launch | None = None
        self._stopped = False
        self._lock = threading.Lock()

    def start(self, preset: str | None, generations: int | None, seed: int | None) -> Json:
        """Start a run, or resume the one of this preset and seed; return its status.

        Raise ValueError for what is not on offer and for a run that is complete, and HTTPException
        409 while another run goes on.
        """
        folder = self._check_folder()
        if preset not in OFFERED:
            raise ValueError(f"preset must be one of {', '.join(OFFERED)}, not {_quote(preset)}.")
        generations = _check_number("generations", generations, GENERATIONS)
        seed = _check_number("seed", seed, SEEDS)
        with self._lock:
            if self._launch and self._launch.process.poll() is None:
                name = self._launch.folder.name
                raise HTTPException(409, f"The run {name} goes on: stop it first, or wait.")
            self._begin(folder / f"{preset}-seed-{seed}", preset, generations, seed)
        return self.status()

    def _check_folder(self) -> Path:
        if self._folder is None:
            raise ValueError("The server has no folder of runs: start checkers-play with --runs.")
        return self._folder

    def _begin(self, folder: Path, preset: str, generations: int, seed: int) -> None:
        options = [preset]
        given: dict[str, object] = {"generations": generations, "seed": seed, "threads": 1}
        given |= {"checkpoint-every": 1, "champion-every": 1, "out": folder}
        options += [word for name, value in given.items() for word in (f"--{name}", str(value))]
        if folder.is_symlink():
            raise ValueError(f"{str(folder)!r} is a link: choose another seed.")
        if is_run(folder):
            reached = last_generation(folder)
            if reached >= generations:
                raise ValueError(
                    f"The run {folder.name} has reached generation {reached}: "
                    "ask for more generations, or choose another seed."
                )
            options.append("--resume")
        if self._launch:
            _end(self._launch, 0.0)  # it has ended: close its files
        log = TemporaryFile()  # noqa: SIM115 - closed with the next run, or the server
        words = [sys.executable, "-m", "training.app.run_launcher", *options]
        process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=log, stderr=log, **_own_group()
        )
        _make_nice(process)
        self._launch, self._stopped = Launch(folder, generations, options, process, log), False

    def stop(self) -> Json:
        """Stop the run as Ctrl-C does: it saves and ends. Raise ValueError if none goes on."""
        with self._lock:
            launch = self._launch
            if launch is None or launch.process.poll() is not None:
                raise ValueError("No run goes on that this page has started.")
            self._stopped = True
            _close_input(launch.process)
        return self.status()

    def close(self) -> None:
        """End the run with the server."""
        with self._lock:
            if self._launch:
                _end(self._launch, SAVE_SECONDS)
            self._launch = None

    def generations_of(self, run: Path) -> int | None:
        """Return the last generation to come of the run in a folder, if the page has started it."""
        launch = self._launch
        return launch.generations if launch and launch.folder.absolute() == run.absolute() else None

    def status(self) -> Json:
        """Return the state of the last run that was started.

        The state is "none", "running", "ended", "stopped" or "failed". The command resumes the run
        in a terminal.
        """
        launch = self._launch
        if launch is None:
            return {"state": "none"}
        code, reached = launch.process.poll(), last_generation(launch.folder)
        name, asked = launch.folder.name, launch.generations
        if code is None:
            state, message = "running", f"{name}: generation {reached} of {asked}."
            if self._stopped:
                message += " It saves, and stops."
            elif not reached:
                message += " The first one takes longer: kernels are compiled at their first use."
        elif code == 0:
            state, message = "ended", f"{name} has ended at generation {reached}."
        elif self._stopped:
            when = f"after generation {reached}" if reached else "before its first generation"
            state, message = "stopped", f"{name} was stopped {when}."
        else:
            state, message = "failed", f"{name} has failed: {_last_words(launch.log)}"
        return {
            "state": state,
            "name": name,
            "generation": reached,
            "generations": asked,
            "message": message,
            "command": _resume_command(launch),
        }


def _check_number(name: str, value: int | None, allowed: range) -> int:
    if value is None or value not in allowed:
        given = "nothing" if value is None else _quote(value)
        raise ValueError(f"{name} must be from {allowed[0]} to {allowed[-1]:,}, not {given}.")
    return value


def _quote(value: Any) -> str:
    return repr(value)[:100]


def _resume_command(launch: Launch) -> str:
    """Return the command line that resumes a run, or begins it if nothing was saved."""
    words = [word for word in launch.options if word != "--resume"]
    words += ["--resume"] if is_run(launch.folder) else []
    return shlex.join([*shell_words(_call(words[0])), *words])


def _last_words(log: IO[bytes]) -> str:
    """Return the last line of a run's output."""
    try:
        end = log.seek(0, os.SEEK_END)
        log.seek(max(end - LOG_BYTES, 0))
        lines = log.read().decode("utf-8", "replace").split("\n")
    except (OSError, ValueError):  # ValueError: the server has just ended
        return "its output cannot be read."
    return next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing.")


def _own_group() -> dict[str, Any]:
    """Return the options of a process that the terminal's Ctrl-C does not reach."""
    if sys.platform == "win32":
        flags = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.BELOW_NORMAL_PRIORITY_CLASS
        return {"creationflags": flags}
    return {"start_new_session": True}


def _make_nice(process: subprocess.Popen[bytes]) -> None:
    """Let the agents of the pages go first."""
    if sys.platform != "win32":
        with suppress(OSError):  # it has ended already
            os.setpriority(os.PRIO_PROCESS, process.pid, NICENESS)


def _close_input(process: subprocess.Popen[bytes]) -> None:
    if process.stdin:
        with suppress(OSError):
            process.stdin.close()


def _end(launch: Launch, seconds: float) -> None:
    """End a run as Ctrl-C does, and kill it if that takes longer."""
    _close_input(launch.process)
    try:
        launch.process.wait(seconds)
    except subprocess.TimeoutExpired:
        launch.process.kill()
        launch.process.wait()
    launch.log.close()


def _end_with_input() -> None:
    """Wait for the end of the standard input, and interrupt the main thread then."""
    while os.read(0, 1024):  # sys.stdin would be locked at the interpreter's end
        pass
    # This ends even a process whose interpreter is locked, and prints where all threads are.
    faulthandler.dump_traceback_later(EXIT_SECONDS, exit=True)
    if sys.platform == "win32":
        _thread.interrupt_main()
    else:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def main() -> NoReturn:
    """Run a training command until its standard input closes, and end the process at once."""
    threading.Thread(target=_end_with_input, daemon=True).start()
    program = TrainingCommand(_call(sys.argv[1]), __doc__ or "", sys.argv[1])
    end_at_once(run_program(program))  # the end of an interpreter may wait for threads


if __name__ == "__main__":
    main()
