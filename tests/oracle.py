"""English draughts written slowly and obviously: the oracle of the kernels.

A position is a side to move, "b" or "w", and the pieces: squares 1-32 to "b", "w", "B" or "W".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

Pieces = dict[int, str]
Cell = tuple[int, int]

KING_ROW = {"b": 7, "w": 0}
FORWARD = {"b": 1, "w": -1}
OTHER = {"b": "w", "w": "b"}


class Turn(NamedTuple):
    """A legal turn: the squares stood on, the squares captured, and the pieces afterwards."""

    squares: tuple[int, ...]
    captured: tuple[int, ...]
    after: Pieces


def cell(square: int) -> Cell:
    """Return row and column, both 0-7; square 1 is in the top row, second column."""
    row, place = divmod(square - 1, 4)
    return row, 2 * place + (1 if row % 2 == 0 else 0)


SQUARE_AT = {cell(square): square for square in range(1, 33)}


def legal_turns(side: str, pieces: Pieces) -> list[Turn]:
    """Return every legal turn: each capture route, or else the simple moves."""
    own = [square for square, piece in pieces.items() if piece.lower() == side]
    captures = [turn for square in own for turn in _captures(pieces, square)]
    return captures or [turn for square in own for turn in _simple_moves(pieces, square)]


def perft(side: str, pieces: Pieces, depth: int) -> int:
    """Count the lines of `depth` turns."""
    if depth == 0:
        return 1
    return sum(perft(OTHER[side], turn.after, depth - 1) for turn in legal_turns(side, pieces))


def _neighbours(square: int, piece: str, distance: int) -> list[int | None]:
    """Return the diagonal squares at a distance in a piece's directions, None off the board."""
    row, column = cell(square)
    rows = (1, -1) if piece.isupper() else (FORWARD[piece],)
    return [
        SQUARE_AT.get((row + distance * down, column + distance * right))
        for down in rows
        for right in (1, -1)
    ]


def _simple_moves(pieces: Pieces, start: int) -> list[Turn]:
    turns = []
    for end in _neighbours(start, pieces[start], 1):
        if end is not None and end not in pieces:
            turns.append(Turn((start, end), (), _moved(pieces, start, end)))
    return turns


def _captures(pieces: Pieces, start: int) -> list[Turn]:
    piece = pieces[start]
    turns = []
    for over, end in zip(_neighbours(start, piece, 1), _neighbours(start, piece, 2), strict=True):
        if over is None or end is None or end in pieces or over not in pieces:
            continue
        if pieces[over].lower() == piece.lower():
            continue
        after = _moved(pieces, start, end)
        del after[over]
        just_crowned = after[end] != piece
        further = [] if just_crowned else _captures(after, end)
        for turn in further:
            turns.append(Turn((start, *turn.squares), (over, *turn.captured), turn.after))
        if not further:
            turns.append(Turn((start, end), (over,), after))
    return turns


def _moved(pieces: Pieces, start: int, end: int) -> Pieces:
    after = dict(pieces)
    piece = after.pop(start)
    crowned = cell(end)[0] == KING_ROW[piece.lower()]
    after[end] = piece.upper() if crowned else piece
    return after


def read_fen(fen: str) -> tuple[str, Pieces]:
    """Return the position of a plain FEN such as W:W18,24,K31:B12,K3."""
    side, *sections = fen.split(":")
    pieces = {}
    for section in sections:
        colour = section[0].lower()
        for item in filter(None, section[1:].split(",")):
            crowned = item.startswith("K")
            pieces[int(item.removeprefix("K"))] = colour.upper() if crowned else colour
    return side.lower(), pieces


def write_fen(side: str, pieces: Pieces) -> str:
    """Return the plain FEN of a position, squares in ascending order."""
    lists = {"w": [], "b": []}
    for square, piece in sorted(pieces.items()):
        lists[piece.lower()].append(("K" if piece.isupper() else "") + str(square))
    return f"{side.upper()}:W{','.join(lists['w'])}:B{','.join(lists['b'])}"


