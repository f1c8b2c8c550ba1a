"""Observations: planes of the board in an agent's view, and its legal actions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from checkers_env.actions import ACTIONS, AGAIN, play_action, write_mask
from checkers_env.board import Board
from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import BLACK, KINGS, NO_MOVE, PACKED_MOVE, WHITE
from checkers_env.state import (
    MAX_MOVES,
    NO_PROGRESS,
    ONGOING,
    PLY,
    REPETITION,
    REPETITIONS,
    REVERSIBLE_PLIES,
    SIDE,
    status,
)

PLANES = 8


def _viewed_rows() -> NDArray[np.float32]:
    """Return what a viewer sees of four squares of a row: float32, shape (2, 2, 16, 8).

    The indices are the viewer, whether the row is odd, the bits of the squares, and the column.
    """
    rows = np.zeros((2, 2, 16, 8), np.float32)
    for odd, bits, square in np.ndindex(2, 16, 4):
        rows[BLACK, odd, bits, 6 - 2 * square + odd] = bits >> square & 1
    rows[WHITE] = rows[BLACK, :, :, ::-1]
    return rows


VIEWED_ROWS = _viewed_rows()


def observe(board: Board) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    """Observe a board as the environments show it to the side to move.

    Parameters
    ----------
    board
        Any board, also in the middle of a multi-jump that was played by actions.

    Returns
    -------
    planes
        float32, shape (8, 8, 8).
    mask
        The legal actions, int8, shape (128,); zeros after the end of the game.
    """
    planes, mask = np.empty((PLANES, 8, 8), np.float32), np.empty(ACTIONS, np.int8)
    game = board.to_array()
    write_observation(planes, mask, game, board.turn, status(game) == ONGOING)
    return planes, mask


@kernel
def write_observation(
    planes: KernelArg, mask: KernelArg, game: KernelArg, viewer: int, to_move: bool
) -> None:
    """Fill an agent's observation, which :mod:`checkers_env.envs.aec` describes.

    `planes` are float32[8, 8, 8]; `mask` is int8[128], zeros unless the agent is `to_move`.
    """
    for index in range(2):
        pieces = game[viewer ^ index]
        write_pieces(planes[2 * index], pieces & ~game[KINGS], viewer)
        write_pieces(planes[2 * index + 1], pieces & game[KINGS], viewer)
    packed = game[PACKED_MOVE]
    write_pieces(planes[4], 1 << (packed & 63) if packed > NO_MOVE else 0, viewer)
    write_share(planes[5], game[PLY], 2 * game[MAX_MOVES])
    write_share(planes[6], game[REVERSIBLE_PLIES], 2 * game[NO_PROGRESS])
    write_share(planes[7], game[REPETITIONS], game[REPETITION] - 1)
    if to_move:
        write_mask(mask, game)
    else:
        mask[:] = 0


@kernel
def play_and_observe(
    game: KernelArg, history: KernelArg, action: int, planes: KernelArg, mask: KernelArg
) -> int:
    """Play an action and fill the observation of the side that is to move then.

    Return as :func:`checkers_env.actions.play_action`; an action that is not played fills nothing.
    """
    event = play_action(game, history, action)
    if event >= AGAIN:
        write_observation(planes, mask, game, game[SIDE], event <= ONGOING)
    return event


@kernel
def write_share(plane: KernelArg, count: int, limit: int) -> None:
    """Write on every square how much of a limit is used up; 0 where it is below 1: off."""
    share = np.float32(count / limit if limit > 0 else 0.0)
    for square in range(plane.size):
        plane.flat[square] = share


@kernel
def write_pieces(plane: KernelArg, pieces: int, viewer: int) -> None:
    """Set the squares of some pieces in a plane, and clear the others."""
    for row in range(8):
        bits = pieces >> (4 * row + row // 2) & 15
        seen = 7 - row if viewer == BLACK else row
        for column in range(8):
            plane[seen, column] = VIEWED_ROWS[viewer, row & 1, bits, column]
