"""Ballots of openings, as moves in standard square numbers."""

from __future__ import annotations

import functools
import re
from importlib.resources import files
from typing import NamedTuple

from checkers_env import fen, pdn
from checkers_env.actions import move_to_actions
from checkers_env.board import Board
from checkers_env.movegen import Position
from checkers_env.moves import Move
from checkers_env.state import DrawRules

_BLACK_MOVES = ("9-13", "9-14", "10-14", "10-15", "11-15", "11-16", "12-16")
_WHITE_MOVES = ("21-17", "22-17", "22-18", "23-18", "23-19", "24-19", "24-20")
# Replies of White that the two-move ballot bars.
_BARRED = {"9-14": "21-17 23-18", "10-14": "21-17 23-18", "11-16": "23-19", "12-16": "23-19"}


_LINES = files("checkers_env").joinpath("data/three_move.tsv").read_text("utf-8").splitlines()
_ROWS = [line.split("\t") for line in _LINES if not line.startswith("#")]
_THREE_MOVE_ROWS = [row for row in _ROWS if row[2] == "in"]

TWO_MOVE: tuple[str, ...] = tuple(
    f"{black} {white}"
    for black in _BLACK_MOVES
    for white in _WHITE_MOVES
    if white not in _BARRED.get(black, "")
)
"""The 43 cards of the two-move ballot: the 49 pairs of first moves but the six barred ones.

Source: the two-move restriction of tournament play, in which three independent published lists
agree.
"""

THREE_MOVE: tuple[str, ...] = tuple(row[1] for row in _THREE_MOVE_ROWS)
"""The 156 openings of the three-move ballot (source: the American Checker Federation's deck)."""


def _eleven_men() -> tuple[tuple[int, ...], ...]:
    """Return the squares of Black's men after its two drawings of the eleven-man ballot."""
    ways = []
    for removed in range(5, 13):
        for move in _BLACK_MOVES:
            start, end = map(int, move.split("-"))
            if start == removed:  # the man behind it moves up, in the direction drawn if it can
                start, end = min(start - (end - start) + 1, 8), removed
            ways.append(tuple(sorted({*range(1, 13)} - {removed, start} | {end})))
    return tuple(dict.fromkeys(ways))


ELEVEN_MAN: tuple[str, ...] = tuple(
    f"B:W{','.join(str(33 - square) for square in white)}:B{','.join(map(str, black))}"
    for black in _eleven_men()
    for white in _eleven_men()
)
"""The 2,500 openings of the eleven-man ballot as FENs, Black to move.

A man is drawn of Black's squares 5 to 12 and of White's 21 to 28, and taken off. Each side's first
move is drawn, too. If its man is the one that was taken off, the man behind moves up in its place.
Source of the rules and of their number: the North Carolina Checkers Association, *Eleven Man Ballot
Deck and System*, after N. Banks. Tournaments leave out openings that lose a man; they are in here.
"""

BALLOTS = {"two-move": TWO_MOVE, "three-move": THREE_MOVE, "eleven-man": ELEVEN_MAN}
"""The cards of each ballot by its name, all of them of equally many moves."""

NAMES: dict[str, str] = {row[1]: row[4] for row in _THREE_MOVE_ROWS if row[4]}
"""What players call an opening of :data:`THREE_MOVE`, where it has a name."""


_CARDS = {name.lower(): card for card, name in NAMES.items()}
_COMMENT = re.compile(r"[#;](?:\s*weight\s+(?P<weight>\S+))?")
_HAS_GAMES = re.compile(  # a tag, a result at the end of a line, or a line of later moves
    r'^\s*\[\s*\w+\s*"|(?<!\S)(?:\*|[0-2]-[0-2]|1/2\S*)\s*$|^\s*(?!1\.)[0-9]+\.', re.MULTILINE
)
_MAX_WEIGHT = 1000


def read_book(text: str) -> tuple[str, ...]:
    """Return the openings in a text, each as often as its weight says.

    The text is PDN: each game is an opening, by its moves or its position, and its tag Weight is
    the weight. Or each line is an opening: moves, a FEN, or the name of a card in :data:`NAMES`.
    Behind ``#`` or ``;`` in a line is a comment, which may be ``; weight 3``.

    Returns
    -------
    Moves such as ``9-13 22-18``, or a FEN. Moves from a position become the position that they lead
    to.

    Raises
    ------
    ValueError
        For a game that cannot be read, and a weight that is not 1 to 1000.
    """
    if not _HAS_GAMES.search(text):
        text = "\n".join(map(_line_to_pdn, text.splitlines()))
    found: list[str] = []
    for game in pdn.loads(text):
        weight = game.tags.get("Weight", "1")
        if not (weight.isascii() and weight.isdecimal() and 1 <= int(weight[:9]) <= _MAX_WEIGHT):
            raise ValueError(f"the weight {weight!r} of an opening is not 1 to {_MAX_WEIGHT}")
        if not game.moves and "FEN" not in game.tags:
            raise ValueError(f"an opening without moves or a position {'; '.join(game.warnings)}")
        opening = " ".join(map(str, game.moves)) or game.start
        is_later = game.moves and game.start != fen.START
        found += [game.board().fen() if is_later else opening] * int(weight)
    return tuple(found)


def _line_to_pdn(line: str) -> str:
    comment = _COMMENT.search(line)
    text = (line[: comment.start()] if comment else line).strip()
    text = _CARDS.get(text.lower(), text)
    if not text:
        return ""
    if not re.search("[0-9]", text):
        raise ValueError(f"{text!r} is no opening: expected moves, a FEN or the name of a card")
    weight = f'[Weight "{comment["weight"]}"] ' if comment and comment["weight"] else ""
    opening = f'[FEN "{text}"]' if re.match(r"[BW?]\s*:", text, re.I) else text
    return f"{weight}{opening} *"


def opening_board(text: str | None, rules: DrawRules = DrawRules()) -> Board:  # noqa: B008
    """Return the board after an opening: nothing, moves such as ``9-13 22-18``, or a FEN.

    The name of a card in :data:`NAMES` is its moves.
    """
    text = _CARDS.get((text or "").lower(), text)
    if text and ":" in text:
        return Board(text, rules=rules)
    board = Board(rules=rules)
    for word in (text or "").split():
        board.push(word)
    return board


class Opening(NamedTuple):
    """A position, the moves from it before a game begins, and their actions, 0 to 127."""

    start: Position
    moves: tuple[Move, ...]
    actions: tuple[int, ...]


@functools.lru_cache(4096)  # more than the cards of all ballots
def parse_opening(text: str | None) -> Opening:
    """Return the start, the moves and the actions of an opening, as :func:`opening_board` reads it.

    Raises
    ------
    ValueError
        As :func:`opening_board`.
    """
    board = opening_board(text)
    start, moves = board.root().position, tuple(board.moves)
    routes = (move_to_actions(move, start.turn ^ ply & 1) for ply, move in enumerate(moves))
    return Opening(start, moves, tuple(action for route in routes for action in route))
