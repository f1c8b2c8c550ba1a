"""Change one constant of a preset, train several seeds, and say what the change does.

    python training/compare.py blondie24-2001 --vary opponents 5 10 20 --seeds 10
    python training/compare.py c0 c10 blondie24-rr --seeds 5

Players are presets (see evolve.py --list and td.py --list), one's own as file.py:NAME. Champions of
equal seeds play each card with both colours. The table shows scores with 95 % intervals over the
seeds. Runs and matches are kept: a stopped comparison goes on by the same command.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Column, Table
from tyro.conf import OmitArgPrefixes

from agents.search.workspace import MAX_DEPTH
from checkers_env.files import check_folder, make_folder, write_atomically
from checkers_env.openings import BALLOTS
from training.experiments.comparison import (
    HEADINGS,
    Comparison,
    compare,
    plot_curves,
    plot_scores,
    table_cells,
    to_markdown,
    verdict,
)
from training.experiments.jobs import Conditions, get_preset, presets_of
from training.experiments.results import ResultStore
from training.experiments.scheduler import Costs, undone
from training.experiments.session import SessionConfig, run_session
from training.league.schedule import read_openings
from training.runtime.cli import read_options, run_command
from training.runtime.run_folder import short_name
from training.runtime.validation import Range, validate_ranges
from training.trainer.variants import variant_name

FOLDER = Path("runs", "compare")
SETTINGS = ("seeds", "generations", "depth", "ballot", "scale")


@dataclass(frozen=True)
class CompareConfig:
    """What to compare and how."""

    presets: tyro.conf.Positional[tuple[str, ...]]
    """Presets; the first is the baseline."""
    vary: tuple[str, ...] = ()
    """An option of the one preset's regime, and two or more values; the first is the baseline."""
    seeds: Annotated[int, Range(1, 1000)] = 5
    """Training runs of each player."""
    generations: int | None = None
    """Generations of each run; by default those of the preset."""
    depth: Annotated[int, Range(1, MAX_DEPTH), tyro.conf.arg(metavar="PLIES")] = 6
    """Plies of the searches in the matches."""
    ballot: str = "two-move"
    """Openings of the matches, each with both colours: two-move (43 cards), three-move (156), or as
    the --openings of benchmark.py."""
    scale: float = 1.0
    """Below 1 for a trial: that part of the generations, parents and openings."""
    results: Path = FOLDER / "results"
    """Folder of finished runs and matches. `results` has those of the papers' players."""
    out: Path = FOLDER
    """Folder of the table (Markdown and JSON) and of the plots."""
    session: OmitArgPrefixes[SessionConfig] = field(default_factory=SessionConfig)
    """Executor and deadline."""


def main() -> int:
    """Run the command line; return the exit status."""
    return run_command(run_comparison)


def run_comparison(arguments: Sequence[str], console: Console) -> None:
    """Read the command line, train, play, and write the comparison."""
    config = read_options(CompareConfig, arguments, "python training/compare.py", __doc__)
    config.session.validate()
    validate_ranges(config)
    cards = None if config.ballot in BALLOTS else read_openings(config.ballot)
    if cards == ("",):
        raise ValueError("ballot must have cards: matches begin with a game from the start anyway")
    conditions = Conditions(depth=config.depth, ballot=config.ballot, openings=cards)
    names = player_names(config)
    comparison = Comparison(names, config.seeds, conditions, config.generations, config.scale)
    for name in ("out", "results"):
        check_folder(f"--{name}", getattr(config, name))
    store, jobs = ResultStore(config.results), comparison.jobs()
    print_costs(comparison, store, config.out / "work", console)
    left = run_session(config.session, jobs, store, config.out / "work", console)
    write_comparison(config, comparison, store, console)
    if left:
        console.print(f"{len(left)} of {len(jobs)} jobs are left: call again to go on.")


def print_costs(comparison: Comparison, store: ResultStore, work: Path, console: Console) -> None:
    """Print the expected time of the jobs to do, and a warning for a single seed."""
    jobs = comparison.jobs()
    costs, left = Costs(store, jobs, work), undone(jobs, store)
    minutes = sum(costs.expected(job, left) for job in left) / 60
    console.print(f"{len(left)} of {len(jobs)} jobs to do, some {minutes:.0f} CPU-minutes")
    if comparison.seeds == 1:
        console.print("One seed gives no interval and no p: take five or more")


def player_names(config: CompareConfig) -> tuple[str, ...]:
    """Return the players' names, the baseline first. Raise ValueError for unknown ones."""
    for name in config.presets:
        get_preset(name)
    if not config.vary:
        return config.presets
    if len(config.presets) != 1 or len(config.vary) < 3:
        raise ValueError("--vary takes one preset, an option, and two values or more")
    (base,), (option, *values) = config.presets, config.vary
    option = option.removeprefix("regime.").replace("-", "_")
    return tuple(variant_name(base, {option: value}, presets_of(base)) for value in values)


def file_name(config: CompareConfig) -> str:
    """Return the name of a comparison's files: the players, and settings that are not defaults."""
    defaults = CompareConfig(())
    settings = (
        f"{name}-{getattr(config, name)}"
        for name in SETTINGS
        if getattr(config, name) != getattr(defaults, name)
    )
    return short_name("-".join(["-and-".join(config.presets), *config.vary, *settings]))


def write_comparison(
    config: CompareConfig, comparison: Comparison, store: ResultStore, console: Console
) -> None:
    """Print the table, and write it with its plots to the folder."""
    results = compare(comparison, store)
    player, *figures = HEADINGS
    columns = (Column(it, justify="right") for it in figures)
    table = Table(Column(player, no_wrap=True), *columns, box=SIMPLE)
    for row in table_cells(results):
        table.add_row(*row)
    Console().print(table)
    for it in results[1:]:
        console.print(verdict(it, comparison.names[0]), markup=False)
    name = file_name(config)
    content = {
        "players": [it.to_json() for it in results],
        **{name: getattr(config, name) for name in SETTINGS},
    }
    files = {
        "md": to_markdown(comparison, results).encode(),
        "json": f"{json.dumps(content, indent=1)}\n".encode(),
    }
    if len(results[0].against_counter):
        files["svg"] = plot_scores(results)
    if (plot := plot_curves(comparison, store)) is not None:
        files["curves.svg"] = plot
    make_folder(config.out)  # the session has left none that was empty
    for suffix, data in files.items():
        write_atomically(config.out / f"{name}.{suffix}", data)
    console.print(f"Table, figures and plots: {config.out / name}.*", markup=False)


if __name__ == "__main__":
    sys.exit(main())
