"""Simulated play: random moves, some of them obvious ones, to the end of the game or a cut.

"The random simulation of games are skewed such that more reasonable moves are chosen" (Nguyen,
III.B): here a move is, with a given probability, the one that the hand-made heuristic prefers.
"""

from __future__ import annotations

from typing import Any

from agents.baselines.heuristic import Heuristic, move_score
from agents.evaluator import evaluate, start_state, state_size
from checkers_env.bits import popcount
from checkers_env.jit import kernel
from checkers_env.movegen import (
    BLACK,
    BOARD,
    KING_ROWS,
    Position,
    can_jump,
    count_steps,
    direction,
    first_piece,
    generate_captures,
    generate_successors,
    has_move,
    own_and_opponent,
    shift,
    successor,
)

OBVIOUS = Heuristic()
CARRY_MULTIPLIER = 698769069  # of Marsaglia's KISS (1999); the period is about 2^60
SEEDS = CARRY_MULTIPLIER << 32  # a generator's state is one number from 1 to below this
_ONE = 1 << 30


@kernel
def draw(chance: Any, bound: int) -> int:
    """A random number from 0 to below `bound` (at most 2^30).

    `chance` is int64[1], the state of a multiply-with-carry generator: several times faster than
    numpy's, and never negative, so that it draws the same in plain Python.
    """
    low = chance[0] & 0xFFFFFFFF
    chance[0] = CARRY_MULTIPLIER * low + (chance[0] >> 32)
    return low * bound >> 32


@kernel
def after_step(position: Position, index: int) -> Position:
    """What simple move number `index`, in the order of rules.write_moves, leads to."""
    side, kings = position.turn, position.kings
    own = position.black if side == BLACK else position.white
    empty = BOARD & ~(position.black | position.white)
    turn, pieces, step = 0, 0, 0
    while True:
        step = direction(turn, side)
        pieces = (own if turn < 2 else own & kings) & shift(empty, -step)
        count = popcount(pieces)
        if index < count:
            break
        index -= count
        turn += 1
    for _ in range(index):
        pieces ^= 1 << first_piece(pieces, side)
    piece = 1 << first_piece(pieces, side)
    moved = piece | shift(piece, step)
    kings ^= moved if kings & piece else moved & KING_ROWS[side]
    if side == BLACK:
        return Position(position.black ^ moved, position.white, kings, 1 - side)
    return Position(position.black, position.white ^ moved, kings, 1 - side)


@kernel
def after_random_move(position: Position, rows: Any, at: int, chance: Any) -> Position:
    """What one of the legal moves leads to, each equally likely; the same position if none.

    Rows from `at` on are scratch space.
    """
    side, kings = position.turn, position.kings
    black, white = position.black, position.white
    own, opponent = own_and_opponent(black, white, side)
    if can_jump(own, opponent, kings, side):
        end = generate_captures(rows, at, own, opponent, kings, side)
        return successor(rows[at + draw(chance, end - at)], side)
    count = count_steps(own, opponent, kings, side)
    return after_step(position, draw(chance, count)) if count else position


@kernel
def after_obvious_move(position: Position, rows: Any, at: int, chance: Any) -> Position:
    """What one of the heuristic's favourites leads to; the same position if there is no move."""
    black, white, kings, side = position
    end = generate_successors(rows, at, black, white, kings, side)
    best, equals, chosen = -1.0, 0, at
    for row in range(at, end):
        score = move_score(OBVIOUS, position, rows[row])
        if score > best:
            best, equals = score, 0
        if score == best:
            equals += 1
            if draw(chance, equals) == 0:
                chosen = row
    return successor(rows[chosen], side) if end > at else position


@kernel
def playout(
    player: Any, position: Position, root: int, limit: int, ws: Any, at: int, chance: Any
) -> float:
    """The result of a simulated game for side `root`, between -1 and +1.

    Parameters
    ----------
    player
        A MonteCarlo.
    limit
        The game is a draw after this many plies.
    at
        Rows of the workspace from here on are scratch space.
    """
    cut = 0 < player.cut <= limit
    for _ in range(player.cut if cut else limit):
        if player.skew > 0 and draw(chance, _ONE) < player.skew * _ONE:
            after = after_obvious_move(position, ws.rows, at, chance)
        else:
            after = after_random_move(position, ws.rows, at, chance)
        if after.turn == position.turn:
            break
        position = after
    if not has_move(position):
        return -1.0 if position.turn == root else 1.0
    return judge(player, position, root, ws) if cut else 0.0


@kernel
def judge(player: Any, position: Position, root: int, ws: Any) -> float:
    """What the evaluator thinks of a position, from -1 to +1 for side `root`."""
    view = root if player.own_leaves else position.turn
    state = ws.states[0, view, : state_size(player.evaluator)]
    start_state(player.evaluator, position, view, state)
    value = float(evaluate(player.evaluator, position, view, state, ws.scratch))
    return value if view == root else -value
