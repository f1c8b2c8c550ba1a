"""Reproduce the papers' tables: train the players, play the matches, and write the pages.

    python training/reproduce.py --list
    python training/reproduce.py --experiment 4.6 [table-7.5 ...] [options]
    python training/reproduce.py --experiment 4.6 --fresh
    python training/reproduce.py --all [options]

One page shows the papers' figures with ours beside them, the other a verdict on each claim. Each
finished training run and match is a line in the folder of results, whose key is its configuration,
seed and results_version: nothing is done twice, unless --fresh computes it again and compares it
with the record. Stop the program in any way and call it again: unfinished runs resume from their
last checkpoints. --deadline 0 starts no job and only writes the pages.
"""

from __future__ import annotations

import difflib
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Column
from rich.table import Table as Shown
from tyro.conf import OmitArgPrefixes

from checkers_env.files import check_folder
from training.experiments.champions import load_champion
from training.experiments.claims import CLAIMS
from training.experiments.jobs import Job, Run
from training.experiments.page import write_page, write_verdicts
from training.experiments.plan import Scope, figures
from training.experiments.results import ResultStore, TrainingResult, differences
from training.experiments.scheduler import Costs, undone
from training.experiments.session import SessionConfig, run_session
from training.experiments.starting_point import compare_with_start, evolves
from training.experiments.table_text import to_terminal
from training.experiments.tables import EXPERIMENTS, Table
from training.experiments.verdicts import planned_jobs
from training.runtime.cli import read_options, run_command
from training.runtime.validation import NoEffectWith

RESULTS, WORK = Path("results"), Path("runs", "reproduce")
CHECKOUT = Path(__file__).resolve().parent.parent  # the records stand in it, beside the package
FRESH = "fresh"
WIDE = 140  # columns of a table that is printed to a file


@dataclass(frozen=True)
class ReproductionConfig:
    """Options of the command line."""

    experiment: tuple[str, ...] = ()
    """Names of experiments, as --list shows them; 4.6 is short for table-4.6."""
    all: bool = False
    """All experiments."""
    list: bool = False
    """Only list the experiments, with the number of finished jobs and the time left."""
    seeds: int | None = None
    """Training runs of each player. Default: 10 for players that conclusions rest on, else 5."""
    scale: float = 1.0
    """Below 1 for a trial: share of the generations, parents, openings and seeds."""
    results: Path | None = None
    """Folder of the results. Default: results beside the package, or else in the current folder;
    for a trial, a folder in --work."""
    work: Path | None = None
    """Folder of unfinished runs. Default: runs/reproduce; for a trial, a folder in it."""
    page: Annotated[Path | None, NoEffectWith("list", "compare", "starts", "fresh")] = None
    """Markdown file of the tables. Default: reproduction.md in --work."""
    verdicts: Annotated[Path | None, NoEffectWith("list", "compare", "starts", "fresh")] = None
    """Markdown file of the verdicts. Default: verdicts.md beside the page."""
    champions: Annotated[bool, NoEffectWith("compare", "starts", "fresh")] = False
    """Train again the players whose weight files are missing, because git does not keep them."""
    starts: Annotated[bool, NoEffectWith("list", "compare")] = False
    """Only compare champions with the start of their training, where that is missing."""
    fresh: Annotated[bool, NoEffectWith("list", "compare", "starts")] = False
    """Compute the experiments again, in a folder of --work, and compare them with the results."""
    compare: Annotated[Path | None, NoEffectWith("list")] = None
    """Only compare the results with those in another folder."""
    session: Annotated[OmitArgPrefixes[SessionConfig], NoEffectWith("list", "starts")] = field(
        default_factory=SessionConfig
    )
    """Executor and deadline."""


def main() -> int:
    """Run the command line; return the exit status."""
    return run_command(reproduce)


def reproduce(arguments: Sequence[str], console: Console) -> None:
    """Read the command line and run the experiments, or list or compare their results."""
    settings = read_options(ReproductionConfig, arguments, "python training/reproduce.py", __doc__)
    settings.session.validate()
    check_paths(settings)
    scope, chosen = Scope(settings.seeds, settings.scale), tables_of(settings)
    work = settings.work or (WORK if scope.scale == 1 else WORK / f"scale-{scope.scale:g}")
    store = ResultStore(results_folder(settings, scope, work))
    if settings.list:
        print_experiments(chosen, scope, store, work, settings.champions)
        return
    jobs = scope.jobs(chosen)
    if settings.compare is not None:
        if not settings.compare.exists():
            raise ValueError(f"compare must be a folder: {str(settings.compare)!r} does not exist")
        compare(store, ResultStore(settings.compare), scope, chosen, console)
        return
    if settings.starts:
        compare_starts(jobs, store, console)
        return
    if settings.fresh:
        compute_again(settings, store, scope, chosen, work / FRESH, console)
        return
    recorded = [job for job in jobs if store.result(job) is not None]
    date = store.date(recorded)
    planned = planned_jobs(CLAIMS) if settings.all and scope == Scope() else []
    everything = list(dict.fromkeys([*jobs, *planned]))
    left = run_session(settings.session, everything, store, work, console, settings.champions)
    path = settings.page or work / "reproduction.md"
    write_page(path, chosen, scope, store)
    write_verdicts(settings.verdicts or path.with_name("verdicts.md"), chosen, scope, store)
    if settings.experiment:
        print_tables(chosen, scope, store)
    if recorded:
        console.print(
            f"{len(recorded)} of {len(jobs)} jobs are from records of {date}; --fresh "
            "computes them again."
        )
    done = sum(store.result(job) is not None for job in jobs)
    console.print(f"{done} of {len(jobs)} jobs are done. The page: {path}")
    if left:
        console.print(f"{len(left)} jobs were left at the deadline: run the same command again.")


