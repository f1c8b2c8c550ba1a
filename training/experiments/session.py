"""Session of jobs: command-line options, executor, deadline, and progress on the terminal."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import rich.progress as rich
from rich.console import Console

from training.experiments.jobs import Job
from training.experiments.results import ResultStore
from training.experiments.scheduler import ExecutionContext, Progress, work_through
from training.runtime.executors import open_executor
from training.runtime.run_folder import lock_run_folder

REPORT_EVERY = 60.0  # seconds, without a terminal


@dataclass(frozen=True)
class SessionConfig:
    """Options of a session."""

    deadline: float | None = None
    """Minutes after which to stop. No job starts that would end later."""
    workers: int = os.cpu_count() or 1
    """Jobs at once. Results do not depend on it."""
    executor: Literal["processes", "threads", "ray"] = "processes"
    """Run jobs in processes or threads of this machine, or on a Ray cluster."""
    address: str | None = None
    """Address of a running Ray cluster. Default: start Ray on this machine."""

    def validate(self) -> None:
        """Raise ValueError for a value out of range."""
        if self.deadline is not None and not self.deadline >= 0:
            raise ValueError(f"deadline must be at least 0 minutes, not {self.deadline}")
        if self.workers < 1:
            raise ValueError(f"workers must be at least 1, not {self.workers}")


def run_session(
    config: SessionConfig,
    jobs: Sequence[Job],
    store: ResultStore,
    work: Path,
    console: Console,
    champions: bool = False,
) -> list[Job]:
    """Run the jobs that have no result yet; return those that are left at the deadline.

    One session at a time uses the folders of the results and of unfinished runs.
    """
    deadline = math.inf if config.deadline is None else time.time() + 60 * config.deadline
    try:
        with (
            lock_run_folder(work, "use another folder of work and of results"),
            open_executor(config.executor, config.workers, config.address) as executor,
        ):
            if stale := sum(map(store.is_out_of_date, jobs)):
                console.print(f"{stale} results are out of date: their jobs run again")
            with show_progress(console) as report:
                context = ExecutionContext(executor, config.workers, work, deadline)
                return work_through(jobs, store, context, report, champions)
    except ChildProcessError as error:
        raise ChildProcessError(
            f"{error}; finished jobs are saved: run the same command again"
        ) from None
    except KeyboardInterrupt:
        console.print("Interrupted; all progress is saved. Run the same command again to resume.")
        raise


@contextmanager
def show_progress(console: Console) -> Iterator[Callable[[Progress], None]]:
    """Yield a function that shows the progress of the jobs."""
    columns = (
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.TextColumn("{task.percentage:.1f} %"),
        rich.TimeRemainingColumn(),
    )
    last = -math.inf
    with rich.Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("jobs")

        def report(reached: Progress) -> None:
            nonlocal last
            text = f"{reached.jobs_done} of {reached.jobs} jobs"
            bar.update(task, description=text, completed=reached.seconds, total=reached.all_seconds)
            due = reached.jobs_done < reached.jobs and time.monotonic() - last >= REPORT_EVERY
            if due and not console.is_terminal:
                last = time.monotonic()
                hours = (reached.all_seconds - reached.seconds) / 3600
                console.print(f"{text} are done; {hours:.1f} CPU-hours are left")

        yield report
