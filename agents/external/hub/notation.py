"""Notation of lines, positions and moves in the Hub protocol (version 2).

Source: ``protocol.txt`` of Fabien Letouzey's Scan 3.0. Hub was made for 10x10 draughts and
does not define English draughts. The dialect ``english`` is:

* A position is the side to move, ``B`` or ``W``, and a letter for each of the squares 1-32: ``b w``
  men, ``B W`` kings, ``e`` empty. Black has 1-12 at the start and moves first.
* A step is ``11-15``. A capture names its start, its end and the captured squares in any order:
  ``15x22x18``, ``6x22x10x18``. Two routes that share all these lead to the same position.

The dialect ``pydraughts`` is the one of that library, where White begins every game. It rotates
positions by 180 degrees and swaps the colours: the start is ``Wbbb...www``. Moves are as above.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from checkers_env.board import Board
from checkers_env.fen import position_from_letters, position_to_letters
from checkers_env.moves import Move, parse_squares

Dialect = Literal["english", "pydraughts"]

VARIANT = "english"
_SIDES = "BW"  # the letters of BLACK and WHITE
_SQUARES = "ebBwW"
_SWAPPED = str.maketrans("bBwW", "wWbB")
_ARGUMENT = re.compile(r"""\s*([^\s="]+)(?:\s*=\s*(?:"([^"]*)"|([^\s="]+)))?""")


def write_line(command: str, arguments: Mapping[str, object]) -> str:
    """Return a line of a command and its arguments, quoted where necessary.

    A value with a double quote or a line break, which Hub cannot write, is a ValueError.
    """
    return " ".join([command, *(f"{name}={_quote(str(arguments[name]))}" for name in arguments)])


def _quote(value: str) -> str:
    if re.search(r'["\r\n]', value):
        raise ValueError(f"{value!r} has a double quote or a line break, which Hub cannot write")
    return value if re.fullmatch(r"[^\s=]+", value) else f'"{value}"'


def read_line(line: str) -> tuple[str, dict[str, str]]:
    """Return the command and the arguments of a line; a flag has an empty value.

    A line in another form is a ValueError.
    """
    words, at = [], 0
    line = line.rstrip()
    while at < len(line):
        match = _ARGUMENT.match(line, at)
        if not match:
            raise ValueError(f'{line!r} is not a line such as: command name=value name="a b"')
        words.append((match[1], match[2] or match[3] or ""))
        at = match.end()
    return (words[0][0], dict(words[1:])) if words else ("", {})


def write_position(board: Board, dialect: Dialect) -> str:
    """Return the side to move and the letters of the 32 squares."""
    text = _SIDES[board.turn] + position_to_letters(board.position, _SQUARES)
    return text if dialect == "english" else _rotate(text)


def _rotate(text: str) -> str:
    return (text[:1] + text[:0:-1]).translate(_SWAPPED)


def read_position(text: str, dialect: Dialect) -> Board:
    """Return a board without a limit of moves. Raise ValueError for a wrong position."""
    english = text if dialect == "english" else _rotate(text)
    try:
        if not english.startswith(tuple(_SIDES)):
            raise ValueError("it does not begin with the side to move, B or W")
        position = position_from_letters(english[1:], _SQUARES, _SIDES.index(english[0]))
        return Board.from_position(*position, max_moves=None)
    except ValueError as error:
        raise ValueError(f"bad position {text!r}: {error}") from None


def write_move(move: Move) -> str:
    """Return the start, the end and the captured squares."""
    squares = (move.squares[0], move.squares[-1], *sorted(move.captured))
    return ("x" if move.captured else "-").join(map(str, squares))


def read_move(text: str, board: Board) -> Move:
    """Return the legal move of a text in Hub's notation, or in PDN's where that is unambiguous.

    A text that is malformed, illegal or ambiguous is a ValueError.
    """
    start, end, *captured = parse_squares(text)
    for move in board.legal_moves:
        ends = (move.squares[0], move.squares[-1]) == (start, end)
        if ends and captured and sorted(move.captured) == sorted(captured):
            return move
    return board.parse_move(text)
