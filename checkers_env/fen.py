"""Positions as text, in the FEN of Portable Draughts Notation: ``W:W18,24,K31:B12,K3``."""

from __future__ import annotations

import functools
import re

from checkers_env.movegen import BLACK, BOARD, KING_ROWS, WHITE, Position
from checkers_env.moves import square_to_bit, squares_of

EXAMPLE = "W:W18,24,K31:B12,K3"
START = "B:W21,22,23,24,25,26,27,28,29,30,31,32:B1,2,3,4,5,6,7,8,9,10,11,12"
MAX_PIECES = 12
MAX_LENGTH = 1000  # characters of a FEN; the longest that format_position writes has 123
_NUMBERS = range(1, 33)  # of the squares
_SIDES = {"B": BLACK, "W": WHITE}
_NAMES = ("black", "white")
_COUNTER = re.compile(r"[HF][0-9]+")
_ITEM = re.compile(r"(K?)([0-9]{1,9})(?:-([0-9]{1,9}))?")
_UNUSUAL = re.compile(r"[a-z?]|,\s*(?:[:.]|$)")


def parse(text: str, *, lenient: bool = False) -> Position:
    """Read a position: the side to move, then the squares of both colours in either order.

    Spaces between the parts, a full stop at the end, a comma behind the last square, lower case
    and ranges (``B1-12``) are allowed. A colour may have no piece. If the side to move is unknown,
    ``?``, Black moves. The counters of PDN 3.0 (``:H0:F1``) are ignored. If `lenient`, a man on its
    king row is a king.
    """
    if not isinstance(text, str):
        raise ValueError(f"a FEN is text such as {EXAMPLE!r}, not {text!r}")
    if len(text) > MAX_LENGTH:
        raise ValueError(
            f"bad FEN {text[:50]!r}...: it has {len(text):,} characters, at most {MAX_LENGTH:,} "
            f"are read (accepted: {EXAMPLE!r})"
        )
    return _parse_cached(text, lenient)


def is_unusual(text: str) -> bool:
    """Return whether a FEN is written otherwise than PDN 3.0 says, or needs leniency."""
    try:
        return _UNUSUAL.search(text) is not None or not parse(text)
    except ValueError:
        return True


@functools.lru_cache(1024)
def _parse_cached(text: str, lenient: bool) -> Position:
    try:
        return _parse(text.strip().removesuffix(".").upper(), lenient)
    except ValueError as error:
        raise ValueError(f"bad FEN {text!r}: {error} (accepted: {EXAMPLE!r})") from None


def format_position(black: int, white: int, kings: int, turn: int) -> str:
    """Write a position as FEN, squares in ascending order."""
    return f"{'BW'[turn]}:W{_format_squares(white, kings)}:B{_format_squares(black, kings)}"


def check_position(position: Position) -> None:
    """Raise ValueError for invalid boards, too many pieces, or a man on its king row."""
    black, white, kings, turn = position
    if turn not in (BLACK, WHITE):
        raise ValueError(f"turn must be BLACK (0) or WHITE (1), not {turn}")
    if min(black, white, kings) < 0 or (black | white) & ~BOARD or black & white:
        raise ValueError(f"black {black:#x} and white {white:#x} must be disjoint 35-bit boards")
    if kings & ~(black | white):
        raise ValueError(f"kings {kings:#x} must be among the pieces {black | white:#x}")
    for side, pieces in enumerate((black, white)):
        if pieces.bit_count() > MAX_PIECES:
            raise ValueError(f"{pieces.bit_count()} {_NAMES[side]} pieces: at most {MAX_PIECES}")
        uncrowned = pieces & ~kings & KING_ROWS[side]
        if uncrowned:
            square = squares_of(uncrowned)[0]
            raise ValueError(f"{_NAMES[side]} man on {square}, its king row: write K{square}")


def _parse(text: str, lenient: bool) -> Position:
    side, *sections = map(str.strip, text.split(":"))
    side = "B" if side == "?" else side
    if side not in _SIDES:
        raise ValueError(f"side to move {side!r} is neither 'B' nor 'W'")
    boards, kings = dict[int, int](), 0
    for section in sections:
        if _COUNTER.fullmatch(section):
            continue
        colour, items = _SIDES.get(section[:1]), section[1:].strip().removesuffix(",")
        if colour is None:
            raise ValueError(f"section {section!r} begins with neither 'B' nor 'W'")
        if colour in boards:
            raise ValueError(f"two sections for {_NAMES[colour]}")
        boards[colour] = 0
        for pieces, is_king in [_read_item(it.strip()) for it in items.split(",") if items]:
            if twice := sum(boards.values()) & pieces:
                raise ValueError(f"square {squares_of(twice)[0]} is named twice")
            boards[colour] |= pieces
            kings |= pieces if is_king else 0
    for colour in (BLACK, WHITE):
        if colour not in boards:
            raise ValueError(f"no section for {_NAMES[colour]}")
        kings |= boards[colour] & KING_ROWS[colour] if lenient else 0
    position = Position(boards[BLACK], boards[WHITE], kings, _SIDES[side])
    check_position(position)
    return position


@functools.lru_cache(1024)
def _read_item(item: str) -> tuple[int, bool]:
    """Return the pieces of a square or a range, a 35-bit board, and whether they are kings."""
    match = _ITEM.fullmatch(item)
    if not match:
        raise ValueError(f"{item!r} is not a square, a king or a range such as 18, K31 or 1-12")
    first = int(match[2])
    last = int(match[3] or first)
    for square in (first, last):
        if not 1 <= square <= 32:
            raise ValueError(f"square {square} is not 1 to 32")
    if last < first:
        raise ValueError(f"range {item!r} runs backwards")
    return sum(1 << square_to_bit(it) for it in range(first, last + 1)), bool(match[1])


def _format_squares(pieces: int, kings: int) -> str:
    crowned = squares_of(kings)
    return ",".join("K" * (square in crowned) + str(square) for square in squares_of(pieces))


def position_to_letters(position: Position, letters: str) -> str:
    """Write the 32 letters of a position, without the side to move."""
    black, white, kings, _ = position
    text = ""
    for square in _NUMBERS:
        piece = 1 << square_to_bit(square)
        man = 1 if black & piece else 3 if white & piece else 0
        text += letters[man + (kings & piece != 0)]
    return text


def position_from_letters(text: str, letters: str, turn: int) -> Position:
    """Read a position from 32 letters, each one of the five of `letters`.

    These are for an empty square, a black man, a black king, a white man and a white king. Raise
    ValueError for other text, and for an illegal position.
    """
    if len(text) != len(_NUMBERS) or set(text) - set(letters):
        raise ValueError(f"{text!r} is not 32 letters, each of them one of {letters}")
    boards = dict.fromkeys(letters, 0)
    for square, letter in zip(_NUMBERS, text, strict=True):
        boards[letter] |= 1 << square_to_bit(square)
    _, men, kings, their_men, their_kings = boards.values()
    position = Position(men | kings, their_men | their_kings, kings | their_kings, turn)
    check_position(position)
    return position
