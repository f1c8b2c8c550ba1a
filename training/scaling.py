"""Measure how the cost of evolution grows, and simulate a cluster.

    python training/scaling.py [--quick] [--ray] [--page FILE]

The curves are against plies, games of a generation, population and weights, on one CPU. Then come
threads, processes and Ray on this machine, and generations of up to 100,000 networks on up to 256
cores, simulated from what was measured.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.markdown import Markdown
from rich.progress import Progress

from checkers_env.files import check_output, write_atomically
from training.costs import curves
from training.costs.page import EvolutionCosts, page, picture, simulations
from training.runtime.cli import read_options, run_command
from training.runtime.executors import check_executor
from training.runtime.machine import processor


@dataclass(frozen=True)
class ScalingConfig:
    """Options of the command line."""

    quick: bool = False
    """Shorter curves: a minute instead of five."""
    ray: bool = False
    """Measure Ray too (pip install '.[ray]')."""
    page: Path | None = None
    """Write a Markdown page, and its picture beside it."""


class ScalingEffort(NamedTuple):
    """Amount of work."""

    plies: int
    plies_parents: int
    opponents: tuple[int, ...]
    parents: tuple[int, ...]
    layers: tuple[int, ...]
    games: int
    calls: int
    repeats: int


QUICK = ScalingEffort(6, 5, (1, 5), (15, 150), (0, 8), 150, 50, 1)
FULL = ScalingEffort(
    10, 15, (1, 2, 5, 10, 20, 40), (15, 50, 150, 500, 1500), (0, 4, 16, 64, 256, 614), 900, 300, 3
)
WORKERS = ("threads", 1), ("threads", 2), ("processes", 1), ("processes", 2)
RAY = ("ray", 1), ("ray", 2), ("ray", 4)


def main() -> int:
    """Run the command line; return the exit status."""
    return run_command(measure)


def measure(arguments: Sequence[str], console: Console) -> None:
    """Read the command line, measure, and print or write the page."""
    settings = read_options(ScalingConfig, arguments, "python training/scaling.py", __doc__)
    if settings.page:
        check_output("--page", settings.page)
    if settings.ray:
        check_executor("ray", 1, None)
    costs = measure_all(QUICK if settings.quick else FULL, settings.ray, console)
    name = f"{settings.page.stem}.svg" if settings.page else "scaling.svg"
    clusters = simulations(costs.overheads)
    text = page(costs, clusters, processor(), name)
    if settings.page:
        write_atomically(settings.page.parent / name, picture(costs, clusters))
        write_atomically(settings.page, text.encode())
    else:
        Console().print(Markdown(text))


def measure_all(effort: ScalingEffort, ray: bool, console: Console) -> EvolutionCosts:
    """Measure every curve.

    Parameters
    ----------
    effort
        Amount of work.
    ray
        Whether Ray is measured.
    console
        Console of the progress bar.
    """
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("plies", total=6)

        def done(then: str) -> None:
            progress.update(task, advance=1, description=then)

        repeats = effort.repeats
        plies = curves.measure_plies(effort.plies, effort.plies_parents, repeats)
        done("games")
        games = curves.measure_games(effort.opponents, repeats)
        done("population")
        population = curves.measure_population(effort.parents, repeats)
        done("weights")
        weights = curves.measure_weights(effort.layers, effort.games, repeats)
        done("workers")
        kinds = WORKERS + (RAY if ray else ())
        workers = curves.measure_workers(kinds, effort.games, repeats)
        done("overheads")
        overheads = curves.measure_overheads(population, effort.games, effort.calls)
    return EvolutionCosts(plies, games, population, weights, workers, overheads)


if __name__ == "__main__":
    sys.exit(main())
