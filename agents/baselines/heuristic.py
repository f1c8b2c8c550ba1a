"""Players that do not look ahead: the random one, and the heuristic of the performance curve.

The hand-made heuristic "capitalizes on obvious opportunities to move its pieces forward and jump
opponent pieces" (Skycak, Reimplementing Blondie24). Here it prefers, in this order: the capture
that wins most, a king counting 1.5 men; a move that crowns a man; a move that advances a man.
Ties are broken at random.
"""

from __future__ import annotations

from typing import NamedTuple

from agents.player import always, is_stochastic, select_move
from checkers_env.bits import popcount
from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import KINGS, PACKED_MOVE, Position, own_and_opponent


class RandomPlayer(NamedTuple):
    """Player that chooses any legal move with equal probability."""

    unused: int = 0  # compiled code has no empty tuples


class Heuristic(NamedTuple):
    """Player that scores single moves; scores are in men."""

    king: float = 1.5
    crowning: float = 0.4
    advance: float = 0.05


is_stochastic.register(RandomPlayer)(always)
is_stochastic.register(Heuristic)(always)


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


@select_move.register(Heuristic)
def choose_by_heuristic(
    player: Heuristic,
    position: Position,
    ws: KernelArg,
    count: int,
    tt_namespace: int,
    rng: KernelArg,
) -> int:
    best, equals, path = -1.0, 0, 0
    for row in range(count):
        score = move_score(player, position, ws.rows[row])
        if score > best:
            best, equals = score, 0
        if score == best:
            equals += 1
            if rng.integers(0, equals) == 0:
                path = ws.rows[row, PACKED_MOVE]
    return path


@kernel
def move_score(player: Heuristic, position: Position, row: KernelArg) -> float:
    """Return the score of the move to `row` in men: 0 for a king's move that captures nothing."""
    side = position.turn
    own, opponent = own_and_opponent(position.black, position.white, side)
    captured = opponent & ~row[1 - side]
    kings = popcount(captured & position.kings)
    score = popcount(captured) - kings + kings * player.king
    men, men_after = own & ~position.kings, row[side] & ~row[KINGS]
    if popcount(men_after) < popcount(men):
        score += player.crowning
    if men_after != men:
        score += player.advance
    return score
