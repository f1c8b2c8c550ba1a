"""Perft: count the lines of a given length, the standard check of a move generator."""

from __future__ import annotations

import numpy as np

from checkers_env.board import Board
from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import (
    BLACK_BOARD,
    KINGS,
    MAX_ROWS,
    NO_MOVE,
    ROW_WIDTH,
    WHITE_BOARD,
    count_successors,
    generate_successors,
)

GATHERED = 4 * MAX_ROWS  # positions before the last ply: as many as stay in the nearest caches


def perft(board: Board, depth: int) -> int:
    """Count the lines of exactly `depth` plies from a position, every capture route on its own.

    Draw rules are not applied.

    Raises
    ------
    ValueError
        For a negative depth.
    """
    if depth < 0:
        raise ValueError(f"perft counts lines of 0 plies or more, not of {depth}")
    if depth == 0:
        return 1
    rows = np.empty((1 + MAX_ROWS * depth, ROW_WIDTH), np.int64)
    rows[0] = board.black, board.white, board.kings, NO_MOVE
    gathered = np.empty((GATHERED, ROW_WIDTH), np.int64)
    return int(count_leaves(rows, gathered, board.turn, depth))


@kernel
def count_leaves(rows: KernelArg, gathered: KernelArg, side: int, depth: int) -> int:
    """Count the lines of exactly `depth` plies.

    The positions before the last ply are gathered, and the moves of many are counted together.
    Row 0 of `rows` is the position; the others are scratch space, as `gathered` is.
    """
    if depth == 1:
        return count_successors(rows, 1, side)
    at, end = np.zeros(depth - 1, np.int64), np.ones(depth - 1, np.int64)
    ply, last, leaves = 0, 0, 0
    while ply >= 0:
        if at[ply] == end[ply]:
            ply -= 1
            continue
        row = rows[at[ply]]
        black, white, kings = row[BLACK_BOARD], row[WHITE_BOARD], row[KINGS]
        mover = side ^ (ply & 1)
        at[ply] += 1
        if ply == depth - 2:
            last = generate_successors(gathered, last, black, white, kings, mover)
            if last + 2 * MAX_ROWS > len(gathered):  # room for a position, and to count jumps
                leaves += count_successors(gathered, last, 1 - mover)
                last = 0
        else:
            at[ply + 1] = end[ply]
            end[ply + 1] = generate_successors(rows, end[ply], black, white, kings, mover)
            ply += 1
    return leaves + count_successors(gathered, last, side ^ (depth - 1 & 1))
