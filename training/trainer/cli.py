"""Command line of evolve.py and td.py; they differ in their presets."""

from __future__ import annotations

import difflib
import itertools
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from rich.box import SIMPLE
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn
from rich.table import Column, Table

from training.evolution.metrics import Metrics
from training.evolution.state import State
from training.runtime.cli import as_installed, in_folder, read_options, run_command, shell_name
from training.trainer.checkpoint import FILE_NAME, load_checkpoint
from training.trainer.loop import (
    CHAMPION_FILE,
    PLOT_FILE,
    RunConfig,
    begin,
    is_complete,
    missing_files,
    resume,
    train,
)
from training.trainer.presets import ABLATIONS, PRESETS, TD_PRESETS, Preset, load_preset

EVOLVE, TD = "python training/evolve.py", "python training/td.py"
PRESETS_BY_COMMAND = {EVOLVE: PRESETS | ABLATIONS, TD: TD_PRESETS}
REPORT_EVERY = 10  # generations, without a terminal


def shell_words(call: str) -> list[str]:
    """Return the words by which a shell calls EVOLVE or TD: the installed command, if there is one.

    It stands with its folder where the shell would not find it.
    """
    name = as_installed(call)
    installed = shutil.which(name, path=str(Path(sys.executable).parent))
    return call.split() if installed is None else [shell_name(name, installed)]


@dataclass(frozen=True)
class TrainerConfig:
    """Options of the command line."""

    regime: Any  # Regime: tyro offers the fields of the default's class
    """Constants of the regime."""
    generations: int
    """Generations in all, those of a resumed run included."""
    seed: int = 0
    """Seed of all random numbers."""
    out: Path | None = None
    """Folder of the run; by default runs/REGIME-seed-SEED."""
    threads: int = os.cpu_count() or 1
    """Games at once. Results do not depend on it. (n-tuples learn from their games in one thread:
    there it is for the games of the curve.)"""
    resume: bool = False
    """Go on with the run in the folder, from its last checkpoint."""
    engine: Literal["kernel", "env"] = "kernel"
    """Engine of the games: compiled kernels, or (slow) the AEC environment and act(). (td.py learns
    by the kernels: there it is for the games of the curve.)"""
    curve_every: int = 1
    """Generations between points of the performance curve; 0 for no curve."""
    checkpoint_every: int = 10
    """Generations between checkpoints."""
    champion_every: int = 0
    """Generations between champions kept in the folder champions/; 0 keeps only the last one."""
    executor: Literal["threads", "processes", "ray"] = "threads"
    """Workers of the games: threads or processes of this machine, or a Ray cluster."""
    address: str | None = None
    """Address of a running Ray cluster; without it, Ray is started on this machine."""

    def run_config(self, name: str) -> RunConfig:
        """Return the configuration of the run of a preset."""
        options = {
            field: value for field, value in vars(self).items() if field not in ("out", "resume")
        }
        folder = self.out or Path("runs", f"{name}-seed-{self.seed}")
        return RunConfig(name=name, folder=folder, **options)


class TrainingCommand(NamedTuple):
    """A training command."""

    call: str  # command line without options
    description: str
    default: str  # preset without a name

    @property
    def presets(self) -> dict[str, Preset]:
        """Presets of the command."""
        return PRESETS_BY_COMMAND[self.call]


def run_program(program: TrainingCommand) -> int:
    """Run the command line; return the exit status."""
    return run_command(partial(run_training, program))


def run_training(program: TrainingCommand, arguments: list[str], console: Console) -> None:
    """Read the command line and train."""
    if arguments == ["--list"]:
        print_presets(program)
        return
    presets = program.presets
    name, words = program.default, arguments
    if arguments and not arguments[0].startswith("-"):
        name, words = arguments[0], arguments[1:]
    else:
        for before, word in itertools.pairwise(arguments):
            if word in presets and not before.startswith("-"):
                raise ValueError(f"a regime comes first: {program.call} {word} [options]")
    if ":" not in name and name not in presets:
        raise ValueError(_unknown(name, program))
    preset = load_preset(name) if ":" in name else presets[name]
    name = name.rpartition(":")[2]
    options = read_options(
        TrainerConfig,
        words,
        f"{program.call} [REGIME]",
        program.description,
        default=TrainerConfig(preset.regime, preset.generations),
    )
    if not options.curve_every:
        given = {word.partition("=")[0] for word in words}
        for option in (f"--{name}" for name in preset.regime.curve_options):
            if option in given:
                raise ValueError(f"{option} has no effect with --curve-every 0: leave it out")
    config = options.run_config(name)

    def complete() -> bool:
        return is_complete(config, load_checkpoint(config.folder))

    with in_folder(config.folder, FILE_NAME, CHAMPION_FILE, PLOT_FILE, console, complete):
        start = resume(config) if options.resume else begin(config)
        if start.state.generation >= config.generations:
            names = ", ".join(missing_files(config))
            console.print(f"No generation is left, but the run lacks {names}: it is written now")
        with _progress(config, start.state.generation, console) as report:
            train(config, start, report)


def _unknown(name: str, program: TrainingCommand) -> str:
    """Return the error of a name that is no preset of the command."""
    for call, presets in PRESETS_BY_COMMAND.items():
        if name in presets:
            return f"{name!r} is trained by another program: {call} {name}"
    near = difflib.get_close_matches(name, program.presets)
    hint = f": did you mean {' or '.join(near)}?" if near else ""
    return f"no regime {name!r}{hint} ({program.call} --list shows all {len(program.presets)})"


def print_presets(program: TrainingCommand) -> None:
    """Print every preset with its paper, games and CPU time."""
    number = partial(Column, justify="right", no_wrap=True)
    names = Column("regime", no_wrap=True), "paper", "what it is"
    table = Table(*names, number("games"), number("CPU time"), box=SIMPLE)
    for name, preset in program.presets.items():
        title = name + (" (default)" if name == program.default else "")
        games, time = f"{preset.games:,}", duration(preset.cpu_seconds)
        table.add_row(title, preset.source, preset.what, games, time)
    Console().print(table)


def duration(seconds: int) -> str:
    """Format seconds as ``17 s`` or ``9 min``; as nothing if they have not been measured."""
    if not seconds:
        return ""
    return f"{seconds} s" if seconds < 90 else f"{round(seconds / 60)} min"


def _curve_text(measured: Metrics) -> str:
    """Return the mean payoffs against the piece counter and the heuristic player, if measured."""
    if "curve/material" not in measured:
        return ""
    material, heuristic = measured["curve/material"], measured["curve/heuristic"]
    return f"against the piece counter {material:+.2f}, the heuristic {heuristic:+.2f}"


@contextmanager
def _progress(
    config: RunConfig, done: int, console: Console
) -> Iterator[Callable[[State, Metrics], None]]:
    """Show a bar on a terminal, and a line every few generations elsewhere."""
    games = config.regime.games
    known = "{task.description}", BarColumn(), MofNCompleteColumn()
    columns = (*known, "{task.fields[rate]}", TimeRemainingColumn(), "{task.fields[curve]}")
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(
            config.name, total=config.generations, completed=done, rate="", curve=""
        )

        def report(state: State, measured: Metrics) -> None:
            speed = bar.tasks[0].speed
            rate = f"{speed * games:.0f} games/s" if speed else ""
            shown = _curve_text(measured)
            bar.update(task, completed=state.generation, rate=rate, curve=shown)
            if not console.is_terminal and (
                state.generation % REPORT_EVERY == 0 or state.generation in (1, config.generations)
            ):
                console.print(f"generation {state.generation} of {config.generations} {shown}")

        yield report
