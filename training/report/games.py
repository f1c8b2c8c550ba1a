"""Games of a league as the viewer's JSON: two letters a move."""

from __future__ import annotations

import functools
import string
from collections.abc import Iterable
from typing import Any

from checkers_env import fen, openings
from checkers_env.moves import parse_squares
from training.league.records import GameRecord, League

LETTERS = string.ascii_letters[:32]  # letters of squares 1-32
START = "start position"


def pack_games(league: League) -> dict[str, Any]:
    """Return the games as the viewer's JSON.

    ``games`` has a row for each game: number, Black, White, opening, twice Black's score, reason
    (numbers into the other lists), and moves as :func:`abbreviate_move` writes them.

    Raises
    ------
    ValueError
        If an opening or a move is invalid.
    """
    cards = _places(game.opening for game in league.games)
    reasons = _places(game.reason for game in league.games)
    return {
        "players": [entrant.name for entrant in league.entrants],
        "openings": [_card(opening) for opening in cards],
        "reasons": list(reasons),
        "start": fen.START,
        "games": [
            [
                game.number,
                game.black,
                game.white,
                cards[game.opening],
                round(2 * game.score),
                reasons[game.reason],
                _moves(game),
            ]
            for game in league.games
        ],
    }


@functools.cache
def abbreviate_move(move: str) -> str:
    """Return a move's start and end as two letters; a longer path stands in brackets."""
    letters = "".join(LETTERS[square - 1] for square in parse_squares(move))
    return letters if len(letters) == 2 else f"({letters})"


def _moves(game: GameRecord) -> str:
    try:
        return "".join(map(abbreviate_move, game.moves))
    except ValueError as error:
        raise ValueError(f"game {game.number}: {error}") from None


def _card(opening: str) -> dict[str, Any]:
    start, moves, _ = openings.parse_opening(opening)
    return {
        "text": opening or START,
        "name": openings.NAMES.get(opening, ""),
        "start": fen.format_position(*start),
        "plies": len(moves),
    }


def _places(values: Iterable[str]) -> dict[str, int]:
    """Return the distinct values, numbered in order of appearance."""
    return {value: place for place, value in enumerate(dict.fromkeys(values))}
