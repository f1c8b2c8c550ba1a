"""Endgame tablebase: the arrays, and how kernels and boards look positions up."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.endgame.indexing import Indexing, position_to_index
from agents.evaluator import NO_HIT
from checkers_env.bits import popcount
from checkers_env.board import Board
from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import Position, own_and_opponent, successor

DRAWN = 255  # as if the end were infinitely far: the longest win takes less than half of that
_LONGEST = 1000  # plies: more than any ending takes


class Tablebase(NamedTuple):
    """Endgame tables as kernels take them; see :func:`agents.endgame.tables.load_tablebase`."""

    indexing: Indexing
    plies: NDArray[np.uint8]  # how long the game lasts, by the index of the position


class NoTablebase(NamedTuple):
    """No endgame tables: a search with it is compiled without them."""

    pieces: int = 0


NO_TABLEBASE = NoTablebase()


class EndgameResult(NamedTuple):
    """Result of perfect play."""

    value: int  # +1, 0 or -1 for the side to move
    plies: int | None  # when the winner hastens and the loser delays; None for a draw


def probe_board(tables: Tablebase, board: Board) -> EndgameResult | None:
    """Return the result of a board's position, its draw rules aside; None for too many pieces."""
    plies = probe(tables, board.position)
    if plies == NO_HIT:
        return None
    if plies == DRAWN:
        return EndgameResult(0, None)
    return EndgameResult(1 if plies & 1 else -1, plies)


@kernel
def probe(tables: Tablebase, position: Position) -> int:
    """Return how many plies the game lasts when the winner hastens and the loser delays.

    The number is even where the side to move loses (0: it has no move) and odd where it wins. It is
    DRAWN where neither side can force a win, and NO_HIT for more pieces than the tables have.
    """
    if popcount(position.black | position.white) > tables.indexing.pieces:
        return NO_HIT
    return stored_plies(tables, position)


@kernel
def stored_plies(tables: Tablebase, position: Position) -> int:
    """Return what :func:`probe` does, for a position of at most ``tables.indexing.pieces``."""
    if position.black == 0 or position.white == 0:
        own, _ = own_and_opponent(position.black, position.white, position.turn)
        return 1 if own else 0
    return int(tables.plies[position_to_index(tables.indexing, position)])


@kernel
def keep_best_moves(tables: Tablebase, position: Position, rows: KernelArg, count: int) -> int:
    """Move the best of the `count` successors to the front, in their order; return their number.

    `rows` are the successors of the position, int64[:, 4].
    """
    best, kept = -2 * _LONGEST, 0
    for at in range(count):
        plies, score = stored_plies(tables, successor(rows[at], position.turn)), 0
        if plies != DRAWN:
            score = plies - _LONGEST if plies & 1 else _LONGEST - plies
        if score > best:
            best, kept = score, 0
        if score == best:
            for column in range(rows.shape[1]):
                rows[kept, column], rows[at, column] = rows[at, column], rows[kept, column]
            kept += 1
    return kept
