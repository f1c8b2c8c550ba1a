"""Positions as a letter for each of the squares 1-32, as several programs write them.

Which letters is an argument: those of an empty square, of Black's men and kings, and of White's men
and kings, as in ``".bBwW"``.
"""

from __future__ import annotations

from checkers_env import fen
from checkers_env.moves import bit_of
from checkers_env.rules import Position

SQUARES = range(1, 33)


def write_letters(position: Position, letters: str) -> str:
    """The 32 letters of a position; they do not tell the side to move."""
    black, white, kings, _ = position
    text = ""
    for square in SQUARES:
        piece = 1 << bit_of(square)
        man = 1 if black & piece else 3 if white & piece else 0
        text += letters[man + (kings & piece != 0)]
    return text


def read_letters(text: str, letters: str, turn: int) -> Position:
    """The position that 32 letters stand for, with a side to move. Raises ValueError."""
    if len(text) != len(SQUARES) or set(text) - set(letters):
        raise ValueError(f"{text!r} is not 32 letters, each of them one of {letters}")
    boards = dict.fromkeys(letters, 0)
    for square, letter in zip(SQUARES, text, strict=True):
        boards[letter] |= 1 << bit_of(square)
    _, men, kings, their_men, their_kings = boards.values()
    position = Position(men | kings, their_men | their_kings, kings | their_kings, turn)
    fen.check(position)
    return position
