"""N-tuple systems as evaluators (Al-Khateeb 2011, chapter 6).

Each tuple of squares is an index into a look-up table of its own (:mod:`agents.ntuple.indices`).
The value is tanh of the sum of the entries and of the piece difference.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from agents.baselines.material import piece_difference
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
from agents.geometry import Drawing
from agents.ntuple.indices import BASE, advance_indices, index_features, start_indices
from agents.ntuple.tuples import LONGEST
from agents.search.workspace import STATE_WIDTH
from agents.weights import LARGEST_WEIGHT
from checkers_env.jit import kernel
from checkers_env.movegen import BLACK, Position


class NTuple(NamedTuple):
    """An n-tuple system ready for the kernels; made by :func:`ntuple` only."""

    table: Any  # float64[:]: the look-up tables end to end
    features: Any  # int32[35, 5, tuples]: what a digit on a bit adds to each tuple's index
    empty: Any  # int32[tuples]: the indices for the empty board
    difference: Any  # float64: weight of the piece difference, 0 to leave it out
    king: Any  # float64: the worth of a king in it, in men
    by_colour: Any  # bool: seen as Black sees it, White's worth being the negative


def table_size(drawing: Drawing) -> int:
    """How many entries the tables of a drawing have together."""
    return sum(BASE ** len(squares) for squares in drawing)


def ntuple(
    drawing: Drawing,
    table: Any = None,
    *,
    difference: float = 1.0,
    king: float = 1.0,
    by_colour: bool = False,
) -> NTuple:
    """Make an n-tuple system.

    Parameters
    ----------
    table
        float64[table_size(drawing)]: for each tuple its table, the first square being the highest
        digit. Used as it is, not copied, so that learning can write into it. By default zeros.
    difference
        Weight of the piece difference in the sum; 0 leaves it out.
    king
        How many men a king counts in it.
    by_colour
        False (evolved systems): the digits tell own from opponent's pieces, and White sees the
        board turned round. True (temporal differences): the digits are Black's throughout, and
        what White gets is the negative.

    Raises ValueError for a drawing or a table that does not fit, and for numbers too large to use.
    """
    _check(drawing)
    size = table_size(drawing)
    table = np.zeros(size) if table is None else np.require(table, np.float64, ["C", "W"])
    if table.shape != (size,):
        raise ValueError(f"the tables of this drawing have {size} entries, not {table.shape}")
    if not np.all(np.abs(table) <= LARGEST_WEIGHT):
        raise ValueError("the table has entries that are no numbers, or too large to use")
    difference, king = float(difference), float(king)
    if not np.all(np.abs([difference, king]) <= LARGEST_WEIGHT):
        raise ValueError(f"the piece difference has no weight {difference}, a king no {king} men")
    offsets = accumulate((BASE ** len(squares) for squares in drawing[:-1]), initial=0)
    parts = index_features(drawing, [*offsets], [range(BASE)] * len(drawing))
    return NTuple(table, *parts, difference, king, bool(by_colour))


def _check(drawing: Drawing) -> None:
    if not 1 <= len(drawing) <= STATE_WIDTH:
        raise ValueError(f"a drawing has 1 to {STATE_WIDTH} tuples, not {len(drawing)}")
    for squares in drawing:
        known = all(1 <= square <= 32 for square in squares)
        if not (known and 1 <= len(squares) <= LONGEST and len(set(squares)) == len(squares)):
            raise ValueError(f"a tuple is 1 to {LONGEST} different squares 1-32, not {squares}")


@kernel
def reader(system: Any, view: int) -> int:
    """The side from which the board is read for `view`."""
    return BLACK if system.by_colour else view


@state_size.register(NTuple)
def ntuple_state_size(system: NTuple) -> int:
    return len(system.empty)


@start_state.register(NTuple)
def start_ntuple_state(system: NTuple, position: Position, view: int, state: Any) -> None:
    start_indices(system.features, system.empty, position, reader(system, view), state)


@advance_state.register(NTuple)
def advance_ntuple_state(
    system: NTuple, before: Position, after: Position, view: int, old: Any, new: Any
) -> None:
    advance_indices(system.features, before, after, reader(system, view), old, new)


@kernel
def entries(table: Any, state: Any) -> float:
    """The sum of the entries, in four chains of a fixed order, as on every machine."""
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


@total.register(NTuple)
def total_of_entries(system: NTuple, position: Position, view: int, state: Any) -> float:
    seen = reader(system, view)
    worth = entries(system.table, state)
    worth += system.difference * float(piece_difference(position, seen, system.king))
    return worth if seen == view else -worth


@adjust.register(NTuple)
def adjust_entries(system: NTuple, state: Any, step: float) -> None:
    for index in state:
        system.table[index] += step


@one_view.register(NTuple)
def reads_by_colour(system: NTuple) -> bool:
    return system.by_colour


@evaluate.register(NTuple)
def evaluate_ntuple(
    system: NTuple, position: Position, view: int, state: Any, scratch: Any
) -> float:
    return squashed(total(system, position, view, state), scratch)
