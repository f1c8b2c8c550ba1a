"""The random player."""

from __future__ import annotations

from typing import Any, NamedTuple

from agents.player import is_stochastic, select_move
from checkers_env.movegen import PACKED_MOVE, Position


class Uniform(NamedTuple):
    """Plays any legal move with equal chances."""

    unused: int = 0  # compiled code has no empty tuples


@is_stochastic.register(Uniform)
def always(player: Uniform) -> bool:
    return True


@select_move.register(Uniform)
def choose_any(
    player: Uniform, position: Position, ws: Any, count: int, tt_namespace: int, rng: Any
) -> int:
    return ws.rows[rng.integers(0, count), PACKED_MOVE]
