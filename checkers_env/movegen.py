"""Legal moves on bitboards.

A position is three boards and the side to move: ``black``, ``white`` and ``kings`` (of both sides).
A board is an integer with Samuel's 35 bits: squares 1-32 in order, with a ghost bit after every
second row (8, 17, 26). Each of the four directions is one shift, and nothing wraps round.

Moves are generated from the view of the side to move: "up" is towards its king row. Black scans
from square 1 and White from square 32. A position and its colour-flipped image (turned by 180
degrees) therefore have the same moves in the same order.

`own`, `opponent` and `kings` are the boards of `side`, of its opponent, and of the kings of both.
`rows` are successors, int64, shape (rows, 4): black, white, kings and the packed move that led
there. Functions that append to them take the first free row, `end`, and return the new end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from checkers_env.bits import lsb, msb, popcount
from checkers_env.jit import KernelArg, kernel

BLACK, WHITE = 0, 1
SQUARES = np.array([square + square // 8 for square in range(32)])  # square - 1 -> bit
BOARD = 0x7FBFDFEFF
KING_ROWS = (0x780000000, 0x00000000F)  # where the men of Black, of White are crowned
START_BLACK, START_WHITE = 0x0000001EFF, 0x7FBC00000  # squares 1-12 and 21-32
NO_MOVE = 1  # a move without squares: each square adds six bits to the right of this one
BLACK_BOARD, WHITE_BOARD, KINGS, PACKED_MOVE = 0, 1, 2, 3  # columns of a row of successors
ROW_WIDTH = 4
MAX_ROWS = 512  # room for the successors of any position (the most found: 68) and unfinished routes


class Position(NamedTuple):
    """Three 35-bit boards and the side to move."""

    black: int
    white: int
    kings: int
    turn: int


@kernel
def shift(board: int, step: int) -> int:
    """Move every piece of `board` by `step` bits (4, 5, -4 or -5)."""
    return board << step if step > 0 else board >> -step


@kernel
def direction(index: int, side: int) -> int:
    """Return the bit step of direction 0-3: 0 and 1 lead a man of `side` forward, 2 and 3 back."""
    step = 4 + (index & 1)
    return step if (index >> 1) == side else -step


@kernel
def own_and_opponent(black: int, white: int, side: int) -> tuple[int, int]:
    """Return the boards of `side` and of its opponent."""
    return (black, white) if side == BLACK else (white, black)


@kernel
def to_view(bit: int, side: int) -> int:
    """Turn a bit of the board into the view of `side`, or back; White sees it turned round."""
    return bit if side == BLACK else 34 - bit


@kernel
def first_piece(pieces: int, side: int) -> int:
    """Return the bit of the piece that comes first in the order of `side`."""
    return lsb(pieces) if side == BLACK else msb(pieces)


@kernel
def steppers(own: int, opponent: int, kings: int, side: int) -> tuple[int, int, int, int]:
    """Return the pieces that can step to an empty square, by steps of 4, 5, -4 and -5 bits."""
    empty = BOARD & ~(own | opponent)
    up = own if side == BLACK else own & kings
    down = own if side == WHITE else own & kings
    return up & empty >> 4, up & empty >> 5, down & empty << 4, down & empty << 5


@kernel
def jumpers_by_direction(
    pieces: int, own: int, opponent: int, kings: int, side: int
) -> tuple[int, int, int, int]:
    """Return those of `pieces` that can jump, by jumps of 8, 10, -8 and -10 bits."""
    empty = BOARD & ~(own | opponent)
    up = pieces if side == BLACK else pieces & kings
    down = pieces if side == WHITE else pieces & kings
    a, b = up & (opponent & empty >> 4) >> 4, up & (opponent & empty >> 5) >> 5
    c, d = down & (opponent & empty << 4) << 4, down & (opponent & empty << 5) << 5
    return a, b, c, d


@kernel
def jumpers(pieces: int, own: int, opponent: int, kings: int, side: int) -> int:
    """Return those of `pieces` that can jump in any direction, as a 35-bit board."""
    a, b, c, d = jumpers_by_direction(pieces, own, opponent, kings, side)
    return a | b | c | d


@kernel
def can_jump(own: int, opponent: int, kings: int, side: int) -> bool:
    """Return whether `side` has a capture, and so must make one."""
    return jumpers(own, own, opponent, kings, side) != 0


@kernel
def can_move(own: int, opponent: int, kings: int, side: int) -> bool:
    """Return whether `side` has a move: without one it has lost."""
    a, b, c, d = steppers(own, opponent, kings, side)
    return (a | b | c | d) != 0 or can_jump(own, opponent, kings, side)


@kernel
def must_jump(position: Position) -> bool:
    """Return whether the side to move has a capture, and so must make one."""
    own, opponent = own_and_opponent(position.black, position.white, position.turn)
    return can_jump(own, opponent, position.kings, position.turn)


@kernel
def has_move(position: Position) -> bool:
    """Return whether the side to move can move: otherwise it has lost."""
    own, opponent = own_and_opponent(position.black, position.white, position.turn)
    return can_move(own, opponent, position.kings, position.turn)


@kernel
def count_steps(own: int, opponent: int, kings: int, side: int) -> int:
    """Count the simple moves of `side`, whether or not it can jump."""
    a, b, c, d = steppers(own, opponent, kings, side)
    return popcount(a) + popcount(b) + popcount(c) + popcount(d)


@kernel
def successor(row: KernelArg, mover: int) -> Position:
    """Return the position in a row of successors, after a move by `mover`."""
    return Position(row[BLACK_BOARD], row[WHITE_BOARD], row[KINGS], 1 - mover)


@kernel
def write_row(
    rows: KernelArg, at: int, own: int, opponent: int, kings: int, side: int, move: int
) -> None:
    """Write a position and the packed move that led to it."""
    rows[at, BLACK_BOARD] = own if side == BLACK else opponent
    rows[at, WHITE_BOARD] = opponent if side == BLACK else own
    rows[at, KINGS] = kings
    rows[at, PACKED_MOVE] = move


@kernel
def generate_steps(
    rows: KernelArg, end: int, own: int, opponent: int, kings: int, side: int
) -> int:
    """Append the successors by simple moves."""
    empty = BOARD & ~(own | opponent)
    for index in range(4):
        step = direction(index, side)
        pieces = (own if index < 2 else own & kings) & shift(empty, -step)
        while pieces:
            bit = first_piece(pieces, side)
            piece = 1 << bit
            pieces ^= piece
            moved = piece | shift(piece, step)
            crowned = moved if kings & piece else moved & KING_ROWS[side]
            move = (NO_MOVE << 6 | bit) << 6 | (bit + step)
            write_row(rows, end, own ^ moved, opponent, kings ^ crowned, side, move)
            end += 1
    return end


@kernel
def append_jumps(
    rows: KernelArg, end: int, own: int, opponent: int, kings: int, side: int, move: int
) -> int:
    """Append the positions after one more jump of a route; `move` is the route so far, packed."""
    bit = move & 63
    piece = 1 << bit
    empty = BOARD & ~(own | opponent)
    for index in range(4 if kings & piece else 2):
        step = direction(index, side)
        captured = shift(piece, step) & opponent
        landed = shift(captured, step) & empty
        if landed:
            moved = piece | landed
            crowned = moved if kings & piece else landed & KING_ROWS[side]
            kings_now = (kings & ~captured) ^ crowned
            move_now = move << 6 | (bit + 2 * step)
            write_row(rows, end, own ^ moved, opponent ^ captured, kings_now, side, move_now)
            end += 1
    return end


@kernel
def generate_captures(
    rows: KernelArg, end: int, own: int, opponent: int, kings: int, side: int
) -> int:
    """Append the successors by captures, each route once.

    Unfinished routes wait in the rows behind the finished ones, shortest first.
    """
    pieces = jumpers(own, own, opponent, kings, side)
    while pieces:
        bit = first_piece(pieces, side)
        piece = 1 << bit
        pieces ^= piece
        ends_route = 0 if kings & piece else KING_ROWS[side]
        at = end
        waiting = append_jumps(rows, end, own, opponent, kings, side, NO_MOVE << 6 | bit)
        while at < waiting:
            own_now, opponent_now = rows[at, side], rows[at, 1 - side]
            kings_now, move = rows[at, KINGS], rows[at, PACKED_MOVE]
            landed = 1 << (move & 63) & ~ends_route
            at += 1
            if jumpers(landed, own_now, opponent_now, kings_now, side):
                waiting = append_jumps(rows, waiting, own_now, opponent_now, kings_now, side, move)
            else:
                write_row(rows, end, own_now, opponent_now, kings_now, side, move)
                end += 1
    return end


@kernel
def generate_successors(
    rows: KernelArg, end: int, black: int, white: int, kings: int, side: int
) -> int:
    """Append every legal successor of a position."""
    if side == BLACK:  # half of the code is left out where the side is a constant
        return append_successors(rows, end, black, white, kings, BLACK)
    return append_successors(rows, end, white, black, kings, WHITE)


@kernel
def append_successors(
    rows: KernelArg, end: int, own: int, opponent: int, kings: int, side: int
) -> int:
    """Append every legal successor, by captures if there are any."""
    if can_jump(own, opponent, kings, side):
        return generate_captures(rows, end, own, opponent, kings, side)
    return generate_steps(rows, end, own, opponent, kings, side)


@kernel
def count_successors(rows: KernelArg, end: int, side: int) -> int:
    """Count the legal moves of many positions together, by vector instructions on whole boards.

    Only the moves of a position where some piece can jump twice are generated. The MAX_ROWS rows
    from `end` on are overwritten.
    """
    count, jumps_again = 0, np.empty(end, np.int64)
    for row in range(end):  # vectorised, as it has no branches and does not write to `rows`
        own, opponent, kings = rows[row, side], rows[row, 1 - side], rows[row, KINGS]
        a, b, c, d = jumpers_by_direction(own, own, opponent, kings, side)
        landed = (a << 8 | b << 10 | c >> 8 | d >> 10) & ~KING_ROWS[side]
        crowned = (a & kings) << 8 | (b & kings) << 10 | (c & kings) >> 8 | (d & kings) >> 10
        twice = jumpers(landed | crowned, own, opponent, crowned, side)
        jumps = popcount(a) + popcount(b) + popcount(c) + popcount(d)
        moves = jumps if jumps else count_steps(own, opponent, kings, side)
        count += 0 if twice else moves
        jumps_again[row] = twice
    for row in range(end):
        if jumps_again[row]:
            black, white, kings = rows[row, BLACK_BOARD], rows[row, WHITE_BOARD], rows[row, KINGS]
            count += generate_successors(rows, end, black, white, kings, side) - end
    return count
