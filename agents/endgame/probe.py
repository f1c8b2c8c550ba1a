"""Looking an ending up: who wins, and how long it takes."""

from __future__ import annotations

from typing import Any, NamedTuple

from agents.endgame.indexing import Numbering, number_of
from checkers_env.bits import popcount
from checkers_env.board import Board
from checkers_env.jit import kernel
from checkers_env.movegen import BLACK, Position

NEVER = 255  # as if the end were infinitely far: the longest win takes less than half of that
UNKNOWN = -1


class Endgame(NamedTuple):
    """Tables for the kernels; made by :func:`agents.endgame.tables.endgame` only."""

    numbering: Numbering
    plies: Any  # uint8[positions]: how long the game lasts, by the number of the position


class Ending(NamedTuple):
    """What comes of a position: +1, 0 or -1 for the side to move, and in how many plies."""

    value: int
    plies: int | None


def look_up(tables: Endgame, board: Board) -> Ending | None:
    """What comes of a board's position, its draw rules aside; None if it has too many pieces."""
    plies = probe(tables, board.position)
    if plies == UNKNOWN:
        return None
    if plies == NEVER:
        return Ending(0, None)
    return Ending(1 if plies & 1 else -1, plies)


@kernel
def probe(tables: Any, position: Position) -> int:
    """How many plies the game lasts when the winner hastens and the loser delays.

    Even where the side to move loses (0: it has no move), odd where it wins; NEVER where neither
    side can force a win, UNKNOWN where there are more pieces than the tables have.
    """
    if popcount(position.black | position.white) > tables.numbering.pieces:
        return UNKNOWN
    return known(tables, position)


@kernel
def known(tables: Any, position: Position) -> int:
    """What :func:`probe` says, for a position that has not too many pieces."""
    if position.black == 0 or position.white == 0:
        own = position.black if position.turn == BLACK else position.white
        return 1 if own else 0
    return int(tables.plies[number_of(tables.numbering, position)])
