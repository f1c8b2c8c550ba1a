"""Observations: planes of the board in an agent's view, and its legal actions."""

from __future__ import annotations

from checkers_env.actions import to_view, write_mask
from checkers_env.bits import lsb
from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import KINGS, NO_MOVE, PACKED_MOVE
from checkers_env.state import (
    MAX_MOVES,
    NO_PROGRESS,
    PLY,
    REPETITION,
    REPETITIONS,
    REVERSIBLE_PLIES,
)

PLANES = 8


@kernel
def write_observation(
    planes: KernelArg, mask: KernelArg, game: KernelArg, viewer: int, to_move: bool
) -> None:
    """Fill an agent's observation, which :mod:`checkers_env.envs.aec` describes.

    Parameters
    ----------
    planes
        float32, shape (8, 8, 8).
    mask
        int8, shape (128,): zeros unless `to_move`.
    game
        A game as in :mod:`checkers_env.state`.
    viewer
        The side of the agent.
    to_move
        Whether the agent is to move.
    """
    planes[:] = 0
    mask[:] = 0
    for index in range(2):
        pieces = game[viewer ^ index]
        write_pieces(planes[2 * index], pieces & ~game[KINGS], viewer)
        write_pieces(planes[2 * index + 1], pieces & game[KINGS], viewer)
    if game[PACKED_MOVE] > NO_MOVE:
        write_pieces(planes[4], 1 << (game[PACKED_MOVE] & 63), viewer)
    if game[MAX_MOVES]:
        planes[5] = game[PLY] / (2 * game[MAX_MOVES])
    if game[NO_PROGRESS]:
        planes[6] = game[REVERSIBLE_PLIES] / (2 * game[NO_PROGRESS])
    if game[REPETITION]:
        planes[7] = game[REPETITIONS] / (game[REPETITION] - 1)
    if to_move:
        write_mask(mask, game)


@kernel
def write_pieces(plane: KernelArg, pieces: int, viewer: int) -> None:
    """Set the squares of some pieces in a plane.

    Parameters
    ----------
    plane
        float32, shape (8, 8), zeros on entry.
    pieces
        35-bit board.
    viewer
        Side whose view it is, BLACK or WHITE.
    """
    while pieces:
        bit = to_view(lsb(pieces), viewer)
        pieces &= pieces - 1
        square = bit - bit // 9
        row, column = square >> 2, square & 3
        plane[7 - row, 6 - 2 * column + (row & 1)] = 1
