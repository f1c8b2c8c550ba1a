"""Limits of a move's cost: plies, simulations, positions and time."""

from __future__ import annotations

import math
from typing import NamedTuple

from agents.search.workspace import MAX_DEPTH, UNLIMITED


class Limits(NamedTuple):
    """Limits of a move's cost; None is no limit."""

    depth: int | None = None  # plies
    simulations: int | None = None  # of a Monte Carlo player
    seconds: float | None = None  # infinite for a search that goes on until it is stopped
    # Seconds that a move should take. A search by plies then starts no depth that it is unlikely
    # to complete in time, unless the last depth changed the move.
    share: float | None = None
    nodes: int | None = None  # positions that a selective search visits

    def check(self) -> Limits:
        """Return these limits. Raise ValueError if one is out of range."""
        most = {"depth": MAX_DEPTH, "simulations": UNLIMITED, "nodes": UNLIMITED}
        counts = {name: getattr(self, name) for name in most}
        for name, count in counts.items():
            if count is not None and not (type(count) is int and 1 <= count <= most[name]):
                raise ValueError(
                    f"{name} must be a whole number from 1 to {most[name]}, not {count!r}"
                )
        seconds = self.seconds
        if seconds is not None and not (type(seconds) in (int, float) and seconds > 0):
            raise ValueError(f"seconds must be more than 0, not {seconds!r}")
        if seconds == math.inf and not any(counts.values()):
            raise ValueError(
                "seconds must be finite without depth, simulations or nodes: no move would end"
            )
        return self


def tighten(one: Limits, other: Limits) -> Limits:
    """Return the smaller of every two limits."""
    known = ([it for it in pair if it is not None] for pair in zip(one, other, strict=True))
    return Limits(*(min(pair, default=None) for pair in known))  # type: ignore[arg-type]
