"""Train and play what the papers' tables need, and write the tables: theirs, and ours beside them.

    python training/reproduce.py --list
    python training/reproduce.py --experiment table-4.6 [table-7.5 ...] [options]
    python training/reproduce.py --all [options]

Each finished training run and match is a line in the folder of results. It is found again by its
configuration, seed and results_version: nothing is done twice. Stop the program in any way and call
it again: unfinished runs go on from their last checkpoints. The page shows the results there are;
--deadline 0 writes it and begins nothing.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Column
from rich.table import Table as Shown

from training.reproduction.page import write_page
from training.reproduction.plan import EXPERIMENTS, Scope
from training.reproduction.progress_bar import show_progress
from training.reproduction.results import ResultStore, differences
from training.reproduction.scheduler import Costs, ExecutionContext, undone, work_through
from training.reproduction.tables import Table
from training.runtime.cli import run_command
from training.runtime.executors import open_executor
from training.runtime.run_folder import lock_run_folder

RESULTS, WORK = Path("results"), Path("runs", "reproduce")


@dataclass(frozen=True)
class Settings:
    """What to reproduce and how."""

    experiment: tuple[str, ...] = ()
    """Experiments, as --list names them."""
    all: bool = False
    """All of them."""
    list: bool = False
    """Only show the experiments, what is done of them, and what is left."""
    seeds: int | None = None
    """Training runs of each player; by default 10, or 5 of those that less depends on."""
    scale: float = 1.0
    """Below 1 for a trial: so much of the generations, parents, openings and seeds."""
    deadline: float | None = None
    """Minutes after which to stop. No job is begun that would end later."""
    workers: int = os.cpu_count() or 1
    """Jobs at once. Results do not depend on it."""
    executor: Literal["processes", "threads", "ray"] = "processes"
    """Where jobs are done: processes or threads of this machine, or a Ray cluster."""
    address: str | None = None
    """Of a Ray cluster that runs; without, Ray is started on this machine."""
    results: Annotated[Path | None, tyro.conf.arg(aliases=["--records"])] = None
    """Folder of the results; by default results, for a trial one in --work."""
    work: Path | None = None
    """Folder of unfinished runs; by default runs/reproduce, with the scale for a trial."""
    page: Path | None = None
    """File for the tables and verdicts (Markdown); by default reproduction.md in --work."""
    champions: bool = False
    """Train again the players whose weight files are missing: those that git does not keep."""
    compare: Path | None = None
    """Only compare the results with those in another folder."""


def main() -> int:
    """Run the command line; return the exit status."""
    return run_command(reproduce)


def reproduce(arguments: Sequence[str], console: Console) -> None:
    """Read the command line and do what it asks for."""
    settings = tyro.cli(
        Settings, args=arguments, prog="python training/reproduce.py", description=__doc__
    )
    if settings.deadline is not None and not settings.deadline >= 0:
        raise ValueError(f"deadline is a number of minutes from 0 on, not {settings.deadline}")
    if settings.workers < 1:
        raise ValueError(f"workers must be at least 1, not {settings.workers}")
    scope, chosen = Scope(settings.seeds, settings.scale), tables_of(settings)
    work = settings.work or (WORK if scope.scale == 1 else WORK / f"scale-{scope.scale:g}")
    store = ResultStore(settings.results or (RESULTS if scope.scale == 1 else work / "results"))
    if settings.list:
        print_experiments(chosen, scope, store, work, settings.champions)
        return
    jobs = scope.jobs(chosen)
    if settings.compare is not None:
        if not settings.compare.is_dir():
            raise ValueError(f"there is no folder {str(settings.compare)!r} to compare with")
        compare(store, ResultStore(settings.compare), scope, chosen, console)
        return
    began = time.time()
    deadline = float("inf") if settings.deadline is None else began + 60 * settings.deadline
    try:
        with (
            lock_run_folder(work, "use another --work and --results"),
            open_executor(settings.executor, settings.workers, settings.address) as executor,
        ):
            context = ExecutionContext(executor, settings.workers, work, deadline)
            if stale := sum(map(store.is_out_of_date, jobs)):
                console.print(f"{stale} results are out of date: their jobs are done again")
            with show_progress(console) as report:
                left = work_through(jobs, store, context, report, settings.champions)
    except ChildProcessError as error:
        raise ChildProcessError(
            f"{error}; what was finished is kept: call the same again"
        ) from None
    except KeyboardInterrupt:
        console.print("Interrupted; what was reached is saved. Go on by the same command.")
        raise
    path = settings.page or work / "reproduction.md"
    write_page(path, chosen, scope, store)
    console.print(f"{len(jobs) - len(left)} of {len(jobs)} jobs are done. The page: {path}")
    if left:
        console.print(f"{len(left)} would have ended after the deadline: call again to go on.")


def tables_of(settings: Settings) -> list[Table]:
    """The tables asked for. Raises ValueError for unknown ones, for none, and for some and all."""
    unknown = [name for name in settings.experiment if name not in EXPERIMENTS]
    if unknown:
        raise ValueError(
            f"no experiment {', '.join(map(repr, unknown))}: known are {', '.join(EXPERIMENTS)}"
        )
    if settings.all and settings.experiment:
        raise ValueError("say --all, or --experiment with names, but not both")
    names = settings.experiment or (EXPERIMENTS if settings.all or settings.list else ())
    if not names:
        raise ValueError("say what to reproduce: --experiment NAME, or --all (see --list)")
    return [EXPERIMENTS[name] for name in names]


def print_experiments(
    chosen: Sequence[Table], scope: Scope, store: ResultStore, work: Path, champions: bool
) -> None:
    """Show what there is to do and what is done."""
    table = Shown(
        Column("experiment", no_wrap=True),
        "what it is",
        Column("jobs done", justify="right", no_wrap=True),
        Column("CPU-hours left", justify="right"),
        box=SIMPLE,
    )
    everything = scope.jobs(chosen)
    costs = Costs(store, everything, work)
    for name, title, jobs in (
        *((it.name, it.title, scope.jobs([it])) for it in chosen),
        ("in all", "each job counted once", everything),
    ):
        left = undone(jobs, store, champions)
        hours = sum(costs.expected(job, left) for job in left) / 3600
        table.add_row(name, title, f"{len(jobs) - len(left)}/{len(jobs)}", f"{hours:.2f}")
    Console().print(table)


def compare(
    store: ResultStore, other: ResultStore, scope: Scope, chosen: Sequence[Table], console: Console
) -> None:
    """Say which results of two folders differ. Raises ValueError if any do."""
    jobs = scope.jobs(chosen)
    pairs = [(job, store.result(job), other.result(job)) for job in jobs]
    both = [(job, one, two) for job, one, two in pairs if one and two]
    different = [(job, told) for job, one, two in both if (told := differences(one, two))]
    for job, told in different:
        console.print(f"{job.title}: {', '.join(told)}", markup=False)
    if different or not both:
        raise ValueError(f"of {len(both)} jobs in both folders {len(different)} differ")
    console.print(f"{len(both)} of {len(jobs)} jobs are in both folders, and all are equal")


if __name__ == "__main__":
    sys.exit(main())
