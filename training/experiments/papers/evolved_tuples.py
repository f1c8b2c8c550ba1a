"""Evolved n-tuples as the thesis describes them (6.3, 6.5), by reading; TD at equal depth.

Section 6.2 adds the piece difference and passes the sum through tanh, "for convenient training with
error back-propagation". Algorithms 6.1 and 6.2 have no back-propagation, and only sum the entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from training.experiments.jobs import Player
from training.experiments.papers.thesis_ch6 import FOUR
from training.experiments.results import TrainingResult
from training.experiments.tables import RESULTS, SCORE, Measure, Row, Table, interval, row
from training.trainer.presets import PRESETS

PLAIN = {5: "c5-tuple-sum", 1: "c1-tuple-sum"}
"""The thesis's players as a sum with the piece difference of section 6.2, without tanh."""
TANH = {5: "c5-tuple", 1: "c1-tuple"}
HALF = PRESETS[PLAIN[5]].generations // 2
SMALL_START = 0.2  # the papers' networks begin so: uniform in [-0.2, 0.2]
SIGMAS = (1.0, 0.1, 0.01)


def cell(size: int, output: str, difference: bool, start: float, sigma: float) -> str:
    """Return the name of a player of the grid, whose first entries are in [-start, start]."""
    changes = {
        "piece_difference=false": not difference,
        f"weight={start}": start > 0,
        f"step_size={sigma}": sigma != 1,
    }
    changed = ",".join(text for text, applies in changes.items() if applies)
    name = (PLAIN if output == "sum" else TANH)[size]
    return f"{name}@{changed}" if changed else name


def _against_start(run: TrainingResult) -> list[float]:
    """Return the columns of START_MEASURE."""
    start, material = run.start, run.curves["curve/material"]
    if not start:
        return [float("nan")] * 5
    won, drawn, lost = start["games"]
    parents = start["untouched_parents"]
    known = material[~np.isnan(material)]
    return [
        100 * start["untouched"],
        100 * float(np.mean([share == 1 for share in parents])) if parents else float("nan"),
        100 * (won + drawn / 2) / (won + drawn + lost),
        float(known[0]),
        float(known[-1]),
    ]


def _shown(values: Sequence[float]) -> str:
    """Format the figures of the seeds that have one."""
    known = [value for value in values if not np.isnan(value)]
    return interval(known) if known else ""


START_MEASURE = Measure(
    (
        "entries of the champion untouched, %",
        "parents untouched, %",
        "score against generation 0, %",
        "payoff against the piece counter at 1 ply, at first",
        "at the end",
    ),
    _against_start,
    _shown,
)


def _grid(size: int) -> tuple[Player, ...]:
    """Return the players of the grid, the plain reading first."""
    cells = product((0.0, SMALL_START), SIGMAS, ("sum", "tanh"), (True, False))
    return tuple(
        Player(cell(size, output, difference, start, sigma), generations=HALF)
        for start, sigma, output, difference in cells
    )


_CELLS = {size: _grid(size) for size in PLAIN}
GRID = frozenset(player for players in _CELLS.values() for player in players)
TD_PLAYERS = tuple(f"{it}-n0.001{plies}" for it in ("c5", "c1") for plies in ("", "-1ply", "-4ply"))
"""Players by temporal differences, trained at 0, 1 and 4 plies."""

TIMES = (1, 2, 4, 8, 16, 32, 64)  # generations of 1,000 games, before all 126
TABLES = (
    Table(
        "evolved-tuples-start",
        "the thesis's evolved n-tuples against the start of their training, whole runs",
        START_MEASURE,
        tuple(row(name, ()) for name in (*PLAIN.values(), *TANH.values())),
        note="If the champion is its own start, evolution as described does not move these tables.",
    ),
    *(
        Table(
            f"evolved-{size}-tuples",
            f"evolved {size}-tuples by reading of the thesis, after {HALF} generations",
            START_MEASURE,
            tuple(Row(player, (), ()) for player in players),
            note="Not in the thesis. The sum with the piece difference, a start at zero and "
            "mutations by N(0, 1) are its plain reading. Parents are the 15 survivors. `weight` is "
            f"a random start, uniform in [-{SMALL_START}, {SMALL_START}] as that of the networks.",
        )
        for size, players in _CELLS.items()
    ),
    Table(
        "evolved-tuples-plain",
        "C0, Blondie24-RR, C10 and C10-RR against evolved n-tuples without tanh",
        RESULTS,
        tuple(row(other, name) for name in PLAIN.values() for other in FOUR),
        note="Tables 6.2 and 6.5 by the plain reading of Algorithms 6.1 and 6.2.",
    ),
    Table(
        "td-depth",
        "temporal differences trained at 0, 1 and 4 plies against C0, Blondie24-RR, C10 and "
        "C10-RR, which are trained at 4 plies; all play at 6",
        RESULTS,
        tuple(row(name, other) for name in TD_PLAYERS for other in FOUR),
        note="The thesis's two days (18 ms a move) suggest that it trained at 4 plies; chapter 7 "
        "names 1 and 4.",
    ),
    Table(
        "td-time",
        "C5-N0.001 after 1,000 to 126,000 games against C0, both at 6 plies",
        SCORE,
        tuple(
            row(player, "c0")
            for player in (Player("c5-n0.001", generations=it) for it in (*TIMES, None))
        ),
        note="Equal strength is a score of 50 %: the games it takes say how much faster temporal "
        "differences are.",
    ),
)
