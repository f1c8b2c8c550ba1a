"""Which squares the n-tuples look at (Al-Khateeb 2011, section 6.2 and Table 6.1).

A drawing is a tuple of n-tuples, each a tuple of standard square numbers from Black's side.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from agents.geometry import Drawing, neighbours, rectangles

LONGEST = 8  # squares in a 4x4 sub-square; a table of 5**8 entries

# Table 6.1 as it stands, in the thesis's square numbers.
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

THESIS: Drawing = tuple(
    tuple(33 - int(square) for square in row.split(",")) for row in _THESIS.split()
)
"""The 5-tuples of Table 6.1 in standard square numbers: the thesis's are turned round."""

SINGLES: Drawing = tuple((square,) for square in range(1, 33))
"""One 1-tuple for each square (Algorithm 6.2)."""


def random_walks(length: int, rng: np.random.Generator) -> Drawing:
    """From each square a self-avoiding random walk of `length` squares (1 to 8).

    Each step goes to any neighbour not yet visited, with equal chances; a walk that runs into a
    dead end is begun anew. Raises ValueError for another length.
    """
    if not 1 <= length <= LONGEST:
        raise ValueError(f"a walk has 1 to {LONGEST} squares, not {length}")
    return tuple(_walk(square, length, rng) for square in range(1, 33))


def _walk(start: int, length: int, rng: np.random.Generator) -> tuple[int, ...]:
    walk = [start]
    while len(walk) < length:
        steps = [square for square in neighbours(walk[-1]) if square not in walk]
        walk = [*walk, steps[rng.integers(len(steps))]] if steps else [start]
    return tuple(walk)


def subsquares(size: int) -> Drawing:
    """The playable squares in each sub-square of size x size, row by row.

    A size above 4 (more than 8 squares) or below 1 raises ValueError.
    """
    if not 1 <= size <= 4:
        raise ValueError(f"a sub-square for n-tuples is 1x1 to 4x4, not {size}x{size}")
    return rectangles(size, size)


DRAWINGS: dict[str, Callable[[np.random.Generator], Drawing]] = {
    "walks-5": lambda rng: random_walks(5, rng),
    "table-6.1": lambda rng: THESIS,
    "singles": lambda rng: SINGLES,
    "walks-3": lambda rng: random_walks(3, rng),
    "walks-4": lambda rng: random_walks(4, rng),
    "subsquares-3": lambda rng: subsquares(3),
    "subsquares-4": lambda rng: subsquares(4),
    "subsquares-3-4": lambda rng: subsquares(3) + subsquares(4),
}


def draw(name: str, rng: np.random.Generator) -> Drawing:
    """The drawing of that name; `rng` is drawn from by the random walks only.

    Raises ValueError for an unknown name.
    """
    if name not in DRAWINGS:
        raise ValueError(f"no drawing {name!r}: known are {', '.join(DRAWINGS)}")
    return DRAWINGS[name](rng)


def as_matrix(drawing: Drawing) -> Any:
    """A drawing as float64[tuples, longest], shorter tuples filled up with zeros."""
    longest = max(map(len, drawing))
    return np.array([[*squares, *[0] * (longest - len(squares))] for squares in drawing], float)


def as_drawing(matrix: Any) -> Drawing:
    """The drawing that :func:`as_matrix` has made a matrix of."""
    return tuple(tuple(int(square) for square in row if square) for row in matrix)
