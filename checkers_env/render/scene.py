"""The scene of a position: shapes that the image, the window and the SVG are drawn from.

A scene is 512 wide and high, a square 64, with x to the right and y downwards. White looks up the
board: square 1 is in the top row, unless the scene is `flipped`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol

from checkers_env.moves import Move, square_to_bit, squares_of

CELL = 64
SIZE = 8 * CELL
RADIUS = 24  # radius of a piece
CROWN = ((-11, 9), (11, 9), (14, -9), (6, -2), (0, -12), (-6, -2), (-14, -9))  # about its centre
SIDES = ("Black", "White")

# Text stands out from its square by 4.5 to 1 and more, a piece by 3 to 1 or by its rim.
LIGHT, DARK, MOVED = "#eedfc3", "#8a6d55", "#c4a042"
SHADOW = "#7a6224"  # shadow of a lifted piece on a MOVED square
NUMBER, NUMBER_ON_MOVED = "#fffaf0", "#2b2208"
DISCS, RIMS = ("#29272b", "#f7f3ea"), ("#7d777b", "#5c4f3d")  # Black's, White's
RINGS, CROWNS = ("#625d61", "#b9ae9b"), ("#dca63a", "#80500a")
ARROW, CASING = "#0b5fa5", "#ffffff"

Point = tuple[float, float]


class Disc(NamedTuple):
    """A filled circle."""

    centre: Point
    radius: float
    colour: str


class Line(NamedTuple):
    """A line from point to point, with round ends and joins."""

    points: tuple[Point, ...]
    width: float
    colour: str


class Area(NamedTuple):
    """A filled polygon."""

    points: tuple[Point, ...]
    colour: str


class Label(NamedTuple):
    """A number, with its lower left corner and the height of its digits."""

    at: Point
    text: str
    height: float
    colour: str


Shape = Disc | Line | Area | Label


class Part(NamedTuple):
    """Shapes that belong together, the lowest first, and a title (none for the board)."""

    title: str
    shapes: tuple[Shape, ...]


class BoardLike(Protocol):
    """The attributes of :class:`checkers_env.Board` that a picture shows."""

    black: int
    white: int
    kings: int
    turn: int
    moves: list[Move]


def build_scene(
    board: BoardLike,
    last: Move | None = None,
    jumping: int | None = None,
    *,
    arrows: Iterable[Move] = (),
    fill: Mapping[int, str] | None = None,
    flipped: bool = False,
) -> list[Part]:
    """Build the scene of a position: parts, the lowest first.

    The squares of the last move are tinted, and small crossed pieces show its captures. A piece
    that is `jumping` on is drawn lifted. `fill` has colours of squares, by number. Raise ValueError
    for a move with a square outside 1 to 32.
    """
    moved = (*last.squares, *last.captured) if last else ()
    return [
        Part("", (Area(_box(0, 0, SIZE), LIGHT),)),
        *(_square(square, square in moved, fill or {}, flipped) for square in range(1, 33)),
        *(_captures(last, board, flipped) if last else ()),
        *_pieces(board, jumping, flipped),
        *(_arrow(move, flipped) for move in arrows),
    ]


def _centre(square: int, flipped: bool) -> Point:
    """Return the middle of a square. Raise ValueError for a square outside 1 to 32."""
    if not 1 <= square <= 32:
        raise ValueError(f"square {square} is not 1 to 32")
    row, place = divmod(square - 1, 4)
    x, y = (2 * place + 1.5 - row % 2) * CELL, (row + 0.5) * CELL
    return (SIZE - x, SIZE - y) if flipped else (x, y)


def _way(move: Move, flipped: bool) -> tuple[Point, ...]:
    if len(move.squares) < 2:
        raise ValueError(f"a move has a start and an end, not the squares {move.squares}")
    return tuple(_centre(square, flipped) for square in move.squares)


def _box(left: float, top: float, size: float) -> tuple[Point, ...]:
    right, bottom = left + size, top + size
    return (left, top), (right, top), (right, bottom), (left, bottom)


def _square(square: int, moved: bool, fill: Mapping[int, str], flipped: bool) -> Part:
    x, y = _centre(square, flipped)
    left, top = x - CELL / 2, y - CELL / 2
    colour, ink = (MOVED, NUMBER_ON_MOVED) if moved else (DARK, NUMBER)
    number = Label((left + 4, top + 12), str(square), 8, ink)
    return Part("", (Area(_box(left, top, CELL), fill.get(square, colour)), number))


def _captures(move: Move, board: BoardLike, flipped: bool) -> Iterator[Part]:
    _way(move, flipped)  # raises for a move that is none
    mover = 0 if board.black >> square_to_bit(move.squares[-1]) & 1 else 1
    for square in move.captured:
        x, y = _centre(square, flipped)
        cross = [Line(((x - 8, y - d), (x + 8, y + d)), 4, DISCS[mover]) for d in (8, -8)]
        rim, disc = Disc((x, y), 19, RIMS[1 - mover]), Disc((x, y), 17.5, DISCS[1 - mover])
        yield Part(f"Captured on {square}", (rim, disc, *cross))


def _pieces(board: BoardLike, jumping: int | None, flipped: bool) -> Iterator[Part]:
    for square in squares_of(board.black | board.white):
        piece = 1 << square_to_bit(square)
        side, king = 1 if board.white & piece else 0, bool(board.kings & piece)
        shapes = _piece(_centre(square, flipped), side, king, square == jumping)
        yield Part(f"{SIDES[side]} {'king' if king else 'man'} on {square}", tuple(shapes))


def _piece(at: Point, side: int, king: bool, lifted: bool) -> Iterator[Shape]:
    x, y = at
    if lifted:
        yield Disc((x - 3, y + 5), RADIUS, SHADOW)
        x, y = x + 3, y - 4
    yield Disc((x, y), RADIUS, RIMS[side])
    yield Disc((x, y), RADIUS - 2, DISCS[side])
    if king:
        yield Area(tuple((x + dx, y + dy) for dx, dy in CROWN), CROWNS[side])
    else:
        yield Disc((x, y), RADIUS - 7, RINGS[side])
        yield Disc((x, y), RADIUS - 8.5, DISCS[side])


def _arrow(move: Move, flipped: bool) -> Part:
    way = _way(move, flipped)
    (before_x, before_y), (x, y) = way[-2:]
    back = math.atan2(before_y - y, before_x - x)
    left, right = ((x + 18 * math.cos(back + d), y + 18 * math.sin(back + d)) for d in (0.6, -0.6))
    shapes: list[Shape] = []
    for width, colour in ((11, CASING), (6, ARROW)):
        shapes += [Line(points, width, colour) for points in (way, (left, (x, y), right))]
        shapes += [Disc(landing, width / 2 + 4, colour) for landing in way[1:-1]]
    return Part(f"Arrow {move}", tuple(shapes))
