"""Perft: count the lines of a given length, the standard check of a move generator."""

from __future__ import annotations

import numpy as np

from checkers_env.board import Board
from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import (
    BLACK_BOARD,
    KINGS,
    MAX_ROWS,
    ROW_WIDTH,
    WHITE_BOARD,
    count_successors,
    generate_successors,
)


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
    rows = np.empty((MAX_ROWS * depth, ROW_WIDTH), np.int64)
    return int(count_leaves(rows, board.black, board.white, board.kings, board.turn, depth))


@kernel
def count_leaves(rows: KernelArg, black: int, white: int, kings: int, side: int, depth: int) -> int:
    """Count the lines of exactly `depth` plies, the last ply in bulk.

    Parameters
    ----------
    rows
        int64, shape (rows, 4): scratch space.
    black, white, kings, side
        The position, as in :class:`checkers_env.movegen.Position`.
    depth
        Plies, 1 or more.

    Returns
    -------
    Number of lines.
    """
    if depth == 1:
        return count_successors(rows, 0, black, white, kings, side)
    at, end = np.zeros(depth, np.int64), np.zeros(depth, np.int64)
    ply, leaves = 1, 0
    end[1] = generate_successors(rows, 0, black, white, kings, side)
    while ply > 0:
        if at[ply] == end[ply]:
            ply -= 1
            continue
        row = rows[at[ply]]
        black, white, kings = row[BLACK_BOARD], row[WHITE_BOARD], row[KINGS]
        mover = side ^ (ply & 1)
        at[ply] += 1
        if ply == depth - 1:
            leaves += count_successors(rows, end[ply], black, white, kings, mover)
        else:
            at[ply + 1] = end[ply]
            end[ply + 1] = generate_successors(rows, end[ply], black, white, kings, mover)
            ply += 1
    return leaves
