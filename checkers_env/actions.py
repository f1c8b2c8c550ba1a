"""Actions: a turn as single steps of one piece, and the kernels that play and list them.

An action is ``(square - 1) * 4 + direction``, the square as the mover sees it: Black sees the
standard numbers, White sees the board turned by 180 degrees (square ``33 - square``). Directions
0-3 are those of :func:`checkers_env.movegen.direction`: forward right, forward left, back left,
back right. A jump has the action of a step in its direction, and a multi-jump is several actions.
"""

from __future__ import annotations

import itertools
from typing import Any

from checkers_env.bits import lsb
from checkers_env.jit import kernel
from checkers_env.movegen import (
    BLACK,
    BLACK_BOARD,
    BOARD,
    KING_ROWS,
    KINGS,
    NO_MOVE,
    PACKED_MOVE,
    SQUARES,
    WHITE_BOARD,
    can_jump,
    direction,
    jumpers,
    shift,
)
from checkers_env.moves import Move, bit_to_square, square_to_bit
from checkers_env.state import PLY, SIDE, end_turn

ACTIONS = 128
ILLEGAL, FULL, AGAIN = -3, -2, -1  # what an action did, where it did not end a turn
_DIRECTIONS = ("forward right", "forward left", "back left", "back right")


def move_to_actions(move: Move, turn: int) -> list[int]:
    """The actions that make up `move` of the side `turn`: one, or one for each jump."""
    bits = [square_to_bit(square if turn == BLACK else 33 - square) for square in move.squares]
    actions = []
    for start, end in itertools.pairwise(bits):
        step = (end - start) // (2 if move.captured else 1)
        index = abs(step) - 4 + (0 if step > 0 else 2)
        actions.append((bit_to_square(start) - 1) * 4 + index)
    return actions


def describe_action(action: int, turn: int) -> str:
    """The action in words, with standard squares: ``"11 forward left (11-16 or 11x20)"``.

    Raises ValueError for an action outside 0-127.
    """
    if not 0 <= action < ACTIONS:
        raise ValueError(f"action {action} is not one of 0 to {ACTIONS - 1}")
    start, step = to_view(SQUARES[action >> 2], turn), direction(action & 3, turn)
    square, ways = bit_to_square(start), []
    for mark, end in (("-", start + step), ("x", start + 2 * step)):
        if end < 0 or not BOARD >> end & 1:
            break
        ways.append(f"{square}{mark}{bit_to_square(end)}")
    return f"{square} {_DIRECTIONS[action & 3]} ({' or '.join(ways) or 'off the board'})"


@kernel
def to_view(bit: int, side: int) -> int:
    """`bit` of the board as `side` sees it (and back again)."""
    return bit if side == BLACK else 34 - bit


@kernel
def legal_origins(pieces: int, game: Any, index: int, capturing: bool) -> int:
    """Those of `pieces` (of the side to move) that can jump, or else step, in direction `index`."""
    back = -direction(index, game[SIDE])
    squares = BOARD & ~(game[BLACK_BOARD] | game[WHITE_BOARD])
    if capturing:
        squares = shift(squares, back) & game[1 - game[SIDE]]
    able = pieces if index < 2 else pieces & game[KINGS]
    return able & shift(squares, back)


@kernel
def movable_pieces(game: Any) -> tuple[int, bool]:
    """The pieces that the side to move may move, and whether they must capture."""
    own, path = game[game[SIDE]], game[PACKED_MOVE]
    if path > NO_MOVE:
        return 1 << (path & 63), True
    return own, can_jump(own, game[1 - game[SIDE]], game[KINGS], game[SIDE])


@kernel
def write_mask(mask: Any, game: Any) -> None:
    """Set the legal actions in `mask`, int8[128] of zeros."""
    pieces, capturing = movable_pieces(game)
    for index in range(4):
        able = legal_origins(pieces, game, index, capturing)
        while able:
            bit = to_view(lsb(able), game[SIDE])
            able &= able - 1
            mask[(bit - bit // 9) * 4 + index] = 1


@kernel
def play_action(game: Any, history: Any, action: int) -> int:
    """Play one action; return AGAIN in the middle of a turn, and the game's status at its end.

    ILLEGAL and FULL (there is no row left in the history) have changed nothing.
    """
    side = game[SIDE]
    pieces, capturing = movable_pieces(game)
    if not 0 <= action < ACTIONS:
        return ILLEGAL
    bit, step = to_view(SQUARES[action >> 2], side), direction(action & 3, side)
    piece = 1 << bit
    if not legal_origins(pieces, game, action & 3, capturing) & piece:
        return ILLEGAL
    if game[PLY] + 1 == len(history):
        return FULL
    captured = shift(piece, step) if capturing else 0
    landed = shift(piece, 2 * step if capturing else step)
    is_king = (game[KINGS] & piece) != 0
    crowned = 0 if is_king else landed & KING_ROWS[side]
    game[side] ^= piece | landed
    game[1 - side] ^= captured
    game[KINGS] = (game[KINGS] & ~captured) ^ (piece | landed if is_king else crowned)
    path = game[PACKED_MOVE] if game[PACKED_MOVE] > NO_MOVE else NO_MOVE << 6 | bit
    game[PACKED_MOVE] = path << 6 | lsb(landed)
    goes_on = capturing and not crowned
    if goes_on and jumpers(landed, game[side], game[1 - side], game[KINGS], side):
        return AGAIN
    return end_turn(game, history, is_king and not capturing)
