"""Schedule of a league: openings, pairings and fixtures."""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from checkers_env import openings
from checkers_env.files import read_regular
from checkers_env.movegen import Position
from checkers_env.state import DrawRules

Pairing = tuple[int, int]  # numbers of two entrants

BALLOTS: dict[str, tuple[str, ...]] = {**openings.BALLOTS, "start": ("",)}


class LeagueFixture(NamedTuple):
    """A game of the schedule: its number, the numbers of Black and White, and the opening."""

    number: int
    black: int
    white: int
    opening: str


def read_openings(name: str, rules: DrawRules | None = None) -> tuple[str, ...]:
    """Return the openings of a ballot, of a file that :func:`openings.read_book` reads, or a card.

    Raise ValueError for others, and for an opening that ends the game by the rules.
    """
    cards = BALLOTS.get(name) or _read_book(name)
    for card in cards:
        if over := openings.opening_board(card, rules or DrawRules()).outcome():
            raise ValueError(f"the opening {card!r} ends the game: {over.reason}")
    return cards


def _read_book(name: str) -> tuple[str, ...]:
    """Return the openings of a file, or a card.

    An opening that reaches the position of an earlier one by as many moves becomes that one.
    """
    text = _read_text(name)
    try:
        found = openings.read_book(text)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    if not found:
        raise ValueError(f"the file {name!r} has no openings")
    known: dict[tuple[Position, int], str] = {}
    boards = map(openings.opening_board, found)
    return tuple(
        known.setdefault((board.position, board.ply), text)
        for board, text in zip(boards, found, strict=True)
    )


def _read_text(name: str) -> str:
    """Return the text of a file, or the name if it is an opening."""
    try:
        return read_regular(name).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        hint: object = error if isinstance(error, OSError) else "it is not UTF-8 text"
        try:
            openings.opening_board(name)
            return name
        except ValueError as illegal:
            if ":" in name or re.match(r"\d+[-x]\d", name):
                hint = illegal
        if near := difflib.get_close_matches(name, BALLOTS, 1):
            hint = f"did you mean {near[0]!r}?"
        raise ValueError(
            f"openings must be {', '.join(BALLOTS)}, moves, a FEN, or a file, not {name!r}: {hint}"
        ) from None


def round_robin_pairings(entrants: int) -> list[Pairing]:
    """Pair each entrant with each other."""
    return list(itertools.combinations(range(entrants), 2))


def challenge_pairings(challengers: Sequence[int], others: Sequence[int]) -> list[Pairing]:
    """Pair each challenger with each of the others."""
    return [(one, other) for one in challengers for other in others]


def schedule_games(
    pairings: Iterable[Pairing], cards: Sequence[str], rounds: int = 1
) -> tuple[LeagueFixture, ...]:
    """Return the games of a league: each pair plays each opening with both colours.

    The two games of an opening follow each other.
    """
    games = (
        (black, white, card)
        for first, second in pairings
        for _ in range(rounds)
        for card in cards
        for black, white in ((first, second), (second, first))
    )
    return tuple(LeagueFixture(number, *game) for number, game in enumerate(games))
