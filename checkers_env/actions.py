"""Actions: a turn as single steps of one piece.

An action is ``(square - 1) * 4 + direction``, with the square in the view of the side to move.
Black sees the standard numbers, White the board turned by 180 degrees (square ``33 - square``).
Directions 0-3 are those of :func:`checkers_env.movegen.direction`: forward right, forward left,
back left, back right. A jump has the action of a step in its direction. A multi-jump is several
actions. Kernels take a game and its history as in :mod:`checkers_env.state`.
"""

from __future__ import annotations

import itertools

from checkers_env.bits import lsb
from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import (
    BLACK,
    BLACK_BOARD,
    BOARD,
    KING_ROWS,
    KINGS,
    NO_MOVE,
    PACKED_MOVE,
    SQUARES,
    WHITE,
    WHITE_BOARD,
    can_jump,
    direction,
    jumpers,
    shift,
    to_view,
)
from checkers_env.moves import Move, bit_to_square, square_to_bit
from checkers_env.state import PLY, SIDE, end_turn

ACTIONS = 128
ILLEGAL, FULL, AGAIN = -3, -2, -1  # what an action did, where it did not end a turn
STEPS = (4, 5, -4, -5)  # change of a bit in the mover's view, by direction
_DIRECTIONS = ("forward right", "forward left", "back left", "back right")


def move_to_actions(move: Move | str, turn: int) -> list[int]:
    """Return the actions of a move of side `turn`: one, or one for each jump.

    Text has each square of the move. Raise ValueError for a move that no piece can make.
    """
    check_side(turn)
    move = Move(move) if isinstance(move, str) else move
    if not all(1 <= square <= 32 for square in move.squares):
        raise ValueError(f"no piece moves like {move}: squares are numbered from 1 to 32")
    bits = [square_to_bit(square if turn == BLACK else 33 - square) for square in move.squares]
    actions, length = [], 2 if move.captured else 1
    for start, end in itertools.pairwise(bits):
        step, rest = divmod(end - start, length)
        if step not in STEPS or rest:
            raise ValueError(
                f"no piece moves like {move}: a step leads to a neighbouring square, a jump to the "
                "next one but one"
            )
        actions.append((bit_to_square(start) - 1) * 4 + STEPS.index(step))
    return actions


def describe_action(action: int, turn: int) -> str:
    """Describe an action with standard squares: ``"11 forward left (11-16 or 11x20)"``.

    Raise ValueError for an action outside 0-127, and for another side than BLACK and WHITE.
    """
    check_side(turn)
    if not 0 <= action < ACTIONS:
        raise ValueError(f"action {action} is not one of 0 to {ACTIONS - 1}")
    start, step = to_view(SQUARES[action >> 2], turn), direction(action & 3, turn)
    square, ways = bit_to_square(start), []
    for mark, end in (("-", start + step), ("x", start + 2 * step)):
        if end < 0 or not BOARD >> end & 1:
            break
        ways.append(f"{square}{mark}{bit_to_square(end)}")
    return f"{square} {_DIRECTIONS[action & 3]} ({' or '.join(ways) or 'off the board'})"


def check_side(turn: int) -> None:
    """Raise ValueError for a side that is neither BLACK nor WHITE."""
    if turn not in (BLACK, WHITE):
        raise ValueError(f"turn must be {BLACK} for Black or {WHITE} for White, not {turn!r}")


@kernel
def legal_origins(pieces: int, game: KernelArg, index: int, capturing: bool) -> int:
    """Return those of `pieces` that can jump (else step) in direction `index`."""
    back = -direction(index, game[SIDE])
    squares = BOARD & ~(game[BLACK_BOARD] | game[WHITE_BOARD])
    if capturing:
        squares = shift(squares, back) & game[1 - game[SIDE]]
    able = pieces if index < 2 else pieces & game[KINGS]
    return able & shift(squares, back)


@kernel
def movable_pieces(game: KernelArg) -> tuple[int, bool]:
    """Return the pieces that may move, and whether they must capture."""
    own, packed = game[game[SIDE]], game[PACKED_MOVE]
    if packed > NO_MOVE:
        return 1 << (packed & 63), True
    return own, can_jump(own, game[1 - game[SIDE]], game[KINGS], game[SIDE])


@kernel
def write_mask(mask: KernelArg, game: KernelArg) -> None:
    """Mark the legal actions in `mask`, int8[128]."""
    pieces, capturing = movable_pieces(game)
    right = legal_origins(pieces, game, 0, capturing)
    left = legal_origins(pieces, game, 1, capturing)
    back_left = legal_origins(pieces, game, 2, capturing)
    back_right = legal_origins(pieces, game, 3, capturing)
    for action in range(ACTIONS):
        mask[action] = 0
    able = right | left | back_left | back_right
    while able:
        bit = lsb(able)
        able &= able - 1
        seen = to_view(bit, game[SIDE])
        action = (seen - seen // 9) * 4
        mask[action] = right >> bit & 1
        mask[action + 1] = left >> bit & 1
        mask[action + 2] = back_left >> bit & 1
        mask[action + 3] = back_right >> bit & 1


@kernel
def play_action(game: KernelArg, history: KernelArg, action: int) -> int:
    """Play an action; return AGAIN in the middle of a turn, else the game's status at its end.

    After ILLEGAL, and after FULL (the history has no row left), nothing has changed.
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
    packed = game[PACKED_MOVE] if game[PACKED_MOVE] > NO_MOVE else NO_MOVE << 6 | bit
    game[PACKED_MOVE] = packed << 6 | lsb(landed)
    goes_on = capturing and not crowned
    if goes_on and jumpers(landed, game[side], game[1 - side], game[KINGS], side):
        return AGAIN
    return end_turn(game, history, is_king and not capturing)
