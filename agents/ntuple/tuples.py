"""Tuple layouts: the squares of each n-tuple (Al-Khateeb 2011, section 6.2 and Table 6.1).

The contents of a tuple's squares are the digits of a number, the index into the tuple's table. The
base is 5, or less if the digits merge some contents.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agents.geometry import SquareSets, neighbours, rectangles
from agents.piece_sums import CONTENTS, EMPTY
from agents.simd import LANES, aligned_zeros
from checkers_env.movegen import SQUARES

TupleLayout = SquareSets
"""N-tuples of standard square numbers, as Black sees the board."""

MAX_LENGTH = 8  # squares in a 4x4 sub-square; a table of 5**8 entries

# Table 6.1 in the thesis's square numbers.
_THESIS = """
1,6,9,14,17     2,6,10,15,19    3,7,2,6,1       4,8,11,7,10
5,1,6,2,7       6,2,7,3,8       7,2,6,10,15     8,12,16,19,24
9,14,18,22,26   10,14,17,21,25  11,15,18,23,26  12,8,3,7,11
13,17,22,25,21  14,17,21,25,29  15,18,22,26,30  16,12,8,3,7
17,14,9,5,1     18,14,9,6,1     19,24,27,32,28  20,16,12,8,4
21,25,22,17,14  22,17,13,9,5    23,18,14,9,5    24,28,32,27,31
25,30,26,31,27  26,22,17,14,9   27,23,18,14,9   28,32,27,24,20
29,25,22,26,30  30,26,22,17,14  31,26,23,18,22  32,27,31,26,30
"""

TABLE_6_1: TupleLayout = tuple(
    tuple(33 - int(square) for square in row.split(",")) for row in _THESIS.split()
)
"""The 5-tuples of Table 6.1 in standard square numbers: the thesis turns the board round."""

SINGLES: TupleLayout = tuple((square,) for square in range(1, 33))
"""One 1-tuple for each square (Algorithm 6.2)."""


def random_walks(length: int, rng: np.random.Generator) -> TupleLayout:
    """Return a self-avoiding random walk of `length` squares (1 to 8) from each square.

    Each step goes to a random neighbour that the walk has not visited. A walk in a dead end starts
    again.
    """
    return tuple(_walk(square, length, rng) for square in range(1, 33))


def _walk(start: int, length: int, rng: np.random.Generator) -> tuple[int, ...]:
    walk = [start]
    while len(walk) < length:
        steps = [square for square in neighbours(walk[-1]) if square not in walk]
        walk = [*walk, steps[rng.integers(len(steps))]] if steps else [start]
    return tuple(walk)


TUPLE_LAYOUTS: dict[str, Callable[[np.random.Generator], TupleLayout]] = {
    "walks-5": lambda rng: random_walks(5, rng),
    "table-6.1": lambda rng: TABLE_6_1,
    "singles": lambda rng: SINGLES,
    "walks-3": lambda rng: random_walks(3, rng),
    "walks-4": lambda rng: random_walks(4, rng),
    "subsquares-3": lambda rng: rectangles(3, 3),
    "subsquares-4": lambda rng: rectangles(4, 4),
    "subsquares-3-4": lambda rng: rectangles(3, 3) + rectangles(4, 4),
}


def layout_to_matrix(layout: TupleLayout) -> NDArray[np.float64]:
    """Return a layout as float64, shape (tuples, longest); zeros fill up shorter tuples."""
    longest = max(map(len, layout))
    return np.array([[*squares, *[0] * (longest - len(squares))] for squares in layout], float)


def layout_from_matrix(matrix: ArrayLike) -> TupleLayout:
    """Return the layout of a matrix that :func:`layout_to_matrix` made."""
    return tuple(tuple(int(square) for square in row if square) for row in np.asarray(matrix))


def digit_base(digits: Sequence[int]) -> int:
    """Return the base of the numbers that these digits form."""
    return max(digits) + 1


def index_features(
    layout: TupleLayout, offsets: Sequence[int], digits: Sequence[Sequence[int]], width: int = LANES
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return what each content on each bit adds to the index of each tuple, and the empty board's.

    The number of indices is a multiple of `width`; those without a tuple are 0.
    """
    table = aligned_zeros((35, CONTENTS, -(-len(layout) // width) * width), np.int32)
    empty = np.zeros(table.shape[2], np.int32)
    tuples = zip(layout, offsets, digits, strict=True)
    for number, (squares, offset, digit) in enumerate(tuples):
        worth = np.array(digit)
        powers = digit_base(digit) ** np.arange(len(squares))[::-1]
        for square, power in zip(squares, powers, strict=True):
            table[SQUARES[square - 1], :, number] = (worth - worth[EMPTY]) * power
        empty[number] = offset + worth[EMPTY] * powers.sum()
    return table, empty
