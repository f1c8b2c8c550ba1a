"""Measure the main speeds, each beside a yardstick measured in the same run.

    python -m training.bench [--quick] [--json FILE]
    python -m training.bench --compare REVISION [--pairs N] [--quick]

All figures are for one CPU-second of this process: the best of a few repeats, with kernels compiled
beforehand. OpenSpiel (open_spiel) is a yardstick where it is installed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from checkers_env.files import check_output, write_atomically
from training.bench.revisions import compare
from training.bench.speeds import PARTS, Measurement
from training.runtime.cli import read_options, run_command
from training.runtime.machine import processor
from training.runtime.validation import NoEffectWith

REPEATS, FEW_REPEATS = 9, 3


@dataclass(frozen=True)
class BenchConfig:
    """Options of the command line."""

    quick: bool = False
    """Less of everything: half a minute instead of two."""
    json: Path | None = None
    """Write the figures to this file too."""
    compare: str | None = None
    """A git revision: measure it and this tree in turns, and report the ratios."""
    pairs: Annotated[int, NoEffectWith(compare=(None, ""))] = 5
    """Measurements of each with --compare."""


def main() -> int:
    """Run the command line; return the exit status."""
    return run_command(bench)


def bench(arguments: Sequence[str], console: Console) -> None:
    """Read the command line, measure or compare, and print or write the figures."""
    settings = read_options(BenchConfig, arguments, "python -m training.bench", __doc__)
    if settings.json:
        check_output("--json", settings.json)
    content: dict[str, Any] = {"processor": processor(), "quick": settings.quick}
    if settings.compare is not None:
        ratios = compare(settings.compare, settings.pairs, settings.quick, console)
        shown = Table("speed", f"this tree / {settings.compare}", "95 % interval")
        for name, ratio in ratios.items():
            shown.add_row(name, f"{ratio.mean:.3f}", f"{ratio.low:.3f} to {ratio.high:.3f}")
        content |= {"revision": settings.compare, "pairs": settings.pairs}
        content["ratios"] = {name: ratio._asdict() for name, ratio in ratios.items()}
    else:
        repeats = FEW_REPEATS if settings.quick else REPEATS
        turns = track(PARTS, "measuring", console=console, transient=True)
        rows = [row for part in turns for row in part(repeats)]
        shown = table(rows)
        content["rows"] = [row._asdict() | {"ratio": row.ratio} for row in rows]
    output = Console(highlight=False)
    if not output.is_terminal:
        output.width = 120  # lines of a file are not folded
    output.print(shown)
    if settings.json:
        write_atomically(settings.json, json.dumps(content, indent=2).encode())


def table(rows: Sequence[Measurement]) -> Table:
    """Return the table of figures; a second is a CPU-second."""
    shown = Table("speed", "measured", "yardstick", "its figure", "ratio")
    for column in (1, 3, 4):
        shown.columns[column].justify = "right"
    for row in rows:
        figures = map(_number, (row.yardstick_value, row.ratio))
        shown.add_row(row.name, f"{_number(row.value)} {row.unit}", row.yardstick, *figures)
    return shown


def _number(value: float | None) -> str:
    """Format a number with a few digits and k or M."""
    if value is None:
        return ""
    if value >= 1e6:
        return f"{value / 1e6:,.4g} M"
    return f"{value / 1e3:.4g} k" if value >= 1e4 else f"{value:.3g}"


if __name__ == "__main__":
    sys.exit(main())
