"""What an evaluator is: a NamedTuple class, and implementations of these generics for it.

Only :func:`evaluate` is needed. An evaluator that is cheaper to bring up to date than to compute
anew keeps a row of integers for each position of the search (:func:`state_size`,
:func:`start_state`, :func:`advance_state`); integers, because their sums do not depend on the
order of updates.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from agents.simd import tanh_all
from checkers_env.jit import generic, kernel
from checkers_env.movegen import Position

SCRATCH_WIDTH = 128
NO_HIT = -1


@generic
def evaluate(evaluator: Any, position: Position, view: int, state: Any, scratch: Any) -> float:
    """The worth of a position that is not yet won or lost, between -1 and +1, for side `view`.

    Parameters
    ----------
    state
        int32[:], the evaluator's integers for this position as seen by `view`.
    scratch
        float32[256], aligned to 64 bytes, for intermediate results.
    """
    raise NotImplementedError("this evaluator has no implementation of agents.evaluator.evaluate")


@generic
def state_size(evaluator: Any) -> int:
    """How many int32 values the evaluator keeps for a position."""
    return 0


@generic
def start_state(evaluator: Any, position: Position, view: int, state: Any) -> None:
    """Fill `state` (int32[:]) from a position as seen by `view`."""


@generic
def advance_state(
    evaluator: Any, before: Position, after: Position, view: int, old: Any, new: Any
) -> None:
    """Fill `new` for the position `after`, which one move has reached from `before` with `old`."""


@generic
def probe_tablebase(evaluator: Any, position: Position, over: bool) -> int:
    """How many plies the game still lasts, as agents.endgame.probe counts them, or NO_HIT.

    For evaluators that know the ends of games; the search then goes no further. `over`: the side
    to move has lost. What is foreseen there counts in the place of a plain loss.
    """
    return NO_HIT


@kernel
def value(evaluator: Any, position: Position, view: int) -> float:
    """Evaluate one position on its own."""
    state = np.zeros(state_size(evaluator), np.int32)
    start_state(evaluator, position, view, state)
    return evaluate(evaluator, position, view, state, np.zeros(2 * SCRATCH_WIDTH, np.float32))


@generic
def total(evaluator: Any, position: Position, view: int, state: Any) -> float:
    """The weighted sum for side `view`, before tanh."""
    raise NotImplementedError("this evaluator has no implementation of agents.evaluator.total")


@generic
def adjust(evaluator: Any, state: Any, step: float) -> None:
    """Add to every weight `step` times what a unit of it adds to the sum in this state."""
    raise NotImplementedError("this evaluator has no implementation of agents.evaluator.adjust")


@generic
def one_view(evaluator: Any) -> bool:
    """Whether White's worth is always the negative of Black's: that one is then learnt for both."""
    raise NotImplementedError("this evaluator has no implementation of agents.evaluator.one_view")


@kernel
def squashed(worth: float, scratch: Any) -> float:
    """tanh of a sum, the same on every machine."""
    scratch[0] = worth
    tanh_all(scratch, 0, 8)
    return scratch[0]