def random_position(rng: np.random.Generator) -> tuple[str, Pieces]:
    """Return up to 12 pieces of each colour anywhere, with a random number of kings."""
    black, white = rng.integers(0, 13, 2)
    kings = rng.choice([0.0, 0.3, 1.0])
    squares = [int(square) for square in rng.permutation(32)[: black + white] + 1]
    pieces = {}
    for square, colour in zip(squares, "b" * black + "w" * white, strict=True):
        crowned = rng.random() < kings or cell(square)[0] == KING_ROW[colour]
        pieces[square] = colour.upper() if crowned else colour
    return str(rng.choice(["b", "w"])), pieces


def minimax(
    side: str,
    pieces: Pieces,
    depth: int,
    value: Callable[[str, Pieces], float],
    judge: str | None = None,
) -> float:
    """The value for the side to move: every line to `depth` turns, and on while it must capture.

    A leaf is worth ``value(judge, pieces)`` to the judge, who is the side to move there if None.
    """
    turns = legal_turns(side, pieces)
    if not turns:
        return -1.0
    if depth <= 0 and not turns[0].captured:
        seen = value(judge or side, pieces)
        return seen if judge in (None, side) else -seen
    return max(-minimax(OTHER[side], turn.after, depth - 1, value, judge) for turn in turns)


def subsquares() -> list[list[int]]:
    """Return the playable squares of each sub-square, 3x3 to 8x8, row by row."""
    found = []
    for size in range(3, 9):
        for top in range(9 - size):
            for left in range(9 - size):
                inside = [
                    square
                    for square in range(1, 33)
                    if 0 <= cell(square)[0] - top < size and 0 <= cell(square)[1] - left < size
                ]
                found.append(inside)
    return found


def inputs(pieces: Pieces, side: str, king: float) -> dict[int, float]:
    """Return the input of `side` on each square, 1-32 from its own end of the board."""
    seen = dict.fromkeys(range(1, 33), 0.0)
    for square, piece in pieces.items():
        worth = king if piece.isupper() else 1.0
        own = piece.lower() == side
        seen[square if side == "b" else 33 - square] = worth if own else -worth
    return seen


def network(
    name: str,
    genome: np.ndarray,
    king: float,
    side: str,
    pieces: Pieces,
    silent: int | None = None,
) -> tuple[list[list[float]], float, float]:
    """Return the values of each layer of an architecture, and the sum at its output for `side`.

    The last number is the piece difference's part of the sum. The node `silent` of the first layer
    is 0.
    """
    by_colour, is_flat = name.startswith("nguyen"), name.startswith("blondie24-1999")
    seen = inputs(pieces, "b" if by_colour else side, king)
    weights = iter(genome.tolist())
    if by_colour:
        layers = [[sum(seen[square] for square in field) for field in subsquares()]]
    else:
        sums = []
        for field in [list(range(1, 33))] * 40 if is_flat else subsquares():
            total = sum(next(weights) * seen[square] for square in field)
            sums.append(total + next(weights))
        layers = [list(np.tanh(sums))]
    if silent is not None:
        layers[0][silent] = 0.0
    slope = 0.5 if name.endswith("logistic") else 1.0  # 2 / (1 + e^-x) - 1 is tanh(x / 2)
    for width in (10, 1) if is_flat else (40, 10, 1):
        sums = []
        for _ in range(width):
            total = sum(next(weights) * node for node in layers[-1])
            sums.append(slope * (total + next(weights)))
        layers.append(sums if width == 1 else list(np.tanh(sums)))
    difference = slope * next(weights) * sum(seen.values())
    assert next(weights, None) is None
    sign = -1.0 if by_colour and side == "w" else 1.0
    if name.endswith("unsaturated"):  # the sum is divided by the most that it can be
        sign /= np.abs(genome[-12:-1]).sum() + 12 * max(king, 1.0) * abs(genome[-1])
    return layers[:-1], sign * (layers[-1][0] + difference), sign * difference


def network_value(name: str, genome: np.ndarray, king: float, side: str, pieces: Pieces) -> float:
    """Return the value of an architecture's network for `side`."""
    return float(np.tanh(network(name, genome, king, side, pieces)[1]))
