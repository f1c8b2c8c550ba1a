"""How a player chooses a move, in kernels: one generic function."""

from __future__ import annotations

from functools import partial
from typing import Any

from checkers_env.jit import generic
from checkers_env.movegen import Position


@partial(generic, inline=False)
def choose(player: Any, position: Position, ws: Any, count: int, owner: int, rng: Any) -> int:
    """The path of the move to play, out of the successors of `position` in rows 0 to `count`.

    Parameters
    ----------
    ws
        A Workspace. Its rows may be put into another order.
    owner
        A number that stands for this player and side in the workspace's table.
    rng
        numpy Generator, drawn from by players that use chance, and by no others.
    """
    raise NotImplementedError("this player has no implementation of agents.player.choose")


@generic
def uses_chance(player: Any) -> bool:
    """Whether the player draws from the generator it is given."""
    return False


@generic
def looks_back(player: Any) -> bool:
    """Whether a choice depends on the positions before, which the workspace then must be told."""
    return False
