"""Messages of the DamExchange protocol (DXP), by which two draughts programs play a game.

Source: http://www.mesander.nl/damexchange/edxplg2.htm. A message is 1 to 127 ASCII characters in
fields of fixed width; on a TCP connection a zero byte ends it. The protocol was made for 10x10
draughts, where White begins. For English draughts:

* Squares are 1-32. Black's men are on 1-12 and White's on 21-32 at the start.
* ``Z`` (zwart) is Black and ``W`` (wit) is White. Black has the first move.
* A position has a letter for each of the squares 1-32: ``z w`` men, ``Z W`` kings, ``e`` empty.
* Starting position ``A`` is that of English draughts with Black to move. This project sends ``B``
  with every square and the side to move, which is not ambiguous.
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
MAX_LENGTH = 127  # characters in a message
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
    """GAMEREQ: the initiator requests a game, in which the follower has the side `follower`."""

    name: str
    follower: int
    minutes: int = 0
    """Time of each side for the whole game; 0 for no limit."""
    moves: int = 0
    """Moves of each side in the whole game; 0 for no limit."""
    turn: int | None = None
    """The side to move; None for the usual start, without `squares`."""
    squares: str = ""
    version: int = VERSION


class GameAccept(NamedTuple):
    """GAMEACC: the follower's answer, ACCEPTED or one of three refusals."""

    name: str
    code: int


class MoveMessage(NamedTuple):
    """MOVE: a move and its time in seconds."""

    seconds: int
    start: int
    end: int
    captured: tuple[int, ...] = ()


class GameEnd(NamedTuple):
    """GAMEEND: ends the game in place of a move; the other side confirms by the same message."""

    reason: int
    stop: int


class Chat(NamedTuple):
    """CHAT: any text, at any time."""

    text: str


class BackRequest(NamedTuple):
    """BACKREQ: request to go back to the move with this number of the side `turn`."""

    move: int
    turn: int


class BackAccept(NamedTuple):
    """BACKACC: the answer to a BACKREQ."""

    code: int


Message = GameRequest | GameAccept | MoveMessage | GameEnd | Chat | BackRequest | BackAccept


def encode(message: Message) -> bytes:
    """Encode a message, without the zero byte. Raise ValueError for one that does not fit."""
    text = _message_text(message)
    if not _is_sendable(text):
        raise ValueError(f"{text!r} is not a message of at most {MAX_LENGTH} ASCII characters")
    return text.encode("ascii")


def _message_text(message: Message) -> str:
    match message:
        case GameRequest(name, follower, minutes, moves, turn, squares, version):
            start = "A" if turn is None else f"B{_SIDES[turn]}{squares}"
            limits = _digits(minutes, 3) + _digits(moves, 3)
            return f"R{_digits(version, 2)}{_pad(name)}{_SIDES[follower]}{limits}{start}"
        case GameAccept(name, code):
            return f"A{_pad(name)}{_digits(code, 1)}"
        case MoveMessage(seconds, start, end, captured):
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
    """Decode a message without its zero byte. Raise ValueError for other data."""
    text = data.decode("latin-1")
    pattern = _PATTERNS.get(text[:1])
    if pattern and _is_sendable(text):
        match = re.fullmatch(pattern, text[1:], re.ASCII | re.DOTALL)
        if match and (text[0] != "M" or int(match[4]) == len(match[5]) // 2):
            return _parse_message(text[0], match)
    raise ValueError(f"{text[:MAX_LENGTH]!r} is not a DXP message")


def _parse_message(kind: str, field: re.Match[str]) -> Message:
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
            return MoveMessage(int(field[1]), int(field[2]), int(field[3]), captured)
        case "E":
            return GameEnd(int(field[1]), int(field[2]))
        case "C":
            return Chat(field[1])
        case "B":
            return BackRequest(int(field[1]), _SIDES.index(field[2]))
        case _:
            return BackAccept(int(field[1]))


def _is_sendable(text: str) -> bool:
    return len(text) <= MAX_LENGTH and text.isascii() and "\0" not in text


def _digits(number: int, width: int) -> str:
    if not 0 <= number < 10**width:
        raise ValueError(f"{number} does not fit into {width} digits of a DXP message")
    return f"{number:0{width}d}"


def _pad(name: str) -> str:
    if len(name) > NAME_WIDTH or name.endswith(" "):
        raise ValueError(
            f"name {name!r} has more than {NAME_WIDTH} characters, or a blank at its end"
        )
    return name.ljust(NAME_WIDTH)


def fit_name(name: str) -> str:
    """Return a name in printable ASCII, short enough for a message."""
    printable = "".join(char if char.isascii() and char.isprintable() else "?" for char in name)
    return printable.strip()[:NAME_WIDTH].rstrip()


def write_squares(board: Board) -> str:
    """Return the letters of a position, square 1 to 32."""
    return position_to_letters(board.position, _SQUARES)


def read_position(request: GameRequest) -> Position:
    """Return the first position of a requested game. Raise ValueError for an impossible one."""
    if request.turn is None:
        return fen.parse(fen.START)
    return position_from_letters(request.squares, _SQUARES, request.turn)
