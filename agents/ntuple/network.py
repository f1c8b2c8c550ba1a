"""N-tuple networks as evaluators (Al-Khateeb 2011, chapter 6).

Each tuple of squares is an index into a look-up table of its own (:mod:`agents.ntuple.tuples`).
The value is tanh of the sum of the entries and of the piece difference (section 6.2, for
back-propagation), or that sum without tanh. Algorithms 6.1 and 6.2 sum the entries alone.
"""

from __future__ import annotations

import math
from itertools import accumulate
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.baselines.material import piece_difference
from agents.evaluator import apply_gradient, evaluate, is_antisymmetric, logit
from agents.ntuple.tuples import MAX_LENGTH, TupleLayout, index_features
from agents.piece_sums import CONTENTS, board_view, keep_sums
from agents.search.workspace import STATE_WIDTH
from agents.simd import tanh
from agents.weights import LARGEST_WEIGHT
from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import BLACK, Position

PIECES = 12.0  # of a side


class NTuple(NamedTuple):
    """Evaluator: an n-tuple network for the kernels. Use :func:`ntuple` to make one."""

    table: NDArray[np.float64]  # (entries,): the look-up tables end to end
    features: NDArray[np.int32]  # (35, 5, indices): index contribution of a content on a bit
    empty: NDArray[np.int32]  # (indices,): those of the empty board; behind the tuples' are zeros
    tuples: int
    difference: float  # weight of the piece difference; 0 leaves it out
    king: float  # worth of a king in it, in men
    black_perspective: bool  # always read as Black sees the board; White's value is the negative
    unit: float  # the value of 1 in the sum, which has no tanh then; 0: the value is its tanh


def table_size(layout: TupleLayout) -> int:
    """Return the number of entries in all tables of a layout."""
    return sum(CONTENTS ** len(squares) for squares in layout)


def ntuple(
    layout: TupleLayout,
    table: NDArray[np.float64] | None = None,
    *,
    difference: float = 1.0,
    king: float = 1.0,
    black_perspective: bool = False,
    output: Literal["tanh", "sum"] = "tanh",
) -> NTuple:
    """Make an n-tuple network.

    Parameters
    ----------
    layout
        The squares of each tuple; the first square is the highest digit.
    table
        float64[table_size(layout)]: the table of each tuple, end to end. Used without a copy, so
        that learning can write to it. Zeros by default.
    difference
        Weight of the piece difference in the sum; 0 leaves it out.
    king
        Worth of a king in the piece difference, in men.
    black_perspective
        False (evolved networks): the digits tell own pieces from the opponent's, and White sees the
        board turned round. True (temporal differences): the digits are Black's for both sides, and
        White's value is the negative of Black's.
    output
        ``"tanh"``: the value is tanh of the sum (section 6.2). ``"sum"``: it is the sum, divided by
        a power of 2 that keeps it within -1 and 1, the values of lost and won games. The order of
        the sums stays, in single precision. The table must not change afterwards.

    Raises
    ------
    ValueError
        For a layout or a table that does not fit, and for numbers that are too large.
    """
    _check_layout(layout)
    size = table_size(layout)
    table = np.zeros(size) if table is None else np.require(table, np.float64, ["C", "W"])
    if table.shape != (size,):
        raise ValueError(f"the tables of this layout have {size} entries, not {table.shape}")
    if not np.all(np.abs(table) <= LARGEST_WEIGHT):
        raise ValueError("the table has entries that are no numbers, or too large to use")
    difference, king = float(difference), float(king)
    if not np.all(np.abs([difference, king]) <= LARGEST_WEIGHT):
        raise ValueError(f"the piece difference has no weight {difference}, a king no {king} men")
    offsets = [*accumulate((CONTENTS ** len(squares) for squares in layout[:-1]), initial=0)]
    parts = index_features(layout, offsets, [range(CONTENTS)] * len(layout))
    if output not in ("tanh", "sum"):
        raise ValueError(f"the output is tanh or sum, not {output!r}")
    unit = 0.0 if output == "tanh" else _unit(offsets, table, difference, king)
    return NTuple(table, *parts, len(layout), difference, king, bool(black_perspective), unit)


def _unit(offsets: list[int], table: NDArray[np.float64], difference: float, king: float) -> float:
    """Return a power of 2 by which no sum reaches 1."""
    entries = float(np.maximum.reduceat(np.abs(table), offsets).sum())
    most = entries + PIECES * max(1.0, abs(king)) * abs(difference)
    return 0.5 ** math.frexp(1.001 * most)[1]


def _check_layout(layout: TupleLayout) -> None:
    if not 1 <= len(layout) <= STATE_WIDTH:
        raise ValueError(f"a layout has 1 to {STATE_WIDTH} tuples, not {len(layout)}")
    for squares in layout:
        known = all(1 <= square <= 32 for square in squares)
        if not (known and 1 <= len(squares) <= MAX_LENGTH and len(set(squares)) == len(squares)):
            raise ValueError(f"a tuple is 1 to {MAX_LENGTH} different squares 1-32, not {squares}")


keep_sums(NTuple)
board_view.register(NTuple)(lambda network, view: BLACK if network.black_perspective else view)


@kernel
def sum_table(table: KernelArg, state: KernelArg) -> float:
    """Sum the entries in four chains: a fixed order, the same bits on every machine."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    whole = len(state) & ~3
    for i in range(0, whole, 4):
        a += table[state[i]]
        b += table[state[i + 1]]
        c += table[state[i + 2]]
        d += table[state[i + 3]]
    for i in range(whole, len(state)):
        a += table[state[i]]
    return (a + b) + (c + d)


@logit.register(NTuple)
def ntuple_logit(network: NTuple, position: Position, view: int, state: KernelArg) -> float:
    read_by = board_view(network, view)
    worth = sum_table(network.table, state[: network.tuples])
    worth += network.difference * float(piece_difference(position, read_by, network.king))
    return worth if read_by == view else -worth


@apply_gradient.register(NTuple)
def apply_ntuple_gradient(network: NTuple, state: KernelArg, step: float) -> None:
    for index in state[: network.tuples]:
        network.table[index] += step


@is_antisymmetric.register(NTuple)
def is_ntuple_antisymmetric(network: NTuple) -> bool:
    return network.black_perspective


@evaluate.register(NTuple)
def evaluate_ntuple(
    network: NTuple, position: Position, view: int, state: KernelArg, scratch: KernelArg
) -> float:
    total = logit(network, position, view, state)
    if network.unit > 0.0:
        scratch[0] = total * network.unit
        return scratch[0]
    return tanh(total)
