"""Preallocated arrays of a search, for one player in one thread."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.evaluator import SCRATCH_SIZE
from agents.simd import aligned_zeros
from checkers_env.movegen import ROW_WIDTH

MAX_DEPTH = 64
UNLIMITED = 1_000_000_000  # nodes, simulations or plies, when something else is the limit
PLIES = MAX_DEPTH + 26  # captures can make a line at most 24 plies longer
ROWS = 1 << 14
TABLE_BITS = 12
PAST = 256  # most positions of a game in a workspace
STATE_WIDTH = 528
KNOWN_MOVES = 1 << 12
VISITED, EVALUATED, NAMESPACES, PLAYER = range(4)  # indices into `counts`

ENTRY = np.dtype(  # 32 bytes: the two slots of a position are one line of the processor's cache
    [
        ("black", "i8"),  # boards of 35 bits; above them the tag, in two halves
        ("white", "i8"),
        ("kings", "i8"),
        ("value", "f4"),
        ("bound", "i1"),
        ("depth", "i1"),
        ("best", "i2"),
    ]
)
KNOWN_MOVE = np.dtype(
    [
        ("black", "i8"),  # as in ENTRY; the tag is the number of the player, and the turn
        ("white", "i8"),
        ("kings", "i8"),
        ("move", "i8"),  # packed
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
        ("floor", "f8"),  # alpha at the start
        ("alpha", "f8"),
        ("beta", "f8"),
        ("value", "f8"),
        ("parent", "i4"),  # ply of the frame above, and of the one below
        ("child", "i4"),
        ("searched", "i4"),  # successors, the current one included
        ("state", "i2"),  # ply of the last evaluator state on the line
        ("tries", "i2"),  # searches of the current successor that were not final
        ("reduced", "i4"),  # plies the current successor is reduced by; negative if it may cut off
        ("reversible_plies", "i4"),  # plies before this position without a man's move or a capture
    ]
)


class Workspace(NamedTuple):
    """Arrays for the kernels of :mod:`agents.search.alphabeta`; made by :func:`workspace` only."""

    rows: NDArray[np.int64]  # int64[ROWS, 4]: successors of the positions on the current line
    # int64[ROWS]: the order of the moves, highest first, no two equal; -1 for a searched row.
    scores: NDArray[np.int64]
    frames: NDArray[np.void]  # FRAME[PLIES]: the current line
    # int32[PLIES, 2, STATE_WIDTH]: evaluator states by ply and viewing side.
    states: NDArray[np.int32]
    scratch: NDArray[np.float32]  # float32[SCRATCH_SIZE], aligned to 64 bytes
    table: NDArray[np.void]  # ENTRY[a power of 2]: transposition table
    killers: NDArray[np.int64]  # int64[PLIES]: the move that last cut off at a ply
    # int64[2, 1024]: history scores, by side and the last two squares of a move.
    history: NDArray[np.int64]
    # int64[4]: so far VISITED positions, EVALUATED positions, and NAMESPACES of the table; then the
    # number of the PLAYER whose moves are known, or 0.
    counts: NDArray[np.int64]
    # KNOWN_MOVE[KNOWN_MOVES]: moves that players chose in earlier games.
    known_moves: NDArray[np.void]
    stop: NDArray[np.int64]  # int64[1]: another thread sets it to end a search
    # int64[PAST + PLIES, 2]: boards of the game's last positions, oldest first, then of the line.
    position_history: NDArray[np.int64]
    # int64[1]: how many positions of the game there are, all of which can be repeated.
    reversible_plies: NDArray[np.int64]
    start_nodes: NDArray[np.int64]  # int64[1]: positions visited before the search began


def workspace(table_bits: int = TABLE_BITS) -> Workspace:
    """Return a new workspace whose table has two to the power of `table_bits` entries."""
    return Workspace(
        np.zeros((ROWS, ROW_WIDTH), np.int64),
        np.zeros(ROWS, np.int64),
        np.zeros(PLIES, FRAME),
        aligned_zeros((PLIES, 2, STATE_WIDTH), np.int32),
        aligned_zeros((SCRATCH_SIZE,), np.float32),
        new_table(table_bits),
        np.zeros(PLIES, np.int64),
        np.zeros((2, 1024), np.int64),
        np.zeros(4, np.int64),
        np.zeros(KNOWN_MOVES, KNOWN_MOVE),
        np.zeros(1, np.int64),
        np.zeros((PAST + PLIES, 2), np.int64),
        np.zeros(1, np.int64),
        np.zeros(1, np.int64),
    )


def new_table(bits: int) -> NDArray[np.void]:
    """Return an empty transposition table of two to the power of `bits` entries."""
    return aligned_zeros((1 << bits,), ENTRY)


def table_bits(player: Any) -> int:
    """Return the size of the transposition table that a player asks for, in bits."""
    return int(getattr(getattr(player, "style", None), "table_bits", TABLE_BITS))


def clear(ws: Workspace) -> None:
    """Clear the results of earlier searches, so that later searches do not depend on them."""
    ws.table["black"] = ws.table["white"] = 0
    ws.killers.fill(0)
    ws.history.fill(0)
    ws.reversible_plies.fill(0)
