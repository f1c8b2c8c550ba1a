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
from collections.abc import Callable
from typing import Any, NamedTuple

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


class GameRequest(NamedTuple):
    """GAMEREQ: the initiator requests a game, in which the follower has the side `follower`."""

    name: str
    follower: int
    minutes: int = 0  # of each side for the whole game; 0 for no limit
    moves: int = 0  # of each side in the whole game; 0 for no limit
    start: str = "A"  # the usual start, or B with the side to move and the squares
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


class _Field(NamedTuple):
    pattern: str
    write: Callable[[Any], str] = str
    read: Callable[[str], Any] = str


def _number(width: int) -> _Field:
    return _Field(rf"\d{{{width}}}", f"{{:0{width}d}}".format, int)


def _write_numbers(numbers: tuple[int, ...]) -> str:
    """Return the count of the numbers, and the numbers."""
    return "".join(f"{number:02d}" for number in (len(numbers), *numbers))


def _read_numbers(text: str) -> tuple[int, ...]:
    count, *numbers = (int(text[at : at + 2]) for at in range(0, len(text), 2))
    if len(numbers) != count:
        raise ValueError(f"there are {len(numbers)} numbers, not {count}")
    return tuple(numbers)


_NAME = _Field(f".{{{NAME_WIDTH}}}", f"{{:{NAME_WIDTH}}}".format, lambda text: text.rstrip(" "))
_SIDE = _Field("[WZ]", lambda side: _SIDES[side], _SIDES.index)
_CAPTURED = _Field(r"(?:\d\d)+", _write_numbers, _read_numbers)

# The fields of a message by its first letter, in the order of its text.
_LAYOUTS: dict[str, tuple[Callable[..., Message], dict[str, _Field]]] = {
    "R": (
        GameRequest,
        {"version": _number(2), "name": _NAME, "follower": _SIDE}
        | {"minutes": _number(3), "moves": _number(3), "start": _Field("A|B[WZ].+")},
    ),
    "A": (GameAccept, {"name": _NAME, "code": _number(1)}),
    "M": (
        MoveMessage,
        {"seconds": _number(4), "start": _number(2), "end": _number(2), "captured": _CAPTURED},
    ),
    "E": (GameEnd, {"reason": _number(1), "stop": _number(1)}),
    "C": (Chat, {"text": _Field(".*")}),
    "B": (BackRequest, {"move": _number(3), "turn": _SIDE}),
    "K": (BackAccept, {"code": _number(1)}),
}
_LETTERS = {kind: letter for letter, (kind, _) in _LAYOUTS.items()}


def encode(message: Message) -> bytes:
    """Encode a message, without the zero byte. Raise ValueError for one that does not fit."""
    letter = _LETTERS[type(message)]
    fields = _LAYOUTS[letter][1].items()
    text = letter + "".join(field.write(getattr(message, name)) for name, field in fields)
    data = text.encode("ascii", "replace")
    if decode(data) != message:
        raise ValueError(f"{message} does not fit into a DXP message")
    return data


def decode(data: bytes) -> Message:
    """Decode a message without its zero byte. Raise ValueError for other data."""
    text = data.decode("latin-1")
    try:
        kind, fields = _LAYOUTS[text[:1]]
        pattern = "".join(f"({field.pattern})" for field in fields.values())
        match = re.fullmatch(pattern, text[1:], re.ASCII | re.DOTALL)
        if match and len(text) <= MAX_LENGTH and text.isascii() and "\0" not in text:
            values = zip(fields.items(), match.groups(), strict=True)
            return kind(**{name: field.read(value) for (name, field), value in values})
    except (KeyError, ValueError):  # the letter is unknown, or numbers are missing
        pass
    raise ValueError(f"{text[:MAX_LENGTH]!r} is not a DXP message")


def fit_name(name: str) -> str:
    """Return a name in printable ASCII, short enough for a message."""
    printable = "".join(char if char.isascii() and char.isprintable() else "?" for char in name)
    return printable.strip()[:NAME_WIDTH].rstrip()


def write_start(board: Board) -> str:
    """Return the first position of a game: B, the side to move, and the squares 1 to 32."""
    return f"B{_SIDES[board.turn]}{position_to_letters(board.position, _SQUARES)}"


def read_position(request: GameRequest) -> Position:
    """Return the first position of a requested game. Raise ValueError for an impossible one."""
    if request.start == "A":
        return fen.parse(fen.START)
    return position_from_letters(request.start[2:], _SQUARES, _SIDES.index(request.start[1]))
