"""Replay of written moves in compiled code, a game a call."""

from __future__ import annotations

from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import BLACK_BOARD, KINGS, PACKED_MOVE, WHITE_BOARD, generate_successors

MARK_BITS = 61  # of a written move: its mark is in the bits above


@kernel
def replay(moves: KernelArg, rows: KernelArg, black: int, white: int, kings: int, side: int) -> int:
    """Make written moves from a position, and return how many are legal and decided.

    `moves`, int64, are packed moves with each square, or with start and end alone, and a mark above
    MARK_BITS. Each becomes the move that it writes, negative if another legal move has its ends.
    """
    for ply in range(len(moves)):
        end = generate_successors(rows, 0, black, white, kings, side)
        row, alike = find_row(rows, end, moves[ply] & (1 << MARK_BITS) - 1)
        if row < 0:
            return ply
        black, white, kings = rows[row, BLACK_BOARD], rows[row, WHITE_BOARD], rows[row, KINGS]
        moves[ply] = rows[row, PACKED_MOVE] if alike == 1 else -rows[row, PACKED_MOVE]
        side = 1 - side
    return len(moves)


@kernel
def find_row(rows: KernelArg, end: int, move: int) -> tuple[int, int]:
    """Return the row of a written move, -1 without just one, and how many share its ends."""
    start, row, exact, alike = first_bit(move), -1, -1, 0
    for at in range(end):
        other = rows[at, PACKED_MOVE]
        if other & 63 == move & 63 and first_bit(other) == start:
            row, alike = at, alike + 1
            exact = at if other == move else exact
    if exact < 0 and alike == 1 and move >> 12 == 1:  # start and end alone
        exact = row
    return exact, alike


@kernel
def first_bit(move: int) -> int:
    """Return the bit where a packed move starts."""
    while move >> 12:
        move >>= 6
    return move & 63
