"""Claims: rows of ``data/claims.tsv``, each with the matches or runs that measure it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal

from training.experiments.effects import EFFECTS, MARGINS, TIMES, Effect
from training.experiments.inference import Interval, match_interval, student
from training.experiments.jobs import Conditions
from training.experiments.tables import EXPERIMENTS, Row, Table, read_rows, read_tsv
from training.rating.elo import elo_difference

OWN = "ours"


@dataclass(frozen=True)
class Claim:
    """A conclusion of a paper, or of ours."""

    family: str  # claims that are corrected together for their number
    name: str  # in pictures
    statement: str
    source: str
    rows: tuple[Row, ...]
    tables: tuple[Table, ...]  # tables that show the matches or runs
    effect: Effect
    kind: Literal["more", "equal"] = "more"  # above 0, or within the margin of 0
    seeds: tuple[int, ...] = ()  # whose champions all meet; empty for equal seeds only
    second_look: int = 0  # how many of them, the last ones, came after a first look
    theirs: Interval | None = None
    reading: str = ""  # what the paper leaves open
    untestable: str = ""  # why our players are no evidence

    @property
    def unit(self) -> str:
        """Unit of the effect."""
        return self.effect.unit

    @property
    def margin(self) -> float:
        """Margin of equality in the unit of the effect."""
        return MARGINS[self.unit]

    @property
    def conditions(self) -> Conditions:
        """Conditions of the matches."""
        return self.tables[0].conditions


def read_theirs(text: str, effect: Effect) -> Interval | None:
    """Read the paper's own effect: its matches (``47-26-13``), one figure, or several values.

    The interval takes the games of a match as independent, and says nothing of other runs: the
    papers have one run of each player. It is infinite for a figure without games of its own.
    """
    if not text:
        return None
    if re.fullmatch(r"(\d+-\d+-\d+ ?)+", text):
        shares = [match_interval(*map(int, match.split("-"))) for match in text.split()]
        if effect.unit == "rating points":
            return Interval(*(float(elo_difference(share)) for share in shares[0]))
        if len(shares) == 1:
            return Interval(*(100 * share - 50 for share in shares[0]))
        return difference(shares[0], shares[-1])
    values = [float(word) for word in text.split()]
    if len(values) > 1:
        return student(values)
    value = math.log10(values[0]) if effect.unit == TIMES else values[0]
    return Interval(value, -math.inf, math.inf)


def difference(first: Interval, last: Interval) -> Interval:
    """Return the last of two independent shares less the first, in %, with its interval."""
    mean = last.mean - first.mean
    below = math.hypot(last.mean - last.low, first.high - first.mean)
    above = math.hypot(last.high - last.mean, first.mean - first.low)
    return Interval(100 * mean, 100 * (mean - below), 100 * (mean + above))


def read_seeds(text: str) -> tuple[tuple[int, ...], int]:
    """Read seeds (``10`` from 0 on, ``10-19``, ``10+10``) and how many had a second look."""
    first, _, last = text.partition("-")
    looks = [int(number or 0) for number in first.split("+")]
    numbers = range(int(first), int(last) + 1) if last else range(sum(looks))
    return tuple(numbers), sum(looks[1:])


def _read_claims() -> tuple[Claim, ...]:
    claims = []
    for line in read_tsv("claims"):
        rows = (text.partition(" v ") for text in line["rows"].split("; "))
        effect = EFFECTS[line["effect"]]
        claims.append(
            Claim(
                line["family"],
                line["claim"],
                line["statement"],
                line["source"],
                read_rows((first, others, "") for first, _, others in rows),
                tuple(EXPERIMENTS[name] for name in line["tables"].split()),
                effect,
                "equal" if line["kind"] == "equal" else "more",
                *read_seeds(line["seeds"]),
                read_theirs(line["theirs"], effect),
                line["reading"],
                line["untestable"],
            )
        )
    return tuple(claims)


CLAIMS = _read_claims()
PAPER_CLAIMS = tuple(claim for claim in CLAIMS if claim.source != OWN)
OWN_CLAIMS = tuple(claim for claim in CLAIMS if claim.source == OWN)
