"""Large n-tuple network: every part of the board has a look-up table of its own.

After the n-tuple systems of Lucas (2008) and Al-Khateeb (2011, chapter 6), with larger windows. The
only other feature is a table by the numbers of men and kings. Windows of up to 8 squares see all
pieces; larger ones see men only (3^12 entries, not 5^12).

The network reads the board from the side to move. White's board is turned by 180 degrees, and one
set of tables serves both colours. There are four sets, by the number of pieces on the board.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.evaluator import evaluate
from agents.geometry import rectangles
from agents.ntuple.indices import digit_base, index_features, keep_indices
from agents.ntuple.tuples import MAX_LENGTH, TupleLayout
from agents.simd import tanh
from checkers_env.bits import popcount
from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import Position, own_and_opponent


def rotate(squares: tuple[int, ...]) -> tuple[int, ...]:
    """Return the squares as the other side sees them."""
    return tuple(33 - square for square in squares)


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
STAGES, PIECES_A_STAGE = 4, 6
MAX_COUNT = 12  # the table of piece numbers counts no more pieces of a kind


def digits_of(squares: tuple[int, ...]) -> tuple[int, ...]:
    """Return the digits of a window: all contents, or men only in a large window."""
    return DIGITS if len(squares) <= MAX_LENGTH else MEN_ONLY


READINGS = WINDOWS + BACKWARDS
OFFSETS = np.cumsum([0, *(digit_base(digits_of(window)) ** len(window) for window in WINDOWS)])
WINDOW_COUNT, COUNTS = len(WINDOWS), int(OFFSETS[-1])  # COUNTS: start of the piece numbers' table
IN_CHAINS = WINDOW_COUNT // 4 * 4  # windows that are summed in four chains
SIZE = COUNTS + (MAX_COUNT + 1) ** 4  # entries of a stage
TERMS = WINDOW_COUNT + 1  # entries that a position sums
LANES = -(-len(READINGS) // 16) * 16  # width of a state: whole vectors are added more quickly


def _index_parts() -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the contributions to each index, and the indices of the empty board."""
    places = [frozenset(squares) for squares in WINDOWS]
    offsets = [int(OFFSETS[places.index(frozenset(squares))]) for squares in READINGS]
    return index_features(READINGS, offsets, [*map(digits_of, READINGS)], LANES)


INDEX_PARTS = _index_parts()
# The index of a window for the other side is MIRROR minus that of the reading PARTNER. The digits
# of the two sides add up to 4 (or 2), so the indices always add up to those of the empty board.
PARTNER = np.array([READINGS.index(rotate(squares)) for squares in WINDOWS], np.uint32)
MIRROR = INDEX_PARTS[1][:WINDOW_COUNT] + INDEX_PARTS[1][PARTNER]


class TreeStrapNetwork(NamedTuple):
    """Evaluator: tables for the kernels. Use :func:`treestrap_network` to make one.

    The state of a position holds the index of each reading for the viewing side.
    """

    table: NDArray[Any]  # (STAGES, SIZE), float32 or int16
    step: float  # factor of the entries
    features: NDArray[np.int32]  # (35, 5, LANES): index contribution of a content on a bit
    empty: NDArray[np.int32]  # (LANES,): the indices of the empty board


def treestrap_network(
    table: NDArray[np.float32] | NDArray[np.int16] | None = None, step: float = 1.0
) -> TreeStrapNetwork:
    """Make a network of tables, float32 or int16[STAGES, SIZE]; zeros (float32) by default.

    Each stage has the tables of the windows, the first square of a window being the highest digit,
    then the table of piece numbers. float32 is used without a copy, so that learning can write to
    it. int16 is half as large and faster to read. Raise ValueError for another shape or dtype.
    """
    if table is None:
        table = np.zeros((STAGES, SIZE), np.float32)
    if table.shape != (STAGES, SIZE):
        raise ValueError(f"the tables are {STAGES} x {SIZE} entries, not {table.shape}")
    if table.dtype not in (np.float32, np.int16):
        raise ValueError(f"the tables are float32 or int16, not {table.dtype}")
    table = np.require(table, None, ["C", "W"])
    return TreeStrapNetwork(table, float(step), *INDEX_PARTS)


@kernel
def stage_of(position: Position) -> int:
    """Return the stage of a position: the set of tables it reads."""
    pieces = popcount(position.black | position.white)
    return min((pieces - 1) // PIECES_A_STAGE, STAGES - 1)


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


@kernel
def write_entries(position: Position, view: int, state: KernelArg, entries: KernelArg) -> None:
    """Write the entries that a position sums in the tables of its stage: the first TERMS."""
    for i in range(WINDOW_COUNT):
        entries[i] = entry_of(state, i, position.turn == view)
    entries[WINDOW_COUNT] = count_entry(position)


@evaluate.register(TreeStrapNetwork)
def evaluate_treestrap(
    network: TreeStrapNetwork, position: Position, view: int, state: KernelArg, scratch: KernelArg
) -> float:
    table = network.table[stage_of(position)]
    zero = table[0] - table[0]
    a, b, c, d = table[count_entry(position)] + zero, zero, zero, zero  # added in a fixed order
    own = position.turn == view
    for i in range(IN_CHAINS, WINDOW_COUNT):
        a += table[entry_of(state, i, own)]
    for i in range(0, IN_CHAINS, 4):
        a += table[entry_of(state, i, own)]
        b += table[entry_of(state, i + 1, own)]
        c += table[entry_of(state, i + 2, own)]
        d += table[entry_of(state, i + 3, own)]
    worth = tanh(np.float32((a + b) + (c + d)) * np.float32(network.step))
    return worth if own else -worth


keep_indices(TreeStrapNetwork)
