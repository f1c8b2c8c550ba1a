"""The command line that trains players: a program is a set of presets, and all share the rest."""

from __future__ import annotations

import difflib
import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

import tyro
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Column, Table

from training.evolution.metrics import Metrics
from training.evolution.state import State
from training.regimes import Regime
from training.runtime.cli import in_folder, run_command
from training.trainer.ablations import ABLATIONS
from training.trainer.checkpoint import FILE_NAME
from training.trainer.loop import CHAMPION_FILE, PLOT_FILE, RunConfig, begin, resume, train
from training.trainer.presets import PRESETS, TD_PRESETS, Preset

EVOLVE, TD = "python training/evolve.py", "python training/td.py"
PRESETS_BY_COMMAND = {EVOLVE: PRESETS | ABLATIONS, TD: TD_PRESETS}
REPORT_EVERY = 10  # generations, where there is no terminal to show a bar on


@dataclass(frozen=True)
class TrainerConfig:
    """What to run and how."""

    regime: tyro.conf.AvoidSubcommands[Regime]
    """Constants of the regime."""
    generations: int
    """Generations in all, those of a resumed run included."""
    seed: int = 0
    """Seed of everything that is drawn."""
    out: Path | None = None
    """Folder of the run; by default runs/REGIME-seed-SEED."""
    threads: int = os.cpu_count() or 1
    """Games played at once. Results do not depend on it."""
    resume: bool = False
    """Go on with the run in the folder, from its last checkpoint."""
    engine: Literal["kernel", "env"] = "kernel"
    """Where games are played: compiled, or (slowly) through the AEC environment and act()."""
    yardstick_every: int = 1
    """Generations between points of the performance curve; 0 for no curve."""
    checkpoint_every: int = 10
    """Generations between checkpoints."""
    executor: Literal["threads", "processes", "ray"] = "threads"
    """Where games are played: threads or processes of this machine, or a Ray cluster."""
    address: str | None = None
    """Of a Ray cluster that runs; without, Ray is started on this machine."""


class TrainingCommand(NamedTuple):
    """A command: how it is called, what its help says, and what it trains by default."""

    call: str
    description: str
    default: str

    @property
    def presets(self) -> dict[str, Preset]:
        """What it can train."""
        return PRESETS_BY_COMMAND[self.call]


def run_program(program: TrainingCommand) -> int:
    """Run the command line; return the exit status."""
    return run_command(partial(run_training, program))


def run_training(program: TrainingCommand, arguments: list[str], console: Console) -> None:
    """Read the command line and carry out the run that it asks for."""
    if arguments == ["--list"]:
        print_presets(program)
        return
    presets = program.presets
    name, options = program.default, arguments
    if arguments and not arguments[0].startswith("-"):
        name, options = arguments[0], arguments[1:]
    else:
        for before, word in itertools.pairwise(arguments):
            if word in presets and not before.startswith("-"):
                raise ValueError(f"a regime comes first: {program.call} {word} [options]")
    if name not in presets:
        raise ValueError(_unknown(name, program))
    preset = presets[name]
    settings = tyro.cli(
        TrainerConfig,
        args=options,
        default=TrainerConfig(preset.regime, preset.generations),
        prog=f"{program.call} [REGIME]",
        description=program.description,
    )
    plan = RunConfig(
        name,
        settings.regime,
        settings.generations,
        settings.seed,
        settings.out or Path("runs", f"{name}-seed-{settings.seed}"),
        settings.threads,
        settings.engine,
        settings.yardstick_every,
        settings.checkpoint_every,
        settings.executor,
        settings.address,
    )
    with in_folder(plan.folder, FILE_NAME, CHAMPION_FILE, PLOT_FILE, console):
        start = resume(plan) if settings.resume else begin(plan)
        with _progress(plan, start.state.generation, console) as report:
            train(plan, start, report)


def _unknown(name: str, program: TrainingCommand) -> str:
    """What to say of a name that is none of the presets."""
    for call, presets in PRESETS_BY_COMMAND.items():
        if name in presets:
            return f"{name!r} is trained by another program: {call} {name}"
    near = difflib.get_close_matches(name, program.presets)
    known = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(program.presets)}"
    return f"no regime {name!r}: {known} (see --list)"


def print_presets(program: TrainingCommand) -> None:
    """Show every preset with its paper, and the games and CPU time of a whole run."""
    table = Table(
        Column("regime", no_wrap=True),
        "paper",
        "what it is",
        Column("games", justify="right"),
        Column("CPU time", justify="right", no_wrap=True),
        box=SIMPLE,
    )
    for name, preset in program.presets.items():
        shown = (
            preset.source,
            preset.what,
            f"{preset.games:,}",
            duration(preset.cpu_seconds),
        )
        table.add_row(name + (" (default)" if name == program.default else ""), *shown)
    Console().print(table)


def duration(seconds: int) -> str:
    """Seconds as ``17 s`` or ``9 min``."""
    return f"{seconds} s" if seconds < 90 else f"{round(seconds / 60)} min"


@contextmanager
def _progress(
    plan: RunConfig, done: int, console: Console
) -> Iterator[Callable[[State, Metrics], None]]:
    """A bar on a terminal, and a line every few generations elsewhere."""
    games = plan.regime.games
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[curve]}"),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(plan.name, total=plan.generations, completed=done, rate="", curve="")

        def report(state: State, measured: Metrics) -> None:
            speed = bar.tasks[0].speed
            rate = f"{speed * games:.0f} games/s" if speed else ""
            curve = measured.get("curve/heuristic")
            shown = "" if curve is None else f"against the heuristic {curve:+.2f}"
            bar.update(task, completed=state.generation, rate=rate, curve=shown)
            if not console.is_terminal and (
                state.generation % REPORT_EVERY == 0 or state.generation in (1, plan.generations)
            ):
                console.print(f"generation {state.generation} of {plan.generations} {shown}")

        yield report
