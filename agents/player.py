"""The player protocol: generic functions that kernels dispatch on the type of a player."""

from __future__ import annotations

from functools import partial

from checkers_env.jit import KernelArg, generic
from checkers_env.movegen import Position


@partial(generic, inline=False)
def select_move(
    player: KernelArg,
    position: Position,
    ws: KernelArg,
    count: int,
    tt_namespace: int,
    rng: KernelArg,
) -> int:
    """Select a move; each class of players registers its own implementation.

    Parameters
    ----------
    player
        NamedTuple of the player, whose class decides on the implementation.
    position
        Position that has a move.
    ws
        Workspace whose rows 0 to `count` hold the successors of `position`. The player may change
        their order.
    count
        Number of successors.
    tt_namespace
        Number of this player and side in the workspace's transposition table.
    rng
        numpy Generator, sampled by stochastic players only.

    Returns
    -------
    The packed move of one of the successors.
    """
    raise NotImplementedError("this player has no implementation of agents.player.select_move")


@generic
def is_stochastic(player: KernelArg) -> bool:
    """Return whether the player samples its generator.

    Parameters
    ----------
    player
        NamedTuple of the player, as in :func:`select_move`.
    """
    return False


@generic
def uses_history(player: KernelArg) -> bool:
    """Return whether moves depend on earlier positions, which the workspace must then hold.

    Parameters
    ----------
    player
        NamedTuple of the player, as in :func:`select_move`.
    """
    return False
