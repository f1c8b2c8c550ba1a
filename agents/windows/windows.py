"""An evaluator that looks at every part of the board through a table of its own.

An n-tuple system (Lucas 2008; Al-Khateeb 2011, chapter 6) with large windows and no feature made by
hand: beside them there is a table by the numbers of men and kings. All is seen from the side to
move, White's board turned by 180 degrees, so that one set of tables serves both colours. There are
four sets, by the number of pieces on the board.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from agents.aligned import aligned
from agents.evaluate import advance_state, evaluate, start_state, state_size
from agents.linear import squashed
from agents.windows.drawing import BACKWARDS, WINDOWS, turned
from checkers_env.bits import lowest, popcount
from checkers_env.jit import kernel
from checkers_env.rules import BLACK, SQUARES, Position

# Digits: the other side's king and man, nothing, one's own man and king. So the other side has the
# digit 4 - d where one has d oneself.
BASE = 5
THEIR_MAN, EMPTY, OWN_MAN = 1, 2, 3

STAGES, PIECES_A_STAGE = 4, 6
MOST = 12  # the table of numbers counts no more pieces of a kind
READINGS = WINDOWS + BACKWARDS
OFFSETS = np.cumsum([0, *(BASE ** len(squares) for squares in WINDOWS)])
WINDOW_COUNT, COUNTS = len(WINDOWS), int(OFFSETS[-1])  # how many; where the other table begins
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
    features, empty = aligned((35, BASE, len(READINGS)), np.int32), np.zeros(len(READINGS))
    places = [frozenset(squares) for squares in WINDOWS]
    for number, squares in enumerate(READINGS):
        powers = BASE ** np.arange(len(squares))[::-1]
        empty[number] = OFFSETS[places.index(frozenset(squares))] + EMPTY * powers.sum()
        for square, power in zip(squares, powers, strict=True):
            features[SQUARES[square - 1], :, number] = (np.arange(BASE) - EMPTY) * power
    partner = [READINGS.index(turned(squares)) for squares in WINDOWS]
    # The other side's digits are 4 - d, and so its index is 4 * powers.sum() less the own one.
    mirror = empty[:WINDOW_COUNT] + empty[partner]
    return Windows(
        table, float(step), features, *(np.array(a, np.int32) for a in (empty, partner, mirror))
    )


@kernel
def digit(position: Position, bit: int, view: int) -> int:
    """What `view` has on `bit`: 0 to 4."""
    own, opponent = position.black, position.white
    if view != BLACK:
        own, opponent = opponent, own
    crowned = position.kings >> bit & 1
    if own >> bit & 1:
        return OWN_MAN + crowned
    return THEIR_MAN - crowned if opponent >> bit & 1 else EMPTY


@kernel
def stage_of(position: Position) -> int:
    """Which set of tables a position is looked up in."""
    pieces = popcount(position.black | position.white)
    return min((pieces - 1) // PIECES_A_STAGE, STAGES - 1)


@kernel
def by_numbers(position: Position) -> int:
    """The entry for the men and kings of the side to move, and for those of the other side."""
    own, opponent = position.black, position.white
    if position.turn != BLACK:
        own, opponent = opponent, own
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
        for i in range(0, WINDOW_COUNT, 4):
            a += table[state[i]]
            b += table[state[i + 1]]
            c += table[state[i + 2]]
            d += table[state[i + 3]]
    else:
        mirror, partner = system.mirror, system.partner
        for i in range(0, WINDOW_COUNT, 4):
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
    state[:] = system.empty
    pieces = position.black | position.white
    while pieces:
        bit = lowest(pieces)
        pieces &= pieces - 1
        row = system.features[bit if view == BLACK else 34 - bit, digit(position, bit, view)]
        for i in range(len(state)):
            state[i] += row[i]


@advance_state.register(Windows)
def advance_windows_state(
    system: Windows, before: Position, after: Position, view: int, old: Any, new: Any
) -> None:
    new[:] = old
    changed = (before.black ^ after.black) | (before.white ^ after.white)
    while changed:
        bit = lowest(changed)
        changed &= changed - 1
        rows = system.features[bit if view == BLACK else 34 - bit]
        plus, minus = rows[digit(after, bit, view)], rows[digit(before, bit, view)]
        for i in range(len(new)):
            new[i] += plus[i] - minus[i]
