"""A few features of a position, weighed: the idea of Samuel's checkers player.

A. L. Samuel, Some studies in machine learning using the game of checkers, IBM Journal of Research
and Development 3(3), 1959, has a linear polynomial over 38 hand-made terms, and learns their
weights in play. These are a handful in the spirit of his; all are the viewer's side less the
other's, and the value is tanh of their weighted sum.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from agents.evaluator import (
    adjust,
    advance_state,
    evaluate,
    one_view,
    squashed,
    start_state,
    state_size,
    total,
)
from agents.weights import LARGEST_WEIGHT
from checkers_env.bits import popcount
from checkers_env.jit import kernel
from checkers_env.movegen import BLACK, BOARD, SQUARES, WHITE, Position, count_steps

FEATURES = (
    "men",  # men
    "kings",  # kings
    "advancement",  # rows that the men have advanced, 0 to 6 each
    "centre",  # pieces on the eight central squares
    "back row",  # men at home on the row where the other side crowns
    "mobility",  # simple moves there would be, jumps or not
    "threats",  # jumps there would be, were this side to move
    "turn",  # 1 for the side to move
)
_CENTRE = sum(1 << int(SQUARES[square - 1]) for square in (10, 11, 14, 15, 18, 19, 22, 23))
_ROWS = tuple(sum(1 << int(SQUARES[4 * row + column]) for column in range(4)) for row in range(8))


class Samuel(NamedTuple):
    """An evaluator; made by :func:`samuel` only."""

    weights: Any  # float64[8]: of FEATURES


def samuel(weights: Any = None) -> Samuel:
    """Make a weighted sum of features.

    Parameters
    ----------
    weights
        float64[8], in the order of FEATURES; used as they are, not copied, so that learning can
        write into them. By default zeros.

    Raises ValueError for others.
    """
    count = len(FEATURES)
    weights = np.zeros(count) if weights is None else np.require(weights, np.float64, ["C", "W"])
    if weights.shape != (count,) or not np.all(np.abs(weights) <= LARGEST_WEIGHT):
        raise ValueError(f"there are {count} weights, finite numbers: {', '.join(FEATURES)}")
    return Samuel(weights)


@kernel
def jumps_there(own: int, opponent: int, kings: int, side: int) -> int:
    """How many first jumps `side` would have."""
    empty = BOARD & ~(own | opponent)
    up = own if side == BLACK else own & kings
    down = own & kings if side == BLACK else own
    count = popcount(up & (opponent & empty >> 4) >> 4) + popcount(
        up & (opponent & empty >> 5) >> 5
    )
    count += popcount(down & (opponent & empty << 4) << 4)
    return count + popcount(down & (opponent & empty << 5) << 5)


@kernel
def advanced(men: int, side: int) -> int:
    """How many rows the men of `side` have advanced altogether."""
    rows = 0
    for row in range(8):
        rows += popcount(men & _ROWS[row]) * (row if side == BLACK else 7 - row)
    return rows


@state_size.register(Samuel)
def samuel_state_size(system: Samuel) -> int:
    return len(system.weights)


@kernel
def write_features(position: Position, view: int, state: Any) -> None:
    """Write FEATURES of a position as `view` sees them: int32[8]."""
    black, white, kings = position.black, position.white, position.kings
    state[0] = popcount(black & ~kings) - popcount(white & ~kings)
    state[1] = popcount(black & kings) - popcount(white & kings)
    state[2] = advanced(black & ~kings, BLACK) - advanced(white & ~kings, WHITE)
    state[3] = popcount(black & _CENTRE) - popcount(white & _CENTRE)
    state[4] = popcount(black & ~kings & _ROWS[0]) - popcount(white & ~kings & _ROWS[7])
    state[5] = count_steps(black, white, kings, BLACK) - count_steps(white, black, kings, WHITE)
    state[6] = jumps_there(black, white, kings, BLACK) - jumps_there(white, black, kings, WHITE)
    state[7] = 1 if position.turn == BLACK else -1
    if view != BLACK:
        for i in range(len(state)):
            state[i] = -state[i]


@start_state.register(Samuel)
def start_samuel_state(system: Samuel, position: Position, view: int, state: Any) -> None:
    write_features(position, view, state)


@advance_state.register(Samuel)
def advance_samuel_state(
    system: Samuel, before: Position, after: Position, view: int, old: Any, new: Any
) -> None:
    write_features(after, view, new)


@total.register(Samuel)
def weighted_sum(system: Samuel, position: Position, view: int, state: Any) -> float:
    worth = 0.0
    for i in range(len(state)):
        worth += system.weights[i] * state[i]
    return worth


@adjust.register(Samuel)
def adjust_weights(system: Samuel, state: Any, step: float) -> None:
    for i in range(len(state)):
        system.weights[i] += step * state[i]


@one_view.register(Samuel)
def is_antisymmetric(system: Samuel) -> bool:
    return True


@evaluate.register(Samuel)
def evaluate_samuel(
    system: Samuel, position: Position, view: int, state: Any, scratch: Any
) -> float:
    return squashed(total(system, position, view, state), scratch)
