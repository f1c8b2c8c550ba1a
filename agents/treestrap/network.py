"""An evaluator that looks at every part of the board through a table of its own.

An n-tuple system (Lucas 2008; Al-Khateeb 2011, chapter 6) with large windows and no feature made by
hand: beside them there is a table by the numbers of men and kings. Windows of up to 8 squares see
all pieces, larger ones men only: 3^12 entries in place of 5^12. All is seen from the side to move,
White's board turned by 180 degrees, so that one set of tables serves both colours. There are four
sets, by the number of pieces on the board.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from agents.evaluator import advance_state, evaluate, squashed, start_state, state_size
from agents.geometry import Drawing, rectangles
from agents.ntuple.indices import advance_indices, base_of, index_features, start_indices
from agents.ntuple.tuples import LONGEST
from checkers_env.bits import popcount
from checkers_env.jit import kernel
from checkers_env.movegen import Position, own_and_opponent


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


# The digits for the other side's man and king, nothing, one's own man and king. So the other side
# has the digit 4 - d where one has d oneself, and 2 - d in a window that sees men only.
DIGITS, MEN_ONLY = (1, 0, 2, 3, 4), (0, 1, 1, 2, 1)
STAGES, PIECES_A_STAGE = 4, 6
MOST = 12  # the table of numbers counts no more pieces of a kind


def digits_of(squares: tuple[int, ...]) -> tuple[int, ...]:
    """What a window tells apart on a square: all there is, or, if it is large, men only."""
    return DIGITS if len(squares) <= LONGEST else MEN_ONLY


READINGS = WINDOWS + BACKWARDS
OFFSETS = np.cumsum([0, *(base_of(digits_of(window)) ** len(window) for window in WINDOWS)])
WINDOW_COUNT, COUNTS = len(WINDOWS), int(OFFSETS[-1])  # how many; where the other table begins
IN_CHAINS = WINDOW_COUNT // 4 * 4  # the windows that are added up in four chains
SIZE = COUNTS + (MOST + 1) ** 4  # entries of a stage
TERMS = WINDOW_COUNT + 1  # that the value of a position adds up


class Windows(NamedTuple):
    """Tables ready for the kernels; made by :func:`windows` only.

    The state of a position holds an index for each of the readings, as the viewing side sees it.
    """

    table: Any  # float32[STAGES, SIZE], or int16
    step: float  # what an entry is to be multiplied by
    features: Any  # int32[35, 5, readings]: what a digit on a bit adds to each index
    empty: Any  # int32[readings]: the indices for the empty board
    partner: Any  # int32[windows]: the reading in which the other side sees each window, ...
    mirror: Any  # int32[windows]: ... and what it is to be subtracted from


def windows(table: Any = None, step: float = 1.0) -> Windows:
    """Make an evaluator.

    Parameters
    ----------
    table
        float32[STAGES, SIZE]: for each stage the tables of the windows, a window's first square
        being the highest digit, and that of the numbers of pieces. Used as it is, not copied, so
        that learning can write into it. By default zeros. Or int16, half as large and as much
        faster to look up: multiples of `step`.

    Raises ValueError for a table that does not fit.
    """
    if table is None:
        table = np.zeros((STAGES, SIZE), np.float32)
    if table.shape != (STAGES, SIZE):
        raise ValueError(f"the tables are {STAGES} x {SIZE} entries, not {table.shape}")
    if table.dtype not in (np.float32, np.int16):
        raise ValueError(f"the tables are float32 or int16, not {table.dtype}")
    table = np.require(table, None, ["C", "W"])
    places = [frozenset(squares) for squares in WINDOWS]
    offsets = [int(OFFSETS[places.index(frozenset(squares))]) for squares in READINGS]
    parts = index_features(READINGS, offsets, [*map(digits_of, READINGS)])
    partner = [READINGS.index(turned(squares)) for squares in WINDOWS]
    # With 2 for nothing and 4 - d for d (or 1 and 2 - d), the two sides' indices always add up to
    # those for the empty board.
    mirror = parts[1][:WINDOW_COUNT] + parts[1][partner]
    return Windows(table, float(step), *parts, np.array(partner, np.int32), mirror)


@kernel
def stage_of(position: Position) -> int:
    """Which set of tables a position is looked up in."""
    pieces = popcount(position.black | position.white)
    return min((pieces - 1) // PIECES_A_STAGE, STAGES - 1)


@kernel
def by_numbers(position: Position) -> int:
    """The entry for the men and kings of the side to move, and for those of the other side."""
    own, opponent = own_and_opponent(position.black, position.white, position.turn)
    index = min(popcount(own & ~position.kings), MOST)
    index = index * (MOST + 1) + min(popcount(own & position.kings), MOST)
    index = index * (MOST + 1) + min(popcount(opponent & ~position.kings), MOST)
    return COUNTS + index * (MOST + 1) + min(popcount(opponent & position.kings), MOST)


@kernel
def write_entries(system: Windows, position: Position, view: int, state: Any, entries: Any) -> None:
    """Write the TERMS entries that a position adds up, out of a state as seen by `view`."""
    for i in range(WINDOW_COUNT):
        if position.turn == view:
            entries[i] = state[i]
        else:
            entries[i] = system.mirror[i] - state[system.partner[i]]
    entries[WINDOW_COUNT] = by_numbers(position)


@kernel
def total(system: Windows, position: Position, view: int, state: Any) -> Any:
    """The sum of a position's entries for the side to move, in four chains of a fixed order."""
    table = system.table[stage_of(position)]
    nothing = table[0] - table[0]
    a, b, c, d = table[by_numbers(position)] + nothing, nothing, nothing, nothing
    if position.turn == view:
        for i in range(IN_CHAINS, WINDOW_COUNT):
            a += table[state[i]]
        for i in range(0, IN_CHAINS, 4):
            a += table[state[i]]
            b += table[state[i + 1]]
            c += table[state[i + 2]]
            d += table[state[i + 3]]
    else:
        mirror, partner = system.mirror, system.partner
        for i in range(IN_CHAINS, WINDOW_COUNT):
            a += table[mirror[i] - state[partner[i]]]
        for i in range(0, IN_CHAINS, 4):
            a += table[mirror[i] - state[partner[i]]]
            b += table[mirror[i + 1] - state[partner[i + 1]]]
            c += table[mirror[i + 2] - state[partner[i + 2]]]
            d += table[mirror[i + 3] - state[partner[i + 3]]]
    return np.float32((a + b) + (c + d)) * np.float32(system.step)


@evaluate.register(Windows)
def evaluate_windows(
    system: Windows, position: Position, view: int, state: Any, scratch: Any
) -> float:
    worth = squashed(total(system, position, view, state), scratch)
    return worth if position.turn == view else -worth


@state_size.register(Windows)
def windows_state_size(system: Windows) -> int:
    return len(system.empty)


@start_state.register(Windows)
def start_windows_state(system: Windows, position: Position, view: int, state: Any) -> None:
    start_indices(system.features, system.empty, position, view, state)


@advance_state.register(Windows)
def advance_windows_state(
    system: Windows, before: Position, after: Position, view: int, old: Any, new: Any
) -> None:
    advance_indices(system.features, before, after, view, old, new)
