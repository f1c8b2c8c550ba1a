"""Claims: the matches or runs that measure one, its effect, and the paper's own figure."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np

from training.experiments.effects import Effect, advantage, growth, order, rating_difference
from training.experiments.inference import Interval, match_interval
from training.experiments.jobs import AS_THE_THESIS, Conditions, Player
from training.experiments.plan import EXPERIMENTS
from training.experiments.tables import (
    BY_MATERIAL,
    DRAWS,
    LOSSES,
    RESULTS,
    WINS,
    Row,
    Table,
    row,
)
from training.league.records import WinDrawLoss
from training.rating.elo import elo_difference

MARGIN = 3.0  # % of the points: some 20 rating points
POINTS_ABOVE_HALF, PERCENT = "score - 50 %", "% of the points"
TIMES = "times"  # effects are decimal logarithms of factors
UNITS_OF_POINTS = (POINTS_ABOVE_HALF, PERCENT)  # that MARGIN belongs to
OWN = "ours"

Kind = Literal["more", "equal"]
Pair = tuple[Player, Player, Conditions]
COUNTS = {WINS: 0, DRAWS: 1, LOSSES: 2}


@dataclass(frozen=True)
class Claim:
    """A conclusion of a paper."""

    name: str  # in pictures
    says: str
    source: str
    rows: tuple[Row, ...]
    effect: Effect = advantage
    unit: str = POINTS_ABOVE_HALF
    kind: Kind = "more"  # the effect is above 0; "equal": within MARGIN of 0
    conditions: Conditions = AS_THE_THESIS
    family: str = ""  # claims that are corrected together for their number
    theirs: Interval | None = None  # where it does not follow from a printed match
    tables: tuple[str, ...] = ()  # where no table has its matches
    untested: str = ""  # why our players are no evidence

    @property
    def margin(self) -> float:
        """Margin of equality; 0 where the unit is not that of points."""
        return MARGIN if self.unit in UNITS_OF_POINTS else 0.0


def exactly(value: float) -> Interval:
    """Return a paper's figure that has no interval of its own."""
    return Interval(value, -math.inf, math.inf)


def in_family(family: str, claims: Iterable[Claim]) -> Iterator[Claim]:
    """Yield the claims with the name of their family."""
    for claim in claims:
        yield replace(claim, family=family)


def thesis(section: str) -> str:
    """Return the source of a claim of Al-Khateeb's thesis."""
    return f"Al-Khateeb 2011, {section}"


def beats(first: str, others: str | tuple[str, ...], says: str, source: str) -> Claim:
    """Return the claim that the first player scores above 50 % against the others."""
    against = others if isinstance(others, str) else ", ".join(others)
    return Claim(f"{first} > {against}", says, source, (row(first, others),))


def equals(first: str, other: str, says: str, source: str) -> Claim:
    """Return the claim that two players are equally good."""
    return Claim(f"{first} = {other}", says, source, (row(first, other),), kind="equal")


def ranks(name: str, says: str, source: str, players: Sequence[str]) -> Claim:
    """Return the claim that players, the weakest first, have this order in their league."""
    rows = tuple(
        row(player, tuple(other for other in players if other != player)) for player in players
    )
    theirs = exactly(1.0)
    return Claim(name, says, source, rows, order, "Kendall's tau", theirs=theirs)


def steps(players: Sequence[str]) -> tuple[Row, ...]:
    """Return a row for each player against the one trained a ply less deep."""
    return tuple(row(deep, flat) for flat, deep in pairwise(players))


def gains(name: str, says: str, first: str | Player, second: str | Player) -> Claim:
    """Return the claim that the second player beats the piece counter more clearly."""
    return Claim(
        name,
        f"Against the piece counter {says}.",
        OWN,
        (row(first, "material"), row(second, "material")),
        growth,
        PERCENT,
    )


def published_effect(claim: Claim) -> Interval | None:
    """Return the paper's own effect of a claim; None if its tables do not show it.

    The interval takes the games of a match as independent, and says nothing of other runs: the
    papers have one run of each player. It is infinite for a figure without games of its own.
    """
    if claim.theirs is not None:
        return claim.theirs
    matches = [printed_match(line, claim.conditions) for line in claim.rows]
    shares = [match_interval(*match) for match in matches if match is not None]
    if not shares or len(shares) < len(matches):
        return None
    if claim.effect is rating_difference:
        return Interval(*(float(elo_difference(share)) for share in shares[0]))
    if claim.effect is advantage:
        return weighted_sum(shares, [1 / len(shares)] * len(shares), -50.0)
    if claim.effect is growth:
        return weighted_sum((shares[0], shares[-1]), (-1.0, 1.0), 0.0)
    return None


def weighted_sum(shares: Sequence[Interval], weights: Sequence[float], shift: float) -> Interval:
    """Return a weighted sum of independent shares of the points, in %, with its interval."""
    mean = 100 * sum(w * share.mean for w, share in zip(weights, shares, strict=True)) + shift
    below, above = (
        100 * math.sqrt(sum((w * side) ** 2 for w, side in zip(weights, sides, strict=True)))
        for sides in (
            [share.mean - share.low for share in shares],
            [share.high - share.mean for share in shares],
        )
    )
    return Interval(mean, mean - below, mean + above)


def printed_match(line: Row, conditions: Conditions) -> WinDrawLoss | None:
    """Return the games that a paper prints of a row's match, from its first player's side."""
    if len(line.others) != 1:
        return None
    (other,) = line.others
    matches = printed_matches()
    if (pair := (line.first, other, conditions)) in matches:
        return matches[pair]
    if (pair := (other, line.first, conditions)) in matches:
        won, drawn, lost = matches[pair]
        return WinDrawLoss(lost, drawn, won)
    return None


@functools.cache
def printed_matches() -> Mapping[Pair, WinDrawLoss]:
    """Return all matches of the papers whose games won, drawn and lost are printed."""
    found: dict[Pair, list[int | None]] = {}
    for table in EXPERIMENTS.values():
        for line in table.rows:
            if len(line.others) != 1 or not line.theirs:
                continue
            counts = found.setdefault((line.first, line.others[0], table.conditions), [None] * 3)
            for place, value in _columns(table, line):
                counts[place] = value
    return {
        pair: WinDrawLoss(*(count for count in counts if count is not None))
        for pair, counts in found.items()
        if None not in counts
    }


def _columns(table: Table, line: Row) -> list[tuple[int, int]]:
    """Return the printed counts of a row: which of won, drawn, lost, and how many."""
    if table.measure in (RESULTS, BY_MATERIAL):
        return [(place, int(value)) for place, value in enumerate(line.theirs)]
    if table.measure in COUNTS:
        return [(COUNTS[table.measure], int(line.theirs[0]))]
    return []


def finite(interval: Interval | None) -> bool:
    """Return whether a figure has an interval of its own."""
    return interval is not None and bool(np.isfinite(interval[1:]).all())
