"""Records of a league: its entrants, its conditions and its games."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from checkers_env.files import read_regular, write_atomically

FORMAT = 1
LEAGUE_FILE = "league.json"  # in the folder of a finished benchmark


class WinDrawLoss(NamedTuple):
    """Numbers of games that a player won, drew and lost."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def games(self) -> int:
        """Number of games."""
        return sum(self)

    @property
    def score(self) -> float:
        """Points a game, with half a point for a draw; nan without games."""
        return (self.wins + self.draws / 2) / self.games if self.games else math.nan


@dataclass(frozen=True)
class Entrant:
    """A player of a league.

    Attributes
    ----------
    name
        Name in tables.
    agent, options
        Arguments of :func:`agents.make`.
    about
        Kind of player, and the version of its file.
    """

    name: str
    agent: str
    options: dict[str, Any] = field(default_factory=dict)
    about: str = ""


@dataclass(frozen=True)
class GameRecord:
    """One finished game.

    Attributes
    ----------
    number
        Number in the schedule, from 0.
    black, white
        Numbers of the entrants.
    opening
        Moves of the card, e.g. ``"9-13 22-18"``, a FEN, or ``""`` for the start position.
    score
        Black's score: 1, 0.5 or 0.
    reason
        Reason of the end: that of ``Board.outcome()``, or a forfeit with its cause.
    difference
        Black's pieces less White's in the final position.
    moves
        All moves in PDN notation, those of the opening included.
    seconds
        Time of Black and of White for all their moves.
    answers, illegal_answers
        Answers of Black and of White, and how many were illegal; 0 for players that do not count
        them. Language models do.
    """

    number: int
    black: int
    white: int
    opening: str
    score: float
    reason: str
    difference: int
    moves: tuple[str, ...]
    seconds: tuple[float, float] = (0.0, 0.0)
    answers: tuple[int, int] = (0, 0)
    illegal_answers: tuple[int, int] = (0, 0)

    @property
    def result(self) -> str:
        """Result as in PDN: ``1-0``, ``0-1`` or ``1/2-1/2``."""
        return {1.0: "1-0", 0.0: "0-1"}.get(self.score, "1/2-1/2")


@dataclass(frozen=True)
class League:
    """Entrants, conditions (openings, draw rules, seed, versions), and the games so far."""

    entrants: tuple[Entrant, ...]
    conditions: dict[str, Any]
    games: tuple[GameRecord, ...] = ()


def save_league(path: Path, league: League) -> None:
    """Write a league as JSON, atomically."""
    text = json.dumps({"format": FORMAT, **asdict(league)}, indent=1)
    write_atomically(path, text.encode())


def load_league(path: Path) -> League:
    """Read a league. Raise ValueError with the name of the file if it is invalid."""
    try:
        fields = json.loads(read_regular(path))
        if fields["format"] != FORMAT:
            raise ValueError(f"its format is {fields['format']!r}, not {FORMAT}")
        return League(
            tuple(Entrant(**entrant) for entrant in fields["entrants"]),
            fields["conditions"],
            tuple(game_from_json(game) for game in fields["games"]),
        )
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{str(path)!r} is not a valid league file: {error}") from None


def game_from_json(fields: dict[str, Any]) -> GameRecord:
    """Return the game of a JSON object."""
    values: dict[str, Any] = {**fields}
    for name in values.keys() & {"moves", "seconds", "answers", "illegal_answers"}:
        values[name] = tuple(values[name])
    return GameRecord(**values)
