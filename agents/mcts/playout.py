"""Playouts: random moves to the end of the game, or to an early evaluation.

"The random simulation of games are skewed such that more reasonable moves are chosen" (Nguyen,
III.B). Here a move is, with a given probability, the best one of the hand-made heuristic.
"""

from __future__ import annotations

from agents.baselines.heuristic import Heuristic, move_score
from agents.evaluator import evaluate, start_state, state_size
from checkers_env.bits import popcount
from checkers_env.jit import KernelArg, kernel
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

HEURISTIC = Heuristic()
CARRY_MULTIPLIER = 698769069  # multiplier of Marsaglia's KISS (1999); the period is about 2^60
SEEDS = CARRY_MULTIPLIER << 32  # a generator's state is one number from 1 to below this
_ONE = 1 << 30


@kernel
def random_below(chance: KernelArg, bound: int) -> int:
    """Return a random number below a bound, 1 to 2^30, by a multiply-with-carry generator.

    It is several times faster than numpy's generator. Its state, int64[1], is never negative, so
    plain Python returns the same numbers.
    """
    low = chance[0] & 0xFFFFFFFF
    chance[0] = CARRY_MULTIPLIER * low + (chance[0] >> 32)
    return low * bound >> 32


@kernel
def apply_step(position: Position, index: int) -> Position:
    """Make step number `index`, in the order of ``checkers_env.movegen.generate_steps``."""
    side, kings = position.turn, position.kings
    own, opponent = own_and_opponent(position.black, position.white, side)
    empty = BOARD & ~(own | opponent)
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
def random_successor(position: Position, rows: KernelArg, at: int, chance: KernelArg) -> Position:
    """Make a random legal move, if there is one; rows from `at` on are scratch space."""
    side, kings = position.turn, position.kings
    black, white = position.black, position.white
    own, opponent = own_and_opponent(black, white, side)
    if can_jump(own, opponent, kings, side):
        end = generate_captures(rows, at, own, opponent, kings, side)
        return successor(rows[at + random_below(chance, end - at)], side)
    count = count_steps(own, opponent, kings, side)
    return apply_step(position, random_below(chance, count)) if count else position


@kernel
def heuristic_successor(
    position: Position, rows: KernelArg, at: int, chance: KernelArg
) -> Position:
    """Make a random one of the moves that the heuristic scores highest, if there is one."""
    black, white, kings, side = position
    end = generate_successors(rows, at, black, white, kings, side)
    best, equals, chosen = -1.0, 0, at
    for row in range(at, end):
        score = move_score(HEURISTIC, position, rows[row])
        if score > best:
            best, equals = score, 0
        if score == best:
            equals += 1
            if random_below(chance, equals) == 0:
                chosen = row
    return successor(rows[chosen], side) if end > at else position


@kernel
def playout(
    player: KernelArg,
    position: Position,
    root: int,
    limit: int,
    ws: KernelArg,
    at: int,
    chance: KernelArg,
) -> float:
    """Simulate a game from a position; return its result or evaluation for side `root`, -1 to +1.

    After `limit` plies the game is a draw. Rows of `ws` from `at` on are scratch space.
    """
    cut = 0 < player.cut <= limit
    for _ in range(player.cut if cut else limit):
        if player.skew > 0 and random_below(chance, _ONE) < player.skew * _ONE:
            after = heuristic_successor(position, ws.rows, at, chance)
        else:
            after = random_successor(position, ws.rows, at, chance)
        if after.turn == position.turn:
            break
        position = after
    if not has_move(position):
        return -1.0 if position.turn == root else 1.0
    return evaluate_playout(player, position, root, ws) if cut else 0.0


@kernel
def evaluate_playout(player: KernelArg, position: Position, root: int, ws: KernelArg) -> float:
    """Return the evaluation of the position where a playout is cut (Lorentz 2016; Nguyen III.B)."""
    view = root if player.root_perspective else position.turn
    state = ws.states[0, view, : state_size(player.evaluator)]
    start_state(player.evaluator, position, view, state)
    value = float(evaluate(player.evaluator, position, view, state, ws.scratch))
    return value if view == root else -value
