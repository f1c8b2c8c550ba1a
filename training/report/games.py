"""Games of a league as the viewer's JSON: two letters a move, or those of its path."""

from __future__ import annotations

import string
from collections.abc import Iterable, Sequence
from typing import Any

from checkers_env import fen, openings
from checkers_env.moves import Move
from training.league.records import League

LETTERS = string.ascii_letters[:32]  # letters of squares 1-32
START = "start position"


def pack_games(league: League, moves: Sequence[tuple[Move, ...]]) -> dict[str, Any]:
    """Return the games, with the moves of each, as the viewer's JSON.

    ``games`` has a row for each game: number, Black, White, opening, twice Black's score, reason
    (numbers into the other lists), and moves as :func:`abbreviate_move` writes them.
    """
    cards = _places(game.opening for game in league.games)
    reasons = _places(game.reason for game in league.games)
    return {
        "players": [entrant.name for entrant in league.entrants],
        "openings": [_card(opening) for opening in cards],
        "reasons": list(reasons),
        "games": [
            [
                game.number,
                game.black,
                game.white,
                cards[game.opening],
                round(2 * game.score),
                reasons[game.reason],
                "".join(map(abbreviate_move, played)),
            ]
            for game, played in zip(league.games, moves, strict=True)
        ],
    }


def abbreviate_move(move: Move) -> str:
    """Return a move's squares as letters, a path of several jumps in brackets.

    The brackets are square if another move has the same start and end.
    """
    letters = "".join(LETTERS[square - 1] for square in move.squares)
    if len(letters) == 2:
        return letters
    return f"[{letters}]" if move.ambiguous else f"({letters})"


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
