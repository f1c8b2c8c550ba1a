"""Retrograde analysis: work out endings from the ends of games back, one ply at a time.

While slices are worked on, the plies of a position only fall, and are never less than the right
ones. A position whose plies equal the level is final. It is then passed on to the positions from
which a quiet move leads to it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from agents.endgame.indexing import (
    Slice,
    count_positions,
    index_to_position,
    material_slices,
    position_to_index,
    slice_size,
    slice_start,
)
from agents.endgame.probe import DRAWN, Tablebase, stored_plies
from checkers_env.bits import borrowed, lsb
from checkers_env.jit import KernelArg, kernel
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


def solve(tables: Tablebase, pieces: int) -> Iterator[int]:
    """Work out all positions of exactly `pieces` pieces, given those of fewer pieces.

    Yield the number of positions of each pair of slices, when it is done.
    """
    rows = np.zeros((MAX_ROWS, ROW_WIDTH), np.int64)
    first = slice_start(tables.indexing, material_slices(pieces)[0])
    tables.plies[first : first + count_positions(pieces)] = DRAWN
    for part in material_slices(pieces):
        turned = Slice(*part[2:], *part[:2])
        if part <= turned:  # quiet moves lead from one to the other and back
            pair = {each: slice_size(each) for each in (part, turned)}
            last = max(initialize_slice(tables, each, count, rows) for each, count in pair.items())
            level = 0
            while level <= last:
                for each, count in pair.items():
                    last = max(last, propagate(tables, each, count, level, rows))
                level += 1
            yield sum(pair.values())


@kernel
def initialize_slice(tables: Tablebase, part: Slice, count: int, rows: KernelArg) -> int:
    """Write the plies of a slice's `count` positions that follow from slices worked out before.

    `rows` is scratch space, int64[MAX_ROWS, 4]. Return the greatest plies written, 0 if none was.
    """
    tables, rows = borrowed(tables), borrowed(rows)
    begin, last = slice_start(tables.indexing, part), 0
    for number in range(begin, begin + count):
        position = index_to_position(tables.indexing, part, number)
        plies = plies_from_successors(tables, position, rows, 0)
        if plies < DRAWN:
            tables.plies[number] = plies
            last = max(last, plies)
    return last


@kernel
def propagate(tables: Tablebase, part: Slice, count: int, level: int, rows: KernelArg) -> int:
    """Pass the positions of a slice with `level` plies on to the positions before them.

    `rows` is scratch space, int64[MAX_ROWS, 4]. Return the greatest plies written, 0 if none was.
    """
    tables, rows = borrowed(tables), borrowed(rows)
    begin, last = slice_start(tables.indexing, part), 0
    for number in range(begin, begin + count):
        if tables.plies[number] != level:
            continue
        end = generate_retractions(rows, index_to_position(tables.indexing, part, number))
        for at in range(end):
            before = successor(rows[at], BLACK)
            earlier = position_to_index(tables.indexing, before)
            if tables.plies[earlier] > level + 1:
                plies = plies_from_successors(tables, before, rows, end) if level & 1 else level + 1
                if plies < tables.plies[earlier]:
                    tables.plies[earlier] = plies
                    last = max(last, plies)
    return last


@kernel
def plies_from_successors(tables: Tablebase, position: Position, rows: KernelArg, end: int) -> int:
    """Return the plies of a position by those of its successors, which `tables` hold.

    Plies are odd for a win of the side to move, even for a loss, DRAWN otherwise. `rows` from
    `end` on are scratch space.
    """
    black, white, kings, side = position
    fastest, slowest = DRAWN, -1
    for at in range(end, generate_successors(rows, end, black, white, kings, side)):
        plies = stored_plies(tables, successor(rows[at], side))
        if plies & 1:  # DRAWN is odd, like the longest of the opponent's wins
            slowest = max(slowest, plies)
        else:
            fastest = min(fastest, plies + 1)
    return fastest if fastest < DRAWN else min(slowest + 1, DRAWN)


@kernel
def generate_retractions(rows: KernelArg, position: Position) -> int:
    """Write the positions before a quiet move of White that crowned no man; return their number.

    In `position`, after the move, Black is to move. `rows`, int64[MAX_ROWS, 4], fill from 0 on.
    """
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
