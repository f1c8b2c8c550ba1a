"""Which squares the windows are made of."""

from __future__ import annotations

from agents.squares import Drawing, rectangles


def turned(squares: tuple[int, ...]) -> tuple[int, ...]:
    """What the other side sees where one sees `squares`."""
    return tuple(33 - square for square in squares)


def with_turned(drawing: Drawing) -> Drawing:
    """The tuples of a drawing, each followed by itself turned where that is another window.

    A tuple stands once however often the drawing has its squares, in whatever order.
    """
    found: dict[frozenset[int], tuple[int, ...]] = {}
    for squares in drawing:
        for each in (squares, turned(squares)):
            found.setdefault(frozenset(each), each)
    return tuple(found.values())


WINDOWS: Drawing = with_turned(
    rectangles(4, 4) + rectangles(2, 8) + rectangles(6, 4) + rectangles(3, 8)
)
"""The 25 parts of 4x4 and the 7 pairs of neighbouring rows, of 8 squares each; the 15 parts of 6
rows and 4 columns and the 6 triples of neighbouring rows, of 12."""

BACKWARDS: Drawing = tuple(
    turned(squares) for squares in WINDOWS if frozenset(turned(squares)) == frozenset(squares)
)
"""The windows that a turn of the board maps to themselves, their squares in the order after it."""
