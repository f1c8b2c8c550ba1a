"""Board geometry in standard square numbers (1-32)."""

from __future__ import annotations

import numpy as np

from checkers_env.movegen import SQUARES

SquareSets = tuple[tuple[int, ...], ...]
PLACES = np.zeros(35, np.int64)  # number of a bit's square, from 0
PLACES[np.array(SQUARES)] = np.arange(32)


def cell(square: int) -> tuple[int, int]:
    """Return row and column (0-7) of a square."""
    row, place = divmod(square - 1, 4)
    return row, 2 * place + 1 - row % 2


def rectangles(rows: int, columns: int) -> SquareSets:
    """Return the playable squares of each rectangle of this size, row by row."""
    corners = ((top, left) for top in range(9 - rows) for left in range(9 - columns))
    inside = (
        tuple(
            square
            for square in range(1, 33)
            if 0 <= cell(square)[0] - top < rows and 0 <= cell(square)[1] - left < columns
        )
        for top, left in corners
    )
    return tuple(squares for squares in inside if squares)


def rotate(squares: tuple[int, ...]) -> tuple[int, ...]:
    """Return the squares as the other side sees them."""
    return tuple(33 - square for square in squares)


def neighbours(square: int) -> list[int]:
    """Return the squares one diagonal step away."""
    row, column = cell(square)
    return [
        other
        for other in range(1, 33)
        if abs(cell(other)[0] - row) == 1 and abs(cell(other)[1] - column) == 1
    ]
