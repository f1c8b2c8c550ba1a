"""Pictures of a position: text for a terminal, and an image drawn with numpy alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from checkers_env.board import Board
from checkers_env.moves import bit_of

CELL = 64  # pixels a square
LIGHT, DARK, LIFTED = (238, 223, 195), (124, 99, 80), (196, 160, 66)
DISCS = ((46, 44, 48), (244, 240, 230))  # Black's, White's
RIMS = ((120, 114, 118), (150, 138, 120))
CROWN = (206, 152, 42)

Image = NDArray[np.uint8]


def ansi(board: Board, jumping: int | None = None) -> str:
    """The position as text; `jumping` is the square of a piece in the middle of a multi-jump."""
    return str(board) if jumping is None else f"{board}: the piece on {jumping} jumps on"


def rgb_array(board: Board, jumping: int | None = None) -> Image:
    """The position as uint8[512, 512, 3], square 1 in the top row: White looks up the board."""
    image = np.empty((8 * CELL, 8 * CELL, 3), np.uint8)
    for row in range(8):
        for column in range(8):
            cell = np.full((CELL, CELL, 3), LIGHT, float)
            if (row + column) % 2:
                square = 4 * row + column // 2 + 1
                cell[:] = LIFTED if square == jumping else DARK
                _draw_piece(cell, board, 1 << bit_of(square))
            top, left = row * CELL, column * CELL
            image[top : top + CELL, left : left + CELL] = cell.round()
    return image


def _draw_piece(cell: NDArray[Any], board: Board, piece: int) -> None:
    if not (board.black | board.white) & piece:
        return
    side = 1 if board.white & piece else 0
    y, x = (np.indices((CELL, CELL)) + 0.5) / CELL * 2 - 1
    distance = np.hypot(x, y)
    _paint(cell, 0.80 - distance, RIMS[side])
    _paint(cell, 0.74 - distance, DISCS[side])
    _paint(cell, 0.03 - abs(distance - 0.58), RIMS[side])
    if board.kings & piece:
        _paint(cell, _inside_crown(x, y), CROWN)


def _inside_crown(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    """How far a point is inside a crown of three points (negative outside)."""
    points = abs((x / 0.4 * 1.5 + 0.5) % 1 - 0.5) * 2  # 0 at a tip, 1 in a gap
    top = -0.32 + 0.3 * points
    return np.minimum.reduce([y - top, 0.28 - y, 0.4 - abs(x)])


def _paint(cell: NDArray[Any], inside: NDArray[Any], colour: tuple[int, int, int]) -> None:
    """Lay a colour over the points that are `inside` (in half cells), with smooth edges."""
    cover = np.clip(inside * CELL / 2 + 0.5, 0, 1)[..., None]
    cell += cover * (np.array(colour) - cell)
