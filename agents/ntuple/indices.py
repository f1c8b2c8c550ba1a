"""The indices that tuples of squares read off a board, kept up to date from move to move.

A tuple of n squares, read as a number of n digits, is an index into a look-up table of its own; the
base is 5, or less where not all that can be on a square is told apart. Indices are integers, so
that no order of updates matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from agents.geometry import Drawing
from agents.simd import aligned
from checkers_env.bits import copy_into, lsb
from checkers_env.jit import kernel
from checkers_env.movegen import BLACK, SQUARES, Position, own_and_opponent

BASE = 5
# What a side sees on a square (Algorithm 6.1, step 4).
THEIR_MAN, THEIR_KING, EMPTY, OWN_MAN, OWN_KING = range(BASE)


def base_of(digits: Sequence[int]) -> int:
    """The base of the numbers that these digits make: one more than the greatest."""
    return max(digits) + 1


def index_features(
    drawing: Drawing, offsets: Sequence[int], digits: Sequence[Sequence[int]]
) -> tuple[Any, Any]:
    """What each piece on each square adds to the index of each tuple.

    Parameters
    ----------
    drawing
        The tuples; the first square of each is the highest digit.
    offsets
        Where the table of each begins.
    digits
        For each tuple the digits for what is on a square, in the order above.

    Returns
    -------
    int32[35, 5, tuples]: by bit and by what is on it, beyond what the empty square adds; and
    int32[tuples]: the indices for the empty board.
    """
    table, empty = aligned((35, BASE, len(drawing)), np.int32), np.zeros(len(drawing), np.int32)
    tuples = zip(drawing, offsets, digits, strict=True)
    for number, (squares, offset, digit) in enumerate(tuples):
        worth = np.array(digit)
        powers = base_of(digit) ** np.arange(len(squares))[::-1]
        for square, power in zip(squares, powers, strict=True):
            table[SQUARES[square - 1], :, number] = (worth - worth[EMPTY]) * power
        empty[number] = offset + worth[EMPTY] * powers.sum()
    return table, empty


@kernel
def seen_on(position: Position, bit: int, view: int) -> int:
    """What `view` sees on `bit`: 0 to 4."""
    own, opponent = own_and_opponent(position.black, position.white, view)
    crowned = position.kings >> bit & 1
    if own >> bit & 1:
        return OWN_MAN + crowned
    return THEIR_MAN + crowned if opponent >> bit & 1 else EMPTY


@kernel
def start_indices(features: Any, empty: Any, position: Position, view: int, indices: Any) -> None:
    """Write the indices of a position as `view` sees it: White turns the board round."""
    copy_into(empty, indices)
    pieces = position.black | position.white
    while pieces:
        bit = lsb(pieces)
        pieces &= pieces - 1
        row = features[bit if view == BLACK else 34 - bit, seen_on(position, bit, view)]
        for i in range(len(indices)):
            indices[i] += row[i]


@kernel
def advance_indices(
    features: Any, before: Position, after: Position, view: int, old: Any, new: Any
) -> None:
    """Write into `new` the indices after a move, of those before it."""
    copy_into(old, new)
    changed = (before.black ^ after.black) | (before.white ^ after.white)
    while changed:
        bit = lsb(changed)
        changed &= changed - 1
        rows = features[bit if view == BLACK else 34 - bit]
        plus, minus = rows[seen_on(after, bit, view)], rows[seen_on(before, bit, view)]
        for i in range(len(new)):
            new[i] += plus[i] - minus[i]