def check_paths(settings: ReproductionConfig) -> None:
    """Raise ValueError for a file in place of a folder, and for a folder in place of a page."""
    folders = {name: getattr(settings, name) for name in ("results", "work", "compare")}
    for name in ("page", "verdicts"):
        if (file := getattr(settings, name)) is not None:
            if file.is_dir():
                raise ValueError(f"--{name} must be a file, not the folder {str(file)!r}")
            folders[name] = file.parent
    for name, folder in folders.items():
        if folder is not None:
            check_folder(f"--{name}", folder)


def results_folder(settings: ReproductionConfig, scope: Scope, work: Path) -> Path:
    """Return the folder of the results: the option's, a trial's, or that beside the package."""
    if settings.results is not None:
        return settings.results
    if scope.scale < 1:
        return work / RESULTS
    return CHECKOUT / RESULTS if (CHECKOUT / RESULTS).is_dir() else RESULTS


def print_tables(chosen: Sequence[Table], scope: Scope, store: ResultStore) -> None:
    """Print the tables with their figures on the terminal."""
    screen = Console(width=None if sys.stdout.isatty() else WIDE)
    for table in chosen:
        screen.print(to_terminal(table, figures(table, scope, store)))


def compute_again(
    settings: ReproductionConfig,
    store: ResultStore,
    scope: Scope,
    chosen: Sequence[Table],
    work: Path,
    console: Console,
) -> None:
    """Compute experiments in a folder of their own, and compare them with the record.

    An interrupted computation goes on where it was. A finished one is deleted if all of it has a
    record, and is equal. Raises ValueError if the figures differ from the record.
    """
    fresh, jobs = ResultStore(work / RESULTS), scope.jobs(chosen)
    left = run_session(settings.session, jobs, fresh, work, console)
    print_tables(chosen, scope, fresh)
    if left:
        console.print(f"{len(left)} jobs were left at the deadline: run the same command again.")
        return
    missing = sum(store.result(job) is None for job in jobs)
    if missing < len(jobs):
        compare(fresh, store, scope, chosen, console)
    if not missing:
        shutil.rmtree(work)
        return
    console.print(
        f"{missing} of {len(jobs)} jobs have no record in {store.folder} to compare with. "
        f"Their results are kept in {fresh.folder}: delete it to compute them once more.",
        markup=False,
    )


def tables_of(settings: ReproductionConfig) -> list[Table]:
    """Return the tables of the options --experiment, --all and --list."""
    if settings.all and settings.experiment:
        raise ValueError("give --all, or --experiment with names, but not both")
    names = settings.experiment or (EXPERIMENTS if settings.all or settings.list else ())
    if not names:
        raise ValueError("give --experiment NAME or --all; --list shows the names")
    return [EXPERIMENTS[find_name(name)] for name in names]


def find_name(text: str) -> str:
    """Return the experiment that a text names: ``table-4.6``, ``4.6``, ``Table 4.6``."""
    plain = re.sub(r"[\s_]+", "-", text.strip().lower())
    for name in (plain, f"table-{plain}", plain.replace("table", "table-", 1)):
        if name in EXPERIMENTS:
            return name
    near = difflib.get_close_matches(plain, EXPERIMENTS) or difflib.get_close_matches(
        f"table-{plain}", EXPERIMENTS
    )
    advice = f"did you mean {' or '.join(near)}? " if near else ""
    raise ValueError(f"unknown experiment {text!r}: {advice}--list shows all {len(EXPERIMENTS)}")


def print_experiments(
    chosen: Sequence[Table], scope: Scope, store: ResultStore, work: Path, champions: bool
) -> None:
    """Print a table of experiments: finished jobs, and the time left."""
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
    """Print which results of two folders differ. Raise ValueError if any do, or none is in both."""
    jobs = scope.jobs(chosen)
    pairs = [(job, store.result(job), other.result(job)) for job in jobs]
    both = [(job, one, two) for job, one, two in pairs if one and two]
    different = [(job, names) for job, one, two in both if (names := differences(one, two))]
    for job, names in different:
        console.print(f"{job.title}: {', '.join(names)}", markup=False)
    if different or not both:
        raise ValueError(f"of {len(both)} jobs in both folders {len(different)} differ")
    console.print(f"{len(both)} of {len(jobs)} jobs are in both folders, and all are equal")


def compare_starts(jobs: Sequence[Job], store: ResultStore, console: Console) -> None:
    """Compare champions of finished evolutions with generation 0; print those that never moved."""
    for job in jobs:
        result = store.result(job)
        if not isinstance(job, Run) or not isinstance(result, TrainingResult):
            continue
        if not result.start and not store.lacks_champion(job) and evolves(job):
            champion = load_champion(store.champion_path(result.champions[0]))
            store.add_start(job, compare_with_start(job, champion))
            result = store.result(job)
            assert isinstance(result, TrainingResult)
        if result.start.get("untouched") == 1:
            console.print(f"{job.title}: the champion is its own starting point", markup=False)


if __name__ == "__main__":
    sys.exit(main())
