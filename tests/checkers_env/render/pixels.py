"""Pixels of a board's picture: the squares of an image, and two positions."""

import itertools
from typing import Any

from checkers_env import Board, Move
from checkers_env.render import scene
from checkers_env.render.raster import Image, paint

POSITION = "W:W18,24,K31:B12,K3"
DOUBLE_JUMP = "B:W6,15,32:B1,12"
CELLS = {  # the row and column of each square, as White sees the board
    square: (row, 2 * place + (row + 1) % 2)
    for square, (row, place) in enumerate(itertools.product(range(8), range(4)), 1)
}


def cell(image: Image, square: int, flipped: bool = False) -> Image:
    row, column = CELLS[33 - square if flipped else square]
    return image[row * 64 : row * 64 + 64, column * 64 : column * 64 + 64]


def number(image: Image, square: int, flipped: bool = False) -> Image:
    return cell(image, square, flipped)[3:14, 3:19]


def rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:], 16)


def has(image: Image, colour: str) -> bool:
    return bool((image == rgb(colour)).all(axis=-1).any())


def ground(image: Image, square: int) -> str:
    """Return the colour of a square, at its lower left corner."""
    colours = (scene.DARK, scene.MOVED)
    return next(colour for colour in colours if tuple(cell(image, square)[-1, 0]) == rgb(colour))


def moved(image: Image) -> set[int]:
    return {square for square in CELLS if ground(image, square) == scene.MOVED}


def image_of(fen: str, *arguments: Any, **options: Any) -> Image:
    return paint(scene.build_scene(Board(fen), *arguments, **options))


def after_double_jump() -> tuple[Board, Move]:
    board = Board(DOUBLE_JUMP)
    board.push("1x19")
    return board, board.moves[-1]
