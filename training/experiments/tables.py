"""Tables of the papers, and our own: rows of ``data/tables.tsv`` and ``data/rows.tsv``."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.experiments.jobs import (
    AS_THE_THESIS,
    PLAYERS,
    VALIDATION_SEED,
    Conditions,
    Player,
)
from training.experiments.measures import MEASURES, Measure
from training.trainer.presets import ABLATIONS

DATA = Path(__file__).parent / "data"
REST = "rest"  # all other players of a table


@dataclass(frozen=True)
class Row:
    """Row of a table."""

    first: Player
    others: tuple[Player, ...] = ()  # empty for a row about the player's training run
    theirs: tuple[str, ...] = ()  # figures that the paper prints


@dataclass(frozen=True)
class Table:
    """A table of a paper: an experiment."""

    name: str
    title: str
    measure: Measure
    rows: tuple[Row, ...]
    conditions: Conditions = AS_THE_THESIS
    note: str = ""  # differences from the paper, other than the number of runs


def read_tsv(name: str) -> list[dict[str, str]]:
    """Read a file of the data; the first line has the names of the columns."""
    with (DATA / f"{name}.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def read_settings(words: Iterable[str]) -> dict[str, Any]:
    """Read settings such as ``depth=6 tie=chance unsaturated=true``."""
    pairs = (word.partition("=") for word in words)
    return {name: int(it) if it.isdigit() else it == "true" or it for name, _, it in pairs}


def read_player(text: str) -> Player:
    """Read a player: its name, then settings. Raise ValueError for an unknown setting."""
    name, *settings = text.split()
    try:
        return Player(name, **read_settings(settings))
    except TypeError:
        known = ", ".join(Player.__dataclass_fields__)
        raise ValueError(f"{text!r} is no player: NAME SETTING=VALUE with {known}") from None


def row(first: str, against: str = "", theirs: str = "") -> Row:
    """Read a row: a player, opponents separated by `` + ``, and the paper's figures by commas."""
    others = tuple(map(read_player, against.split(" + "))) if against else ()
    return Row(read_player(first), others, tuple(theirs.split(", ")) if theirs else ())


def read_rows(lines: Iterable[tuple[str, str, str]]) -> tuple[Row, ...]:
    """Read the rows of a table, in which ``rest`` stands for all its other players."""
    lines = list(lines)
    players = dict.fromkeys(first for first, _, _ in lines)
    rests = {first: " + ".join(it for it in players if it != first) for first in players}
    return tuple(
        row(first, rests[first] if against == REST else against, theirs)
        for first, against, theirs in lines
    )


DAYS = {  # Al-Khateeb 2011, 3.2 and 6.12: for these all 19 days, for temporal differences two
    **dict.fromkeys(("c0", "blondie24-rr", "c10", "c10-rr"), "19 days"),
    **dict.fromkeys(("c5-n0.001", "c1-n0.001"), "2 days"),
}
STRONG = Player("strong", seed=20261129)  # there is one run
READINGS = ("c5-tuple-sum", "c1-tuple-sum", "c1-n0.001-1ply", "c1-n0.001-4ply")
BEST_ABLATIONS = ("learns", "learns-squares")
VALIDATION_PANEL = (
    Player("material"),
    *(Player(name, seed=VALIDATION_SEED) for name in ("c5-n0.001", "c5-leaf", "samuel")),
)


def _training_rows() -> Iterator[Row]:
    """Yield a row for the training of each player."""
    for name in PLAYERS:
        seed = STRONG.seed if name == STRONG.name else None
        yield Row(Player(name, seed=seed), (), (DAYS[name],) if name in DAYS else ())


def _validation_rows() -> Iterator[Row]:
    """Yield a row for each player of the zoo that keeps weights: other readings are left out."""
    for name in PLAYERS:
        left_out = name in ABLATIONS and name not in BEST_ABLATIONS
        if not left_out and name not in (*READINGS, STRONG.name):
            yield Row(Player(name), VALIDATION_PANEL)


def _read_tables() -> Iterator[Table]:
    rows = defaultdict(list)
    for line in read_tsv("rows"):
        rows[line["table"]].append((line["player"], line["against"], line["theirs"]))
    for line in read_tsv("tables"):
        yield Table(
            line["table"],
            line["title"],
            MEASURES[line["measure"]],
            read_rows(rows[line["table"]]) or tuple(OF_ALL_PLAYERS[line["table"]]()),
            Conditions(**read_settings(line["conditions"].split())),
            line["note"],
        )


OF_ALL_PLAYERS = {"training": _training_rows, "validation": _validation_rows}
EXPERIMENTS = {table.name: table for table in _read_tables()}
