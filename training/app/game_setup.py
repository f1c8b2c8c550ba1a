"""Setup of a game: agent, sides, and opening (a card, moves, a FEN, or a PDN game)."""

from __future__ import annotations

import difflib
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np

from agents.limits import Limits
from checkers_env import fen, pdn
from checkers_env.board import Board
from checkers_env.moves import Move
from checkers_env.openings import BALLOTS, opening_board
from training.app.opponents import BY_ID, opponent_name

REPETITION, NO_PROGRESS = 3, 40  # the pages' draw rules
MAX_PLIES = 2000
MAX_MINUTES, MAX_INCREMENT = 180.0, 60.0


class TimeControl(NamedTuple):
    """Time of each side: minutes for the game, and seconds added with each move."""

    minutes: float
    increment: float = 0.0

    def check(self) -> TimeControl:
        """Return itself. Raise ValueError for times out of range."""
        if not 0 < self.minutes <= MAX_MINUTES:
            raise ValueError(f"A clock has more than 0 minutes, and {MAX_MINUTES:g} at most.")
        if not 0 <= self.increment <= MAX_INCREMENT:
            raise ValueError(f"The seconds added a move must be from 0 to {MAX_INCREMENT:g}.")
        return self


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
    opponent, level
        Id of a named opponent and its level (see :mod:`training.app.opponents`); an empty text for
        an agent without a name of its own.
    clock
        Time control, or None for a game without a clock.
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
    opponent: str = ""
    level: int | None = None
    clock: TimeControl | None = None

    @property
    def opponent_name(self) -> str:
        """The agent's name for people."""
        return opponent_name(self.opponent, self.level) if self.opponent in BY_ID else self.label


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
        board = opening_board(text)
    except ValueError as error:
        near = difflib.get_close_matches(text[:200], BALLOTS, 1)
        if not near:
            raise
        raise ValueError(f"{error}: did you mean {near[0]!r}?") from None
    standard = not text or any(text in cards for cards in BALLOTS.values())
    return _check_playable(GameOpening(board.root().fen(), tuple(map(str, board.moves)), standard))


def opening_from_pdn(text: str, *, is_over: bool = False) -> GameOpening:
    """Return the single game of a PDN text as an opening; `is_over` allows a finished one.

    Raise ValueError for another text.
    """
    games = pdn.loads(text)
    if len(games) != 1:
        raise ValueError(f"The PDN holds {len(games)} games: give one to go on with.")
    opening = GameOpening(games[0].start, tuple(map(str, games[0].moves)), False)
    return opening if is_over else _check_playable(opening)


def create_board(start: str, moves: Iterable[str | Move]) -> Board:
    """Return a board with the pages' draw rules. Raise ValueError for an illegal move."""
    board = Board(start, max_moves=None, repetition=REPETITION, no_progress=NO_PROGRESS)
    for move in moves:
        if board.ply == MAX_PLIES:
            raise ValueError(f"A game has at most {MAX_PLIES} moves.")
        board.push(move)
    return board


def read_board(fields: Mapping[str, Any]) -> Board:
    """Return the board after a request's ``moves`` from ``start``. Raise ValueError."""
    moves = fields["moves"] or []
    if not all(isinstance(text, str) for text in moves):
        raise ValueError("moves must be a list of texts such as 11-15.")
    return create_board(fields["start"] or fen.START, moves)


def _check_playable(opening: GameOpening) -> GameOpening:
    if create_board(opening.start, opening.moves).outcome():
        raise ValueError("The game is over in that position: there is nothing to play.")
    return opening
