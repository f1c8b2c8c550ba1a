"""How the Hub protocol (version 2) writes lines, positions and moves, and how we read it.

Source: ``protocol.txt`` of Fabien Letouzey's Scan 3.0. Hub was made for 10x10 draughts and is
silent on English draughts; with us

* a position is the side to move, ``B`` or ``W``, and a letter for each of the squares 1-32: ``b w``
  men, ``B W`` kings, ``e`` empty. Black has 1-12 at the start and moves first;
* a step is ``11-15``. A capture names its start, its end and then the captured squares in any
  order, but not those on its way: ``15x22x18``, ``6x22x10x18``. Two routes that share all these
  lead to the same position.

That is the dialect ``english``. pydraughts has White begin in every game: for this one it sends
positions turned by 180 degrees with the colours exchanged (``Wbbb...www`` is the start), but writes
moves as above. That is the dialect ``pydraughts``.
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
_TURNED = str.maketrans("bBwW", "wWbB")
_ARGUMENT = re.compile(r"""\s*([^\s="]+)(?:\s*=\s*(?:"([^"]*)"|([^\s="]+)))?""")


def write_line(command: str, arguments: Mapping[str, object]) -> str:
    """A line: the command and the arguments, those quoted that need it.

    Raises ValueError for a value with a double quote or a line break, which Hub cannot write.
    """
    return " ".join([command, *(f"{name}={_quoted(str(arguments[name]))}" for name in arguments)])


def _quoted(value: str) -> str:
    if re.search(r'["\r\n]', value):
        raise ValueError(f"{value!r} has a double quote or a line break, which Hub cannot write")
    return value if re.fullmatch(r"[^\s=]+", value) else f'"{value}"'


def read_line(line: str) -> tuple[str, dict[str, str]]:
    """The command and the arguments of a line; a flag's value is empty. Raises ValueError."""
    found, at = [], 0
    line = line.rstrip()
    while at < len(line):
        match = _ARGUMENT.match(line, at)
        if not match:
            raise ValueError(f'{line!r} is not a line such as: command name=value name="a b"')
        found.append((match[1], match[2] or match[3] or ""))
        at = match.end()
    return (found[0][0], dict(found[1:])) if found else ("", {})


def write_position(board: Board, dialect: Dialect) -> str:
    """The side to move and the 32 squares."""
    text = _SIDES[board.turn] + position_to_letters(board.position, _SQUARES)
    return text if dialect == "english" else _turned(text)


def _turned(text: str) -> str:
    return (text[:1] + text[:0:-1]).translate(_TURNED)


def read_position(text: str, dialect: Dialect) -> Board:
    """A board with a position and no draw by the number of moves. Raises ValueError."""
    ours = text if dialect == "english" else _turned(text)
    try:
        if not ours.startswith(tuple(_SIDES)):
            raise ValueError("it does not begin with the side to move, B or W")
        position = position_from_letters(ours[1:], _SQUARES, _SIDES.index(ours[0]))
        return Board.from_position(*position, max_moves=None)
    except ValueError as error:
        raise ValueError(f"bad position {text!r}: {error}") from None


def write_move(move: Move) -> str:
    """The start, the end and the captured squares."""
    squares = (move.squares[0], move.squares[-1], *sorted(move.captured))
    return ("x" if move.captured else "-").join(map(str, squares))


def read_move(text: str, board: Board) -> Move:
    """The legal move that `text` writes, as Hub does or, where it leaves no doubt, as PDN does.

    Raises ValueError for text that is malformed, illegal or ambiguous here.
    """
    start, end, *captured = parse_squares(text)
    for move in board.legal_moves:
        ends = (move.squares[0], move.squares[-1]) == (start, end)
        if ends and captured and sorted(move.captured) == sorted(captured):
            return move
    return board.parse_move(text)
