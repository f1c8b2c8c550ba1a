"""Which squares the windows are made of."""

from __future__ import annotations

from agents.ntuple.drawing import Drawing, subsquares

ROW_PAIRS: Drawing = tuple(tuple(range(first, first + 8)) for first in range(1, 26, 4))


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


WINDOWS: Drawing = with_turned(subsquares(4) + ROW_PAIRS + subsquares(3))
"""The 25 sub-squares of 4x4, the 7 pairs of neighbouring rows and the 36 sub-squares of 3x3."""

BACKWARDS: Drawing = tuple(
    turned(squares) for squares in WINDOWS if frozenset(turned(squares)) == frozenset(squares)
)
"""The windows that a turn of the board maps to themselves, their squares in the order after it."""
