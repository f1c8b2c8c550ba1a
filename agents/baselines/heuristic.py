"""The hand-made player of the performance curve.

It "capitalizes on obvious opportunities to move its pieces forward and jump opponent pieces" and
does not look ahead (Skycak, Reimplementing Blondie24). Here: the capture that wins most, a king
counting 1.5 men; of equal moves one that crowns a man; of equal ones one that advances a man; and
of equal ones any, by chance.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from agents.player import is_stochastic, select_move
from checkers_env.bits import popcount
from checkers_env.jit import kernel
from checkers_env.movegen import KINGS, PACKED_MOVE, Position


class Heuristic(NamedTuple):
    """What the hand-made player thinks of a move, in men."""

    king: float = 1.5
    crowning: float = 0.4
    advance: float = 0.05


@is_stochastic.register(Heuristic)
def breaks_ties(player: Heuristic) -> bool:
    return True


@select_move.register(Heuristic)
def choose_by_heuristic(
    player: Heuristic, position: Position, ws: Any, count: int, tt_namespace: int, rng: Any
) -> int:
    best, equals, path = -1.0, 0, 0
    for row in range(count):
        score = worth(player, position, ws.rows[row])
        if score > best:
            best, equals = score, 0
        if score == best:
            equals += 1
            if rng.integers(0, equals) == 0:
                path = ws.rows[row, PACKED_MOVE]
    return path


@kernel
def worth(player: Heuristic, position: Position, row: Any) -> float:
    """The worth of the move to the successor in `row`."""
    side = position.turn
    opponent = position.white if side == 0 else position.black
    own = position.black if side == 0 else position.white
    captured = opponent & ~row[1 - side]
    kings = popcount(captured & position.kings)
    score = popcount(captured) - kings + kings * player.king
    men, men_after = own & ~position.kings, row[side] & ~row[KINGS]
    if popcount(men_after) < popcount(men):
        score += player.crowning
    if men_after != men:
        score += player.advance
    return score
