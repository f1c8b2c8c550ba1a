"""Setup of a game: agent, sides, and opening (a card, moves, a FEN, or a PDN game)."""

from __future__ import annotations

import difflib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np

from agents.analysis import Limits
from checkers_env import fen, pdn
from checkers_env.board import Board
from checkers_env.moves import Move
from checkers_env.openings import BALLOTS, parse_opening

REPETITION, NO_PROGRESS = 3, 40  # the pages' draw rules
MAX_PLIES = 2000


class GameOpening(NamedTuple):
    """A FEN and the first moves of a game.

    `standard` is true for the start position and the cards of the ballots: other games are unrated.
    """

    start: str = fen.START
    moves: tuple[str, ...] = ()
    standard: bool = True


@dataclass(frozen=True)
class GameSetup:
    """Everything that is fixed before a game begins.

    Attributes
    ----------
    agent
        As :func:`agents.make` takes it.
    label
        The agent's name in the record, with its depth or simulations.
    limits
        Cost of the agent's moves.
    side
        The person's side, BLACK or WHITE.
    name, rating
        The person's name and rating; None without a rating.
    opening
        Opening of the game.
    seed
        Seed of the agent's random numbers.
    start_time
        UTC, ISO 8601.
    """

    agent: str
    label: str
    limits: Limits
    side: int
    name: str = "Anonymous"
    rating: int | None = None
    opening: GameOpening = GameOpening()  # noqa: RUF009 - immutable
    seed: int = field(default_factory=lambda: secrets.randbits(32))
    start_time: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))


def choose_opening(text: str, rng: np.random.Generator) -> GameOpening:
    """Return the opening of a text, at random for the name of a ballot.

    Parameters
    ----------
    text
        ``two-move`` or ``three-move`` for a random card of the ballot, moves, a FEN, or nothing for
        the start position.
    rng
        Source of the random card.

    Raises
    ------
    ValueError
        If the text is none of these, or the game is over in the position.
    """
    if text in BALLOTS:
        text = BALLOTS[text][int(rng.integers(len(BALLOTS[text])))]
    try:
        start, moves = parse_opening(text or None)
    except ValueError as error:
        near = difflib.get_close_matches(text[:200], BALLOTS, 1)
        if not near:
            raise
        raise ValueError(f"{error}: did you mean {near[0]!r}?") from None
    board = Board.from_position(*start)
    standard = not text or any(text in cards for cards in BALLOTS.values())
    return _check_playable(GameOpening(board.fen(), tuple(map(str, moves)), standard))


def opening_from_pdn(text: str) -> GameOpening:
    """Return the single game of a PDN text as an opening. Raise ValueError for another text."""
    games = pdn.loads(text)
    if len(games) != 1:
        raise ValueError(f"The PDN holds {len(games)} games: give one to go on with.")
    return _check_playable(GameOpening(games[0].start, tuple(map(str, games[0].moves)), False))


def create_board(start: str, moves: Iterable[str | Move]) -> Board:
    """Return a board with the pages' draw rules. Raise ValueError for an illegal move."""
    board = Board(start, max_moves=None, repetition=REPETITION, no_progress=NO_PROGRESS)
    for move in moves:
        if board.ply == MAX_PLIES:
            raise ValueError(f"A game has at most {MAX_PLIES} moves.")
        board.push(move)
    return board


def _check_playable(opening: GameOpening) -> GameOpening:
    if create_board(opening.start, opening.moves).outcome():
        raise ValueError("The game is over in that position: there is nothing to play.")
    return opening
