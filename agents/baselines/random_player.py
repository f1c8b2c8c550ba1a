"""Random player."""

from __future__ import annotations

from typing import NamedTuple

from agents.player import always, is_stochastic, select_move
from checkers_env.jit import KernelArg
from checkers_env.movegen import PACKED_MOVE, Position


class RandomPlayer(NamedTuple):
    """Player that chooses any legal move with equal probability."""

    unused: int = 0  # compiled code has no empty tuples


is_stochastic.register(RandomPlayer)(always)


@select_move.register(RandomPlayer)
def choose_any(
    player: RandomPlayer,
    position: Position,
    ws: KernelArg,
    count: int,
    tt_namespace: int,
    rng: KernelArg,
) -> int:
    return ws.rows[rng.integers(0, count), PACKED_MOVE]
