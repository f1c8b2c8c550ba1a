"""The evaluator protocol: a NamedTuple class, and implementations of these generics for it.

Only :func:`evaluate` is required. An evaluator may keep a row of integers for each position of a
search and update it move by move: :func:`state_size`, :func:`start_state`, :func:`advance_state`.
The state holds integers because their sums do not depend on the order of updates.

Temporal-difference learning also needs :func:`logit`, :func:`apply_gradient` and
:func:`is_antisymmetric`.
"""

from __future__ import annotations

import numpy as np

from agents.simd import tanh_all
from checkers_env.jit import KernelArg, generic, kernel
from checkers_env.movegen import Position

SCRATCH_WIDTH = 128
NO_HIT = -1


@generic
def evaluate(
    evaluator: KernelArg, position: Position, view: int, state: KernelArg, scratch: KernelArg
) -> float:
    """Return the value, -1 to +1 for side `view`, of a position where the game goes on.

    Parameters
    ----------
    evaluator
        A NamedTuple whose class implements this generic.
    position
        The position.
    view
        The side, BLACK or WHITE.
    state
        int32, shape (state_size,): the evaluator's state of this position for side `view`.
    scratch
        float32, shape (256,), aligned to 64 bytes: working memory.
    """
    raise NotImplementedError("this evaluator has no implementation of agents.evaluator.evaluate")


@generic
def state_size(evaluator: KernelArg) -> int:
    """Return the number of int32 values in the state of a position."""
    return 0


@generic
def start_state(evaluator: KernelArg, position: Position, view: int, state: KernelArg) -> None:
    """Write the state (int32[state_size]) of a position for side `view`."""


@generic
def advance_state(
    evaluator: KernelArg,
    before: Position,
    after: Position,
    view: int,
    old: KernelArg,
    new: KernelArg,
) -> None:
    """Write to `new` the state of `after`, one move on from `before` with state `old`."""


@generic
def probe_tablebase(evaluator: KernelArg, position: Position, over: bool) -> int:
    """How many plies the game still lasts, as agents.endgame.probe counts them, or NO_HIT.

    For evaluators that know the ends of games; the search then goes no further. `over`: the side
    to move has lost. What is foreseen there counts in the place of a plain loss.
    """
    return NO_HIT


@kernel
def evaluate_position(evaluator: KernelArg, position: Position, view: int) -> float:
    """Return the value of one position for side `view`, without a search."""
    state = np.zeros(state_size(evaluator), np.int32)
    start_state(evaluator, position, view, state)
    return evaluate(evaluator, position, view, state, np.zeros(2 * SCRATCH_WIDTH, np.float32))


@generic
def logit(evaluator: KernelArg, position: Position, view: int, state: KernelArg) -> float:
    """Return the weighted sum for side `view`: the value before tanh."""
    raise NotImplementedError("this evaluator has no implementation of agents.evaluator.logit")


@generic
def apply_gradient(evaluator: KernelArg, state: KernelArg, step: float) -> None:
    """Add `step` times the gradient of the logit in this state to the weights."""
    raise NotImplementedError("this evaluator does not implement agents.evaluator.apply_gradient")


@generic
def is_antisymmetric(evaluator: KernelArg) -> bool:
    """Return whether White's value is always the negative of Black's.

    Learning then updates the weights once a position, otherwise once for each side.
    """
    raise NotImplementedError("this evaluator does not implement is_antisymmetric")


@kernel
def tanh(x: float, scratch: KernelArg) -> float:
    """Return tanh(x) with the same bits on every machine."""
    scratch[0] = x
    tanh_all(scratch, 0, 8)
    return scratch[0]
