"""Progress of jobs: a bar on a terminal, and a line a minute elsewhere."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import rich.progress as rich
from rich.console import Console

from training.reproduction.scheduler import Progress

REPORT_EVERY = 60.0  # seconds, without a terminal


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
            if not console.is_terminal and time.monotonic() - last >= REPORT_EVERY:
                last = time.monotonic()
                hours = (reached.all_seconds - reached.seconds) / 3600
                console.print(f"{text}, {hours:.1f} CPU-hours left")

        yield report
