"""A move of a whole turn, its notation, and the numbering of the squares it names."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from checkers_env.movegen import NO_MOVE

MALFORMED = "{!r} is not a move: write 11-15, 22x15 for a capture, or each square as in 22x15x8"
_MOVE = re.compile(r"[0-9]{1,9}(-[0-9]{1,9}|(x[0-9]{1,9})+)")


@dataclass(frozen=True, slots=True)
class Move:
    """A turn of one piece: the squares it stands on, start first, and the squares it captures."""

    squares: tuple[int, ...]
    captured: tuple[int, ...] = ()
    ambiguous: bool = field(default=False, compare=False)
    """Whether another legal move has the same start and end; then `str` gives the full path."""

    def __str__(self) -> str:
        squares = self.squares if self.ambiguous else (self.squares[0], self.squares[-1])
        return ("x" if self.captured else "-").join(map(str, squares))


def bit_of(square: int) -> int:
    """The bit of a square 1-32 on a 35-bit board."""
    return (square - 1) + (square - 1) // 8


def square_of(bit: int) -> int:
    """The square 1-32 of a bit of a 35-bit board."""
    return bit - bit // 9 + 1


@functools.cache
def decode(path: int, ambiguous: bool) -> Move:
    """The move of a path as :func:`checkers_env.movegen.write_successors` packs it."""
    bits: list[int] = []
    while path != NO_MOVE:
        bits.insert(0, path & 63)
        path >>= 6
    captured = [square_of((a + b) // 2) for a, b in pairwise(bits) if abs(b - a) > 5]
    return Move(tuple(map(square_of, bits)), tuple(captured), ambiguous)


def encode(move: Move) -> int:
    """The path of a move: what :func:`decode` reads."""
    path = NO_MOVE
    for square in move.squares:
        path = path << 6 | bit_of(square)
    return path


def decode_all(paths: Sequence[int]) -> tuple[Move, ...]:
    """The moves of all the paths of a position, those marked that share start and end."""
    found = [decode(path, False) for path in paths]
    if len(found) < 2 or not found[0].captured:
        return tuple(found)
    ends = [(move.squares[0], move.squares[-1]) for move in found]
    return tuple(decode(path, ends.count(end) > 1) for path, end in zip(paths, ends, strict=True))


def find(text: str, legal: Sequence[Move]) -> Move:
    """The move among `legal` that `text` writes, by its start and end or by its full path.

    Raises ValueError for text that is no move, or fits none or several of the legal moves.
    """
    squares = squares_in(text)
    fitting = [move for move in legal if ("x" in text) == bool(move.captured)]
    exact = [move for move in fitting if move.squares == squares]
    ends = [move for move in fitting if (move.squares[0], move.squares[-1]) == squares]
    found = exact or ends
    if len(found) == 1:
        return found[0]
    if found:
        raise ValueError(f"{text!r} is ambiguous: write {' or '.join(map(str, found))}")
    raise ValueError(f"{text!r} is illegal: the legal moves are {listed(legal)}")


def squares_in(text: str) -> tuple[int, ...]:
    """The squares that the text of a move names, in order. Raises ValueError for other text."""
    if not _MOVE.fullmatch(text):
        raise ValueError(MALFORMED.format(text))
    squares = tuple(int(number) for number in re.split("[-x]", text))
    for square in squares:
        if not 1 <= square <= 32:
            raise ValueError(f"{text!r} names square {square}: squares are 1 to 32")
    return squares


def listed(moves: Sequence[Move]) -> str:
    """Moves as a phrase: ``9-13, 9-14``, or ``none``."""
    return ", ".join(map(str, moves)) or "none"
