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

    Rows 0 to `count` of `ws` hold the successors of `position`; the player may change their order.
    `tt_namespace` is the number of this player and side in the transposition table. Stochastic
    players alone sample `rng`. Return the packed move of one of the successors.
    """
    raise NotImplementedError("this player has no implementation of agents.player.select_move")


@generic
def is_stochastic(player: KernelArg) -> bool:
    """Return whether the player samples its generator."""
    return False


def always(player: KernelArg) -> bool:
    """Return True: an implementation of :func:`is_stochastic` for players that use chance."""
    return True


@generic
def uses_history(player: KernelArg) -> bool:
    """Return whether moves depend on earlier positions, which the workspace must then hold."""
    return False
