"""Compare the values of agents with the results of games that were played.

    python training/benchmark.py strong@nodes=20000 --against strong-1@nodes=20000 --out runs/match
    python training/calibrate.py runs/match strong strong-1

Of each game the first position with 24, 22, 20 ... pieces is valued where no capture is due. A good
evaluation knows early how games end: its values correlate with the results, and it is not sure of
positions that are drawn. The reliability diagram tells whether values mean what they say: where the
value is +0.5, Black should score 75 %.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import track
from rich.table import Column, Table

from agents.registry import open_agent
from agents.search.workspace import MAX_DEPTH
from checkers_env.files import check_output, write_atomically
from training.league.records import LEAGUE_FILE, load_league
from training.report.calibration import (
    SURE,
    PieceRow,
    ValuedPosition,
    piece_rows,
    plot_reliability,
    reliability,
    value_positions,
)
from training.runtime.cli import read_options, run_command
from training.runtime.validation import Range, validate_ranges

CAPTION = (
    "correlation: of the values with the results\n"
    f"sure: share of the drawn games with a value of {SURE} or more for one side\n"
    "turned: decided games in which this is the last position whose value does not say who wins"
)


@dataclass(frozen=True)
class CalibrationConfig:
    """Options of the command line."""

    league: tyro.conf.Positional[Path]
    """Folder of a finished benchmark."""
    agents: tyro.conf.Positional[tuple[str, ...]]
    """Agents that value the positions; players that search by plies."""
    depth: Annotated[int, Range(1, MAX_DEPTH)] = 8
    """Plies of the searches."""
    plot: Path | None = None
    """Write the reliability diagram to this SVG file."""

    def __post_init__(self) -> None:
        validate_ranges(self)
        if not self.agents:
            raise ValueError("name one agent or more, whose values are compared with the results")


def main() -> int:
    """Run the command line; return the exit status."""
    return run_command(calibrate)


def calibrate(arguments: Sequence[str], console: Console) -> None:
    """Read the command line, value the positions and print the tables."""
    config = read_options(CalibrationConfig, arguments, "python training/calibrate.py", __doc__)
    if config.plot:
        check_output("--plot", config.plot)
    games = load_league(config.league / LEAGUE_FILE).games
    valued: dict[str, list[ValuedPosition]] = {}
    for name in config.agents:
        with open_agent(name) as agent:
            found = track(
                value_positions(agent, games, config.depth),
                name,
                len(games),
                console=console,
                transient=True,
            )
            valued[name] = [it for several in found for it in several]
    for name, positions in valued.items():
        Console().print(to_table(name, piece_rows(positions)))
    if config.plot:
        diagrams = {name: reliability(positions) for name, positions in valued.items()}
        write_atomically(config.plot, plot_reliability(diagrams))


def to_table(name: str, rows: Sequence[PieceRow]) -> Table:
    """Return an agent's rows as a table for the terminal."""
    headings = "pieces", "games", "correlation", "95 %", "drawn", "sure", "turned"
    columns = (Column(it, justify="right") for it in headings)
    table = Table(*columns, title=name, box=SIMPLE, caption=CAPTION, caption_justify="left")
    for row in rows:
        table.add_row(
            str(row.pieces),
            str(row.games),
            f"{row.correlation:.2f}",
            f"[{row.low:.2f}, {row.high:.2f}]".replace("[", r"\["),
            str(row.drawn),
            f"{row.sure / row.drawn:.0%}" if row.drawn else "",
            str(row.turned),
        )
    return table


if __name__ == "__main__":
    sys.exit(main())
