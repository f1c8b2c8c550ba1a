"""Weighted features made by hand, after Samuel's checkers player.

Source: A. L. Samuel, Some studies in machine learning using the game of checkers, IBM Journal of
Research and Development 3(3), 1959. His program learns the weights of a linear polynomial, of 16
terms at a time out of 38; here are eight similar terms. Each is the viewer's count minus the
opponent's. The value is tanh of the weighted sum.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.evaluator import (
    advance_state,
    apply_gradient,
    evaluate,
    is_antisymmetric,
    logit,
    start_state,
    state_size,
)
from agents.simd import tanh
from agents.weights import LARGEST_WEIGHT
from checkers_env.bits import popcount
from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import BLACK, SQUARES, WHITE, Position, count_steps, jumpers_by_direction

FEATURES = (
    "men",  # men
    "kings",  # kings
    "advancement",  # rows advanced by the men, 0 to 6 each
    "centre",  # pieces on the eight central squares
    "back row",  # men on the own back row, where the opponent crowns
    "mobility",  # simple moves, as if there were no jumps
    "threats",  # jumps, as if this side were to move
    "turn",  # 1 for the side to move
)
_CENTRE = sum(1 << int(SQUARES[square - 1]) for square in (10, 11, 14, 15, 18, 19, 22, 23))
_ROWS = tuple(sum(1 << int(SQUARES[4 * row + column]) for column in range(4)) for row in range(8))


class Samuel(NamedTuple):
    """Evaluator: tanh of the weighted features. Use :func:`samuel` to make one."""

    weights: NDArray[np.float64]  # (8,), in the order of FEATURES


def samuel(weights: NDArray[np.float64] | None = None) -> Samuel:
    """Make a weighted sum of features."""
    count = len(FEATURES)
    weights = np.zeros(count) if weights is None else np.require(weights, np.float64, ["C", "W"])
    if weights.shape != (count,) or not np.all(np.abs(weights) <= LARGEST_WEIGHT):
        raise ValueError(f"there are {count} weights, finite numbers: {', '.join(FEATURES)}")
    return Samuel(weights)


@kernel
def count_jumps(own: int, opponent: int, kings: int, side: int) -> int:
    """Count the first jumps of `side`."""
    a, b, c, d = jumpers_by_direction(own, own, opponent, kings, side)
    return popcount(a) + popcount(b) + popcount(c) + popcount(d)


@kernel
def count_rows(men: int, side: int) -> int:
    """Count the rows that the men of `side` have advanced."""
    rows = 0
    for row in range(8):
        rows += popcount(men & _ROWS[row]) * (row if side == BLACK else 7 - row)
    return rows


state_size.register(Samuel)(lambda evaluator: len(evaluator.weights))


@kernel
def write_features(position: Position, view: int, state: KernelArg) -> None:
    """Write the eight features of a position (after Samuel 1959)."""
    black, white, kings = position.black, position.white, position.kings
    state[0] = popcount(black & ~kings) - popcount(white & ~kings)
    state[1] = popcount(black & kings) - popcount(white & kings)
    state[2] = count_rows(black & ~kings, BLACK) - count_rows(white & ~kings, WHITE)
    state[3] = popcount(black & _CENTRE) - popcount(white & _CENTRE)
    state[4] = popcount(black & ~kings & _ROWS[0]) - popcount(white & ~kings & _ROWS[7])
    state[5] = count_steps(black, white, kings, BLACK) - count_steps(white, black, kings, WHITE)
    state[6] = count_jumps(black, white, kings, BLACK) - count_jumps(white, black, kings, WHITE)
    state[7] = 1 if position.turn == BLACK else -1
    if view != BLACK:
        for i in range(len(state)):
            state[i] = -state[i]


@start_state.register(Samuel)
def start_samuel_state(evaluator: Samuel, position: Position, view: int, state: KernelArg) -> None:
    write_features(position, view, state)


@advance_state.register(Samuel)
def advance_samuel_state(
    evaluator: Samuel, before: Position, after: Position, view: int, old: KernelArg, new: KernelArg
) -> None:
    write_features(after, view, new)


@logit.register(Samuel)
def samuel_logit(evaluator: Samuel, position: Position, view: int, state: KernelArg) -> float:
    worth = 0.0
    for i in range(len(state)):
        worth += evaluator.weights[i] * state[i]
    return worth


@apply_gradient.register(Samuel)
def apply_samuel_gradient(evaluator: Samuel, state: KernelArg, step: float) -> None:
    for i in range(len(state)):
        evaluator.weights[i] += step * state[i]


is_antisymmetric.register(Samuel)(lambda evaluator: True)


@evaluate.register(Samuel)
def evaluate_samuel(
    evaluator: Samuel, position: Position, view: int, state: KernelArg, scratch: KernelArg
) -> float:
    return tanh(logit(evaluator, position, view, state))
