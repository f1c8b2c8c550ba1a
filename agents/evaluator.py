"""The evaluator protocol: a NamedTuple class, and implementations of these generics for it.

Only :func:`evaluate` is required. :func:`value_bounds` lets a full-width search leave out
evaluations that cannot matter. An evaluator may keep a row of integers for each position of a
search and update it move by move: :func:`state_size`, :func:`start_state`, :func:`advance_state`.
The state holds integers because their sums do not depend on the order of updates.

Temporal-difference learning also needs :func:`logit`, :func:`apply_gradient` and
:func:`is_antisymmetric`.
"""

from __future__ import annotations

import numpy as np

from checkers_env.jit import KernelArg, generic, kernel
from checkers_env.movegen import Position

MAX_LAYER_WIDTH = 128  # nodes, padding included
SCRATCH_SIZE = 2 * MAX_LAYER_WIDTH  # the inputs and the outputs of a layer
NO_HIT = -1
NO_BOUND = 4.0  # beyond any value and any window of a search


@generic
def evaluate(
    evaluator: KernelArg, position: Position, view: int, state: KernelArg, scratch: KernelArg
) -> float:
    """Return the value, -1 to +1 for side `view`, of a position where the game goes on.

    `state` is int32[state_size], the state of this position for side `view`. `scratch` is
    float32[SCRATCH_SIZE], aligned to 64 bytes, and may be overwritten.
    """
    raise NotImplementedError("this evaluator has no implementation of agents.evaluator.evaluate")


@generic
def value_bounds(evaluator: KernelArg, position: Position, view: int) -> tuple[float, float]:
    """Return bounds of :func:`evaluate` that need no state, the lower one first, rounding included.

    By default they are -NO_BOUND and NO_BOUND.
    """
    return -NO_BOUND, NO_BOUND


@generic
def state_size(evaluator: KernelArg) -> int:
    """Return the number of int32 values in a state: 0 by default, at most STATE_WIDTH."""
    return 0


@generic
def start_state(evaluator: KernelArg, position: Position, view: int, state: KernelArg) -> None:
    """Write the state of a position for side `view`, int32[state_size]."""


@generic
def advance_state(
    evaluator: KernelArg,
    before: Position,
    after: Position,
    view: int,
    old: KernelArg,
    new: KernelArg,
) -> None:
    """Write the state after one or more moves to `new`, from the state before them, `old`."""


@generic
def probe_tablebase(evaluator: KernelArg, position: Position, over: bool) -> int:
    """Return how many plies the game still lasts, as :mod:`agents.endgame.probe` counts, or NO_HIT.

    Evaluators that hold endgame tables implement it; the search goes no further at a hit. A result
    from the tables replaces a plain loss, of which `over` tells.
    """
    return NO_HIT


@generic
def value_scale(evaluator: KernelArg) -> float:
    """Return the factor of an evaluator's values: 1 by default, 1/2 beside endgame tables."""
    return 1.0


@kernel
def evaluate_position(evaluator: KernelArg, position: Position, view: int) -> float:
    """Return the value of one position for side `view`, without a search."""
    return evaluate_in_state(evaluator, position, view, np.zeros(state_size(evaluator), np.int32))


@kernel
def evaluate_in_state(
    evaluator: KernelArg, position: Position, view: int, state: KernelArg
) -> float:
    """Write the state of one position, int32[state_size], and return its value for side `view`."""
    start_state(evaluator, position, view, state)
    return evaluate(evaluator, position, view, state, np.zeros(SCRATCH_SIZE, np.float32))


@generic
def logit(evaluator: KernelArg, position: Position, view: int, state: KernelArg) -> float:
    """Return the weighted sum for side `view` in its state: tanh of it is the value."""
    raise NotImplementedError("this evaluator has no implementation of agents.evaluator.logit")


@generic
def apply_gradient(evaluator: KernelArg, state: KernelArg, step: float) -> None:
    """Add `step` times the gradient of the logit in this state to the weights."""
    raise NotImplementedError("this evaluator does not implement agents.evaluator.apply_gradient")


@generic
def is_antisymmetric(evaluator: KernelArg) -> bool:
    """Return whether White's value is the negative of Black's: learning updates weights once."""
    raise NotImplementedError("this evaluator does not implement is_antisymmetric")
