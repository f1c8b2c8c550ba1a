"""What temporal differences can teach: evaluators that are tanh of a weighted sum.

Such an evaluator implements, beside the generics of :mod:`agents.evaluate`, those here. Its state
is what it sums up: indices into a table, or the numbers that the weights multiply.
"""

from __future__ import annotations

from typing import Any

from agents.simd import tanh_all
from checkers_env.jit import generic, kernel
from checkers_env.rules import Position


@generic
def total(evaluator: Any, position: Position, view: int, state: Any) -> float:
    """The weighted sum for side `view`, before tanh."""
    raise NotImplementedError("this evaluator has no implementation of agents.linear.total")


@generic
def adjust(evaluator: Any, state: Any, step: float) -> None:
    """Add to every weight `step` times what a unit of it adds to the sum in this state."""
    raise NotImplementedError("this evaluator has no implementation of agents.linear.adjust")


@generic
def one_view(evaluator: Any) -> bool:
    """Whether White's worth is always the negative of Black's: that one is then learnt for both."""
    raise NotImplementedError("this evaluator has no implementation of agents.linear.one_view")


@kernel
def squashed(worth: float, scratch: Any) -> float:
    """tanh of a sum, the same on every machine."""
    scratch[0] = worth
    tanh_all(scratch, 0, 8)
    return scratch[0]
