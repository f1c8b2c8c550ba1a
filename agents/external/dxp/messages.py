"""The messages of the DamExchange protocol (DXP), by which two draughts programs play a game.

Source: http://www.mesander.nl/damexchange/edxplg2.htm. A message is 1 to 127 ASCII characters in
fields of fixed width; on a TCP connection a zero byte ends it. The protocol was made for 10x10
draughts, where White begins. For English draughts we read it so:

* fields are the squares 1-32 as usual, Black's men on 1-12 and White's on 21-32 at the start;
* ``Z`` (zwart) is Black and ``W`` (wit) White, and Black has the first move;
* a position has a letter for each of the squares 1-32: ``z w`` men, ``Z W`` kings, ``e`` empty;
* starting position ``A`` is that of English draughts, with Black to move. We send ``B`` with every
  square and the side to move, which nobody can take for anything else.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from checkers_env import fen
from checkers_env.board import Board
from checkers_env.fen import position_from_letters, position_to_letters
from checkers_env.movegen import Position

HOST, PORT = "127.0.0.1", 27531
VERSION = 1
LONGEST = 127  # characters in a message
NAME_WIDTH = 32
ACCEPTED, OTHER_VERSION, NOT_THIS_GAME, NO_GAME = range(4)  # codes of GameAccept
NO_REASON, RESIGNS, DRAW, WINS = range(4)  # reasons of GameEnd
LATER_GAMES, NO_MORE_GAMES = range(2)  # stop codes of GameEnd
BACK_ACCEPTED, BACK_REFUSED, GO_ON = range(3)  # codes of BackAccept

_SIDES = "ZW"  # the letters of BLACK and WHITE
_SQUARES = "ezZwW"
_PATTERNS = {
    "R": r"(\d\d)(.{32})([WZ])(\d{3})(\d{3})(?:A|B([WZ])(.+))",
    "A": r"(.{32})(\d)",
    "M": r"(\d{4})(\d\d)(\d\d)(\d\d)((?:\d\d)*)",
    "E": r"(\d)(\d)",
    "C": r"(.*)",
    "B": r"(\d{3})([WZ])",
    "K": r"(\d)",
}


class GameRequest(NamedTuple):
    """GAMEREQ: the initiator asks for a game, in which the follower is to play `follower`."""

    name: str
    follower: int
    minutes: int = 0
    """For each side and the whole game; 0 for no limit."""
    moves: int = 0
    """Of the whole game, by each side; 0 for no limit."""
    turn: int | None = None
    """Who begins; None for the usual start, without `squares`."""
    squares: str = ""
    version: int = VERSION


class GameAccept(NamedTuple):
    """GAMEACC: the follower's answer, ACCEPTED or one of three refusals."""

    name: str
    code: int


class MoveMade(NamedTuple):
    """MOVE: a turn, and the seconds that it took."""

    seconds: int
    start: int
    end: int
    captured: tuple[int, ...] = ()


class GameEnd(NamedTuple):
    """GAMEEND: sent in place of a move to end the game, and sent back to confirm that."""

    reason: int
    stop: int


class Chat(NamedTuple):
    """CHAT: any text, at any time."""

    text: str


class BackRequest(NamedTuple):
    """BACKREQ: a wish to go back to where `turn` was to make its move of that number."""

    move: int
    turn: int


class BackAccept(NamedTuple):
    """BACKACC: the answer to a BACKREQ."""

    code: int


Message = GameRequest | GameAccept | MoveMade | GameEnd | Chat | BackRequest | BackAccept


def encode(message: Message) -> bytes:
    """The message as it is sent, without the zero byte. Raises ValueError for what does not fit."""
    text = _text(message)
    if not _can_be_sent(text):
        raise ValueError(f"{text!r} is not a message of at most {LONGEST} ASCII characters")
    return text.encode("ascii")


def _text(message: Message) -> str:
    match message:
        case GameRequest(name, follower, minutes, moves, turn, squares, version):
            start = "A" if turn is None else f"B{_SIDES[turn]}{squares}"
            limits = _digits(minutes, 3) + _digits(moves, 3)
            return f"R{_digits(version, 2)}{_padded(name)}{_SIDES[follower]}{limits}{start}"
        case GameAccept(name, code):
            return f"A{_padded(name)}{_digits(code, 1)}"
        case MoveMade(seconds, start, end, captured):
            numbers = (start, end, len(captured), *captured)
            return f"M{_digits(seconds, 4)}" + "".join(_digits(number, 2) for number in numbers)
        case GameEnd(reason, stop):
            return f"E{_digits(reason, 1)}{_digits(stop, 1)}"
        case Chat(text):
            return f"C{text}"
        case BackRequest(move, turn):
            return f"B{_digits(move, 3)}{_SIDES[turn]}"
        case BackAccept(code):
            return f"K{_digits(code, 1)}"


def decode(data: bytes) -> Message:
    """Read a message, without its zero byte. Raises ValueError that quotes what is no message."""
    text = data.decode("latin-1")
    pattern = _PATTERNS.get(text[:1])
    if pattern and _can_be_sent(text):
        match = re.fullmatch(pattern, text[1:], re.ASCII | re.DOTALL)
        if match and (text[0] != "M" or int(match[4]) == len(match[5]) // 2):
            return _message(text[0], match)
    raise ValueError(f"{text[:LONGEST]!r} is not a DXP message")


def _message(kind: str, field: re.Match[str]) -> Message:
    match kind:
        case "R":
            turn = None if field[6] is None else _SIDES.index(field[6])
            numbers = (int(field[4]), int(field[5]))
            name, follower = field[2].rstrip(" "), _SIDES.index(field[3])
            return GameRequest(name, follower, *numbers, turn, field[7] or "", int(field[1]))
        case "A":
            return GameAccept(field[1].rstrip(" "), int(field[2]))
        case "M":
            captured = tuple(int(field[5][at : at + 2]) for at in range(0, len(field[5]), 2))
            return MoveMade(int(field[1]), int(field[2]), int(field[3]), captured)
        case "E":
            return GameEnd(int(field[1]), int(field[2]))
        case "C":
            return Chat(field[1])
        case "B":
            return BackRequest(int(field[1]), _SIDES.index(field[2]))
        case _:
            return BackAccept(int(field[1]))


def _can_be_sent(text: str) -> bool:
    return len(text) <= LONGEST and text.isascii() and "\0" not in text


def _digits(number: int, width: int) -> str:
    if not 0 <= number < 10**width:
        raise ValueError(f"{number} does not fit into {width} digits of a DXP message")
    return f"{number:0{width}d}"


def _padded(name: str) -> str:
    if len(name) > NAME_WIDTH or name.endswith(" "):
        raise ValueError(
            f"name {name!r} has more than {NAME_WIDTH} characters, or a blank at its end"
        )
    return name.ljust(NAME_WIDTH)


def fitting(name: str) -> str:
    """The name as a message can hold it."""
    printable = "".join(char if char.isascii() and char.isprintable() else "?" for char in name)
    return printable.strip()[:NAME_WIDTH].rstrip()


def squares_of(board: Board) -> str:
    """The letters of a position, square 1 to 32."""
    return position_to_letters(board.position, _SQUARES)


def position_of(request: GameRequest) -> Position:
    """The position that a game is to begin with. Raises ValueError if it is none of this game."""
    if request.turn is None:
        return fen.parse(fen.START)
    return position_from_letters(request.squares, _SQUARES, request.turn)
