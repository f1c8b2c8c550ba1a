"""Where the squares lie on the board, and parts of it, in standard square numbers."""

from __future__ import annotations

Drawing = tuple[tuple[int, ...], ...]  # sets of squares, each in an order of its own


def cell(square: int) -> tuple[int, int]:
    """Row and column (0-7) of a square."""
    row, place = divmod(square - 1, 4)
    return row, 2 * place + 1 - row % 2


def rectangles(rows: int, columns: int) -> Drawing:
    """The playable squares in each part of the board of so many rows and columns, row by row."""
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


def neighbours(square: int) -> list[int]:
    """The squares one diagonal step away: where a king could move to on an empty board."""
    row, column = cell(square)
    return [
        other
        for other in range(1, 33)
        if abs(cell(other)[0] - row) == 1 and abs(cell(other)[1] - column) == 1
    ]
