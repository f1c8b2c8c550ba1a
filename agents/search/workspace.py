"""The memory that a search works in, allocated once for a player and a thread."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from agents.evaluator import SCRATCH_WIDTH
from agents.simd import aligned_zeros
from checkers_env.movegen import ROW_WIDTH

MAX_DEPTH = 64
PLIES = MAX_DEPTH + 26  # captures can make a line at most 24 plies longer
ROWS = 1 << 14
TABLE_BITS = 12
PAST = 256  # plies of a game that are kept
STATE_WIDTH = 96

ENTRY = np.dtype(
    [
        ("black", "i8"),
        ("white", "i8"),
        ("kings", "i8"),
        ("tag", "i8"),
        ("value", "f4"),
        ("bound", "i1"),
        ("depth", "i1"),
        ("best", "i2"),
    ]
)
FRAME = np.dtype(
    [
        ("black", "i8"),
        ("white", "i8"),
        ("kings", "i8"),
        ("begin", "i8"),
        ("end", "i8"),
        ("current", "i8"),
        ("best", "i8"),
        ("remaining", "i8"),
        ("floor", "f8"),
        ("alpha", "f8"),
        ("beta", "f8"),
        ("value", "f8"),
        ("searched", "i4"),  # successors, the current one included
        ("tries", "i4"),  # of the current one: searches that did not settle what it is worth
        ("reduced", "i4"),  # plies that the current one is searched less deep
        ("quiet", "i4"),  # plies before this position in which no man moved and nothing was taken
    ]
)


class Workspace(NamedTuple):
    """Arrays for the kernels of :mod:`agents.search.alphabeta`; made by :func:`workspace` only."""

    rows: Any  # int64[ROWS, 4]: successors of the positions on the current line
    scores: Any  # int64[ROWS]: the greatest is searched next; -1 when searched
    frames: Any  # FRAME[PLIES]: the current line
    states: Any  # int32[PLIES, 2, STATE_WIDTH]: evaluator states by ply and viewing side
    scratch: Any  # float32[256]
    table: Any  # ENTRY[a power of 2]
    killers: Any  # int64[PLIES]: the move that last cut off at this ply
    history: Any  # int64[2, 4096]: how often a move cut off, by side and squares
    counts: Any  # int64[3]: positions visited, positions evaluated, owners of the table so far
    stop: Any  # int64[1]: set by another thread to end a search
    past: Any  # int64[PAST, 2]: both boards before each of the game's last plies, oldest first
    quiet: Any  # int64[1]: how many of them there are: those that may come back
    begun: Any  # int64[1]: positions that had been visited when the search began


def workspace(table_bits: int = TABLE_BITS) -> Workspace:
    """Fresh memory for one player in one thread, with a table of 2 to `table_bits` positions."""
    return Workspace(
        np.zeros((ROWS, ROW_WIDTH), np.int64),
        np.zeros(ROWS, np.int64),
        np.zeros(PLIES, FRAME),
        aligned_zeros((PLIES, 2, STATE_WIDTH), np.int32),
        aligned_zeros((2 * SCRATCH_WIDTH,), np.float32),
        np.zeros(1 << table_bits, ENTRY),
        np.zeros(PLIES, np.int64),
        np.zeros((2, 4096), np.int64),
        np.zeros(3, np.int64),
        np.zeros(1, np.int64),
        np.zeros((PAST, 2), np.int64),
        np.zeros(1, np.int64),
        np.zeros(1, np.int64),
    )


def table_bits(player: Any) -> int:
    """How large a table a player wants."""
    bits: int = getattr(getattr(player, "style", None), "table_bits", TABLE_BITS)
    return bits


def forget(ws: Workspace) -> None:
    """Clear what earlier searches have left, so that the next ones do not depend on them."""
    ws.table["tag"] = 0
    ws.killers.fill(0)
    ws.history.fill(0)
    ws.quiet.fill(0)
