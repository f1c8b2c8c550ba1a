"""Limits of a move's cost: plies, simulations, positions and time."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeVar

from agents.mcts.player import UNLIMITED
from agents.player import uses_history
from agents.search.selective import with_table
from agents.search.workspace import MAX_DEPTH

N = TypeVar("N", int, float)


class Limits(NamedTuple):
    """Limits of a move's cost; None is no limit.

    Attributes
    ----------
    depth
        Plies of the search.
    simulations
        Simulations of a Monte Carlo player.
    nodes
        Positions that a selective search visits.
    seconds
        Time; infinite for a search that goes on until it is stopped.
    share
        Seconds that a move should take. A search by plies then starts no depth that it is unlikely
        to complete in time, unless the last depth changed the move.
    """

    depth: int | None = None
    simulations: int | None = None
    seconds: float | None = None
    share: float | None = None
    nodes: int | None = None


def tighten(one: Limits, other: Limits) -> Limits:
    """Return the smaller of every two limits."""
    return Limits(*map(_least, one, other))  # type: ignore[arg-type]


def _least(*limits: N | None) -> N | None:
    return min((limit for limit in limits if limit is not None), default=None)


def check_limits(
    depth: int | None, simulations: int | None, seconds: float | None, nodes: int | None = None
) -> None:
    """Raise ValueError for limits of a move that are out of range.

    Parameters
    ----------
    depth
        Plies, 1 to MAX_DEPTH; None for no limit.
    simulations
        Playouts, 1 or more; None for no limit.
    seconds
        Time, above 0; None for no limit.
    nodes
        Positions, 1 or more; None for no limit.
    """
    counts = (("depth", depth, MAX_DEPTH), ("simulations", simulations, UNLIMITED))
    for name, count, most in (*counts, ("nodes", nodes, UNLIMITED)):
        if count is not None and not (type(count) is int and 1 <= count <= most):
            raise ValueError(f"{name} must be a whole number from 1 to {most}, not {count!r}")
    if seconds is not None and not (type(seconds) in (int, float) and seconds > 0):
        raise ValueError(f"seconds must be more than 0, not {seconds!r}")
    if seconds == math.inf and depth is simulations is nodes is None:
        raise ValueError(
            "seconds must be finite without depth, simulations or nodes: no move would end"
        )


def require_selective(agent: str, player: Any, options: str) -> None:
    """Raise ValueError for a player that does not search selectively.

    Parameters
    ----------
    agent
        Name of the player, for the error.
    player
        The player.
    options
        What it was given, for the error.
    """
    if not uses_history(player):
        raise ValueError(f"{agent!r} does not search selectively: it takes no {options}")


def with_nodes(agent: str, player: Any, nodes: int, depth: int | None = None) -> Any:
    """Return a selective player that visits about `nodes` positions a move, `depth` plies at most.

    Its transposition table suits that number. Raise ValueError for a player that does not search
    selectively.
    """
    require_selective(agent, player, "nodes")
    style = with_table(player.style._replace(nodes=nodes), nodes)
    return player._replace(style=style, depth=depth or MAX_DEPTH)


def node_limit(player: Any) -> int:
    """Return the number of positions after which a player's search ends; 0 for no limit."""
    limit: int = player.style.nodes if uses_history(player) else 0
    return limit
