"""Retrograde analysis: endings worked out from the ends of games back, one ply at a time.

While slices are worked on, the plies written for a position only fall, and are never less than the
true ones. Positions whose plies equal the level are final; at that level they are passed on to the
positions from which a quiet move leads to them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from agents.endgame.indexing import Slice, first_of, number_of, position_of, size, slices, total
from agents.endgame.probe import NEVER, Endgame, known
from checkers_env.bits import borrowed, lsb
from checkers_env.jit import kernel
from checkers_env.movegen import (
    BLACK,
    BOARD,
    MAX_ROWS,
    NO_MOVE,
    ROW_WIDTH,
    WHITE,
    Position,
    can_jump,
    direction,
    generate_successors,
    shift,
    successor,
    write_row,
)


def solve(tables: Endgame, pieces: int) -> Iterator[int]:
    """Work out all positions of exactly `pieces` pieces, those of fewer pieces being known.

    Yields, after each pair of slices, how many positions it has.
    """
    rows = np.zeros((MAX_ROWS, ROW_WIDTH), np.int64)
    first = first_of(tables.numbering, slices(pieces)[0])
    tables.plies[first : first + total(pieces)] = NEVER
    for part in slices(pieces):
        turned = Slice(*part[2:], *part[:2])
        if part <= turned:  # quiet moves lead from one to the other and back
            pair = {each: size(each) for each in (part, turned)}
            last = max(look_ahead(tables, each, count, rows) for each, count in pair.items())
            level = 0
            while level <= last:
                for each, count in pair.items():
                    last = max(last, look_back(tables, each, count, level, rows))
                level += 1
            yield sum(pair.values())


@kernel
def look_ahead(tables: Any, part: Slice, count: int, rows: Any) -> int:
    """Write what is known of each position of a slice by its successors.

    Returns the greatest number of plies written (0 if none was).
    """
    tables, rows = borrowed(tables), borrowed(rows)
    begin, last = first_of(tables.numbering, part), 0
    for number in range(begin, begin + count):
        plies = by_successors(tables, position_of(tables.numbering, part, number), rows, 0)
        if plies < NEVER:
            tables.plies[number] = plies
            last = max(last, plies)
    return last


@kernel
def look_back(tables: Any, part: Slice, count: int, level: int, rows: Any) -> int:
    """Pass the positions of a slice that are `level` plies from the end on to those before them.

    Returns the greatest number of plies written (0 if none was).
    """
    tables, rows = borrowed(tables), borrowed(rows)
    begin, last = first_of(tables.numbering, part), 0
    for number in range(begin, begin + count):
        if tables.plies[number] != level:
            continue
        end = write_retractions(rows, position_of(tables.numbering, part, number))
        for at in range(end):
            before = successor(rows[at], BLACK)
            earlier = number_of(tables.numbering, before)
            if tables.plies[earlier] > level + 1:
                plies = by_successors(tables, before, rows, end) if level & 1 else level + 1
                if plies < tables.plies[earlier]:
                    tables.plies[earlier] = plies
                    last = max(last, plies)
    return last


@kernel
def by_successors(tables: Any, position: Position, rows: Any, end: int) -> int:
    """The plies of a position by what is known of its successors, which go to rows `end` on."""
    black, white, kings, side = position
    fastest, slowest = NEVER, -1
    for at in range(end, generate_successors(rows, end, black, white, kings, side)):
        plies = known(tables, successor(rows[at], side))
        if plies & 1:  # NEVER is odd: like the longest of the opponent's wins
            slowest = max(slowest, plies)
        else:
            fastest = min(fastest, plies + 1)
    return fastest if fastest < NEVER else min(slowest + 1, NEVER)


@kernel
def write_retractions(rows: Any, position: Position) -> int:
    """Write the positions before a quiet move of White that crowned no man; return their number."""
    black, white, kings, _ = position
    empty, end = BOARD & ~(black | white), 0
    for index in range(4):
        step = direction(index, WHITE)
        pieces = (white if index < 2 else white & kings) & shift(empty, step)
        while pieces:
            piece = 1 << lsb(pieces)
            pieces ^= piece
            moved = piece | shift(piece, -step)
            white_then, kings_then = white ^ moved, kings ^ moved if kings & piece else kings
            if not can_jump(white_then, black, kings_then, WHITE):
                write_row(rows, end, white_then, black, kings_then, WHITE, NO_MOVE)
                end += 1
    return end
