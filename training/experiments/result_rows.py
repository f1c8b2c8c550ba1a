"""Lines of runs.jsonl and matches.jsonl: fields, checks, sort keys and number formats."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from training.experiments.jobs import Match
from training.experiments.json_lines import Row, check_fields

RUN_FIELDS = {
    "preset": str,
    "generations": int,
    "seed": int,
    "regime": dict,
    "point_every": int,
    "results_version": dict,
    "champions": list,
    "points": list,
    "curves": dict,
    "pool": dict,
    "origin": dict,
}
MATCH_FIELDS = {
    "first": dict,
    "second": dict,
    "conditions": dict,
    "seed": int,
    "cards": list,
    "results_version": dict,
    "champions": list,
    "results": str,
    "differences": list,
    "plies": list,
    "reasons": dict,
    "played_out": str,
    "moves": str,
    "origin": dict,
}


def check_run(row: Row) -> None:
    """Raise ValueError if the line of a run is inconsistent."""
    check_fields(row, RUN_FIELDS)
    if any(len(line) != len(row["points"]) for line in row["curves"].values()):
        raise ValueError(f"its curves do not all have {len(row['points'])} points")


def check_match(row: Row) -> None:
    """Raise ValueError if the line of a match is inconsistent."""
    check_fields(row, MATCH_FIELDS)
    games = 2 * len(row["cards"])
    played_out = row["played_out"] or row["results"]
    counts = {len(row[name]) for name in ("results", "differences", "plies")} | {len(played_out)}
    if counts != {games} or sum(row["reasons"].values()) != games:
        raise ValueError(f"its columns do not all have {games} games, two for each card")
    if not set(row["results"] + played_out) <= set("WDL"):
        raise ValueError("its results have letters other than W, D and L")


def match_fields(match: Match) -> Row:
    """Return the fields of a match's line that come from its configuration."""
    return {
        "first": match.first.settings,
        "second": match.second.settings,
        "conditions": match.conditions.row,
        "seed": match.seed,
        "cards": list(match.cards),
        "results_version": match.results_version,
    }


def run_order(row: Row) -> tuple[Any, ...]:
    """Return the sort key of a run's line, and of its line in ``starts.jsonl``."""
    return row["preset"], row["generations"], row["seed"]


def match_order(row: Row) -> tuple[Any, ...]:
    """Return the sort key of a match's line."""
    rest = json.dumps([row[name] for name in ("first", "second", "conditions")], sort_keys=True)
    return row["first"]["name"], row["second"]["name"], row["seed"], rest


def to_json(line: NDArray[np.float32]) -> list[float | None]:
    """Return the shortest decimals that give these numbers back, shape (n,); None for nan."""
    return [None if np.isnan(value) else float(str(value)) for value in line]


def from_json(line: Sequence[float | None]) -> NDArray[np.float32]:
    """Return the numbers of :func:`to_json` as an array, shape (n,)."""
    return np.array([np.nan if value is None else value for value in line], np.float32)
