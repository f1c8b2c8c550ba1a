"""The anchor of a rating scale: the player whose rating is given."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from agents.agent_spec import AgentSpec
from training.league.records import Entrant

ZERO = "material@depth=4"  # is 0 wherever it plays: scales of different leagues can be compared

LARGEST_ELO = 100_000  # by which a given rating may differ from 0


class Anchor(NamedTuple):
    """An entrant by its name in tables, and its rating."""

    name: str
    elo: float


def find_anchor(entrants: Sequence[Entrant], text: str = "") -> Anchor | None:
    """Return the anchor of a league.

    Parameters
    ----------
    entrants
        Entrants of the league.
    text
        ``NAME=ELO``: NAME is an entrant as in the tables or as on the command line. Without text,
        the piece counter at 4 plies is 0; if it does not play, there is no anchor.

    Raises
    ------
    ValueError
        For other text, and for a name that no single entrant has.
    """
    if not text:
        found = _named(entrants, ZERO)
        return Anchor(found[0].name, 0.0) if len(found) == 1 else None
    name, _, number = text.rpartition("=")
    try:
        elo = float(number)
    except ValueError:
        elo = math.nan
    if not (name and abs(elo) <= LARGEST_ELO):
        raise ValueError(
            f"an anchor is NAME=ELO, such as blondie24=1000, with at most {LARGEST_ELO:,} points, "
            f"not {text!r}"
        )
    found = _named(entrants, name)
    if len(found) != 1:
        names = ", ".join(entrant.name for entrant in entrants)
        raise ValueError(f"no single player is named {name!r}: the players are {names}")
    return Anchor(found[0].name, elo)


def _named(entrants: Sequence[Entrant], text: str) -> list[Entrant]:
    """Return the entrants with this name or this text; else those of this agent."""
    exact = [entrant for entrant in entrants if text in (entrant.name, _text(entrant))]
    return exact or [entrant for entrant in entrants if entrant.agent == text]


def _text(entrant: Entrant) -> str:
    spec = AgentSpec.from_name(entrant.agent)
    return str(AgentSpec(spec.name, spec.kind, spec.target, entrant.options))


def describe_scale(anchor: Anchor | None) -> str:
    """Return what 0 means, as a sentence."""
    if anchor is None:
        return "0 Elo is the mean of these players: compare no ratings of different leagues."
    if not anchor.elo:
        return f"0 Elo is {anchor.name}."
    return f"The scale is fixed by {anchor.name}: {anchor.elo:+g} Elo."
