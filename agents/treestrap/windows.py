"""Windows of a large n-tuple network: every part of the board has a look-up table of its own.

After the n-tuple systems of Lucas (2008) and Al-Khateeb (2011, chapter 6), with larger windows. The
only other feature is a table by the numbers of men and kings. Windows of up to 8 squares see all
pieces; larger ones see men only (3^12 entries, not 5^12).

The network reads the board from the side to move. White's board is turned by 180 degrees, and one
set of tables serves both colours. There are four sets, by the number of pieces on the board.
"""

from __future__ import annotations

import numpy as np

from agents.geometry import rectangles, rotate
from agents.ntuple.tuples import MAX_LENGTH, TupleLayout, digit_base, index_features
from checkers_env.bits import popcount
from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import Position, own_and_opponent


def add_rotated(layout: TupleLayout) -> TupleLayout:
    """Return the tuples of a layout and their rotations, each set of squares once."""
    windows: dict[frozenset[int], tuple[int, ...]] = {}
    for squares in layout:
        for each in (squares, rotate(squares)):
            windows.setdefault(frozenset(each), each)
    return tuple(windows.values())


WINDOWS: TupleLayout = add_rotated(
    rectangles(4, 4) + rectangles(2, 8) + rectangles(6, 4) + rectangles(3, 8)
)
"""25 windows of 4x4 and 7 pairs of rows, of 8 squares each; 15 windows of 6x4 and 6 triples of
rows, of 12 squares each."""

BACKWARDS: TupleLayout = tuple(
    rotate(squares) for squares in WINDOWS if frozenset(rotate(squares)) == frozenset(squares)
)
"""The windows that a rotation maps to themselves, their squares in the rotated order."""


# Digits of an opposing man and king, an empty square, an own man and king. What has the digit d
# for one side has 4 - d for the other; 2 - d in a window that sees men only.
DIGITS, MEN_ONLY = (1, 0, 2, 3, 4), (0, 1, 1, 2, 1)
STAGES = 4
MAX_COUNT = 12  # the table of piece numbers counts no more pieces of a kind


def digits_of(squares: tuple[int, ...]) -> tuple[int, ...]:
    """Return the digits of a window: all contents, or men only in a large window."""
    return DIGITS if len(squares) <= MAX_LENGTH else MEN_ONLY


READINGS = WINDOWS + BACKWARDS
OFFSETS = np.cumsum([0, *(digit_base(digits_of(window)) ** len(window) for window in WINDOWS)])
WINDOW_COUNT, COUNTS = len(WINDOWS), int(OFFSETS[-1])  # COUNTS: start of the piece numbers' table
SIZE = COUNTS + (MAX_COUNT + 1) ** 4  # entries of a stage


_STARTS = {frozenset(squares): int(at) for squares, at in zip(WINDOWS, OFFSETS, strict=False)}
_OFFSETS = [_STARTS[frozenset(squares)] for squares in READINGS]
# The contributions to each index, and the indices of the empty board.
INDEX_PARTS = index_features(READINGS, _OFFSETS, [*map(digits_of, READINGS)], 16)
# The index of a window for the other side is MIRROR minus that of the reading PARTNER. The digits
# of the two sides add up to 4 (or 2), so the indices always add up to those of the empty board.
PARTNER = np.array([READINGS.index(rotate(squares)) for squares in WINDOWS], np.uint32)
MIRROR = INDEX_PARTS[1][:WINDOW_COUNT] + INDEX_PARTS[1][PARTNER]


@kernel
def count_entry(position: Position) -> int:
    """Return the entry of the numbers of men and kings, the side to move first."""
    own, opponent = own_and_opponent(position.black, position.white, position.turn)
    index = min(popcount(own & ~position.kings), MAX_COUNT)
    index = index * (MAX_COUNT + 1) + min(popcount(own & position.kings), MAX_COUNT)
    index = index * (MAX_COUNT + 1) + min(popcount(opponent & ~position.kings), MAX_COUNT)
    return COUNTS + index * (MAX_COUNT + 1) + min(popcount(opponent & position.kings), MAX_COUNT)


@kernel
def entry_of(state: KernelArg, window: int, own: bool) -> KernelArg:
    """Return the entry of a window for the viewing side of `state`, or for the other one.

    An unsigned index is quicker: a negative one would count from the end.
    """
    return np.uint32(state[window] if own else MIRROR[window] - state[PARTNER[window]])
