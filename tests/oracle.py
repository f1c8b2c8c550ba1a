"""English draughts written slowly and obviously: the oracle of the kernels.

A position is a side to move, "b" or "w", and the pieces: squares 1-32 to "b", "w", "B" or "W".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
    fields: list[list[int]],
    hidden: tuple[int, ...],
    genome: np.ndarray,
    king: float,
    side: str,
    pieces: Pieces,
) -> float:
    """Return a network's output in float64: each node's weights, then its bias."""
    weights = iter(genome.tolist())
    seen = inputs(pieces, side, king)
    nodes = []
    for field in fields:
        total = sum(next(weights) * seen[square] for square in field)
        nodes.append(np.tanh(total + next(weights)))
    return output(nodes, hidden, weights, sum(seen.values()))


def sums_network(
    fields: list[list[int]],
    hidden: tuple[int, ...],
    genome: np.ndarray,
    king: float,
    side: str,
    pieces: Pieces,
) -> float:
    """Return the output of a network over sums, Black's pieces positive; negated for White."""
    seen = inputs(pieces, "b", king)
    sums = [sum(seen[square] for square in field) for field in fields]
    found = output(sums, hidden, iter(genome.tolist()), sum(seen.values()))
    return found if side == "b" else -found


def output(
    nodes: list[float], hidden: tuple[int, ...], weights: Iterator[float], difference: float
) -> float:
    """Return the output of the layers behind some nodes, with the piece difference."""
    for layer, width in enumerate(hidden):
        sums = []
        for _ in range(width):
            total = sum(next(weights) * node for node in nodes)
            sums.append(total + next(weights))
        last = layer == len(hidden) - 1
        nodes = sums if last else [np.tanh(total) for total in sums]
    return float(np.tanh(nodes[0] + next(weights) * difference))
