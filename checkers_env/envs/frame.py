"""Frames of an environment: text for a terminal, and an image."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from checkers_env.board import Board
from checkers_env.movegen import BLACK_BOARD, KINGS, NO_MOVE, PACKED_MOVE, WHITE_BOARD
from checkers_env.moves import Move, unpack_move
from checkers_env.render.raster import Image, paint
from checkers_env.render.scene import SIDES, build_scene
from checkers_env.state import PLY, SIDE


class View(NamedTuple):
    """A moment of a game, which may be in the middle of a multi-jump."""

    board: Board
    last: Move | None = None
    """The last move, as far as it has been made."""
    jumping: int | None = None
    """The square of a piece that jumps on."""


def view(game: NDArray[np.int64], history: NDArray[np.int64]) -> View:
    """Return the view of a game in kernels.

    Parameters
    ----------
    game
        State of the game (see :mod:`checkers_env.state`).
    history
        Its positions and moves, a row each.
    """
    now = game.tolist()
    board = Board.from_position(now[BLACK_BOARD], now[WHITE_BOARD], now[KINGS], now[SIDE])
    jumps_on = now[PACKED_MOVE] > NO_MOVE
    packed = now[PACKED_MOVE] if jumps_on else int(history[now[PLY], PACKED_MOVE])
    if packed == NO_MOVE:
        return View(board)
    last = unpack_move(packed)
    return View(board, last, last.squares[-1] if jumps_on else None)


def title(view: View) -> str:
    """Return a heading: ``Checkers: Black to move``."""
    return f"Checkers: {SIDES[view.board.turn]} to move"


def ansi(view: View) -> str:
    """Return the position as text."""
    if view.jumping is None:
        return str(view.board)
    return f"{view.board}: the piece on {view.jumping} jumps on"


def rgb_array(view: View) -> Image:
    """Paint the position and the last move: uint8[512, 512, 3], square 1 in the top row."""
    return paint(build_scene(*view))
