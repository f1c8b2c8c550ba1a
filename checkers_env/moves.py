"""A move of a whole turn, its notation, and the numbering of squares."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from checkers_env.movegen import BOARD, NO_MOVE

MALFORMED = "{!r} is not a move: write 11-15, 22x15 for a capture, or each square as in 22x15x8"
MARK = r"\s*(?:[-xX:\u00d7\u2010-\u2015\u2212]>?|\u2192|to)\s*"  # between two squares of a move
_CAPTURE = re.compile("[xX:\u00d7]")
_MOVE = re.compile(rf"[0-9]{{1,9}}(?:{MARK}[0-9]{{1,9}})+")


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Move:
    """A turn of one piece: its squares, start first, and the squares it captures.

    Parameters
    ----------
    squares
        The squares; or text with each square, such as ``"11-15"`` or ``"22x15x8"``, which says
        what is captured.
    captured
        Squares of captured pieces, in order.
    ambiguous
        Whether another legal move has the same start and end; then `str` gives the full path.

    Raises
    ------
    ValueError
        For text that is no move, and for a jump whose landing squares the text leaves out.

    Examples
    --------
    >>> Move((22, 15, 8), (18, 11))
    Move('22x15x8')
    """

    squares: tuple[int, ...]
    captured: tuple[int, ...] = ()
    ambiguous: bool = field(default=False, compare=False)

    def __init__(
        self,
        squares: tuple[int, ...] | str,
        captured: tuple[int, ...] = (),
        ambiguous: bool = False,
    ) -> None:
        if isinstance(squares, str):
            text, squares = squares, parse_squares(squares)
            captured = _jumped(text, squares) if _CAPTURE.search(text) else captured
        object.__setattr__(self, "squares", squares)
        object.__setattr__(self, "captured", captured)
        object.__setattr__(self, "ambiguous", ambiguous)

    def __str__(self) -> str:
        squares = self.squares if self.ambiguous else (self.squares[0], self.squares[-1])
        return ("x" if self.captured else "-").join(map(str, squares))

    def __repr__(self) -> str:
        with contextlib.suppress(ValueError, TypeError):  # of a stranger's move with odd squares
            text = ("x" if self.captured else "-").join(map(str, self.squares))
            if Move(text) == self:
                return f"Move({text!r})"
        return f"Move({self.squares!r}, {self.captured!r})"


def _jumped(text: str, squares: tuple[int, ...]) -> tuple[int, ...]:
    """Return the captured squares of a jump's text."""
    bits = [square_to_bit(square) for square in squares]
    if any(abs(b - a) not in (8, 10) or not BOARD >> (a + b) // 2 & 1 for a, b in pairwise(bits)):
        raise ValueError(f"{text!r} leaves out a square of the jump: write each, as in 22x15x8")
    return tuple(bit_to_square((a + b) // 2) for a, b in pairwise(bits))


def square_to_bit(square: int) -> int:
    """Return the bit of a square 1-32 on a 35-bit board."""
    return (square - 1) + (square - 1) // 8


def bit_to_square(bit: int) -> int:
    """Return the square 1-32 of a bit of a 35-bit board."""
    return bit - bit // 9 + 1


def squares_of(board: int) -> list[int]:
    """Return the squares of a 35-bit board, in ascending order."""
    return [square for square in range(1, 33) if board >> square_to_bit(square) & 1]


@functools.cache
def unpack_move(packed: int) -> Move:
    """Return the move that `generate_successors` packed; a negative one is ambiguous."""
    bits, route = list[int](), abs(packed)
    while route > NO_MOVE:
        bits.insert(0, route & 63)
        route >>= 6
    captured = [bit_to_square((a + b) // 2) for a, b in pairwise(bits) if abs(b - a) > 5]
    return Move(tuple(map(bit_to_square, bits)), tuple(captured), packed < 0)


def pack_move(move: Move) -> int:
    """Return a move as one number: a leading 1, and six bits for each square it stands on."""
    packed = NO_MOVE
    for square in move.squares:
        packed = packed << 6 | square_to_bit(square)
    return packed


def unpack_moves(packed: Sequence[int]) -> tuple[Move, ...]:
    """Return all moves of a position; mark those that share start and end as ambiguous."""
    moves = tuple(unpack_move(move) for move in packed)
    if len(moves) < 2 or not moves[0].captured:
        return moves
    ends = [(move.squares[0], move.squares[-1]) for move in moves]
    return tuple(
        unpack_move(-move if ends.count(end) > 1 else move)
        for move, end in zip(packed, ends, strict=True)
    )


def find_move(text: str, legal: Sequence[Move]) -> Move:
    """Return the one move among `legal` that `text` writes."""
    found = find_moves(text, legal)
    if len(found) == 1:
        return found[0]
    if found:
        raise ValueError(f"{text!r} is ambiguous: write {' or '.join(map(str, found))}")
    raise ValueError(f"{text!r} is illegal: the legal moves are {format_moves(legal)}")


def find_moves(text: str, legal: Sequence[Move]) -> list[Move]:
    """Return the moves among `legal` with a text's full path, or else with its start and end.

    Whether a move is a capture follows from the position, not from the mark in the text.
    """
    squares = parse_squares(text)
    exact = [move for move in legal if move.squares == squares]
    return exact or [move for move in legal if (move.squares[0], move.squares[-1]) == squares]


def parse_squares(text: str) -> tuple[int, ...]:
    """Return the squares of a move's text, in order. Raise ValueError for other text."""
    if not _MOVE.fullmatch(text.strip()):
        raise ValueError(MALFORMED.format(text))
    squares = tuple(int(number) for number in re.split("[^0-9]+", text.strip()))
    for square in squares:
        if not 1 <= square <= 32:
            raise ValueError(f"{text!r} names square {square}: squares are 1 to 32")
    return squares


def format_moves(moves: Sequence[Move]) -> str:
    """Join moves: ``9-13, 9-14``, or ``none``."""
    return ", ".join(map(str, moves)) or "none"
