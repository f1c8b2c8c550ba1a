"""Records of a league: its entrants, its conditions and its games, as data, JSON and PDN."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from checkers_env import pdn
from checkers_env.board import Board
from checkers_env.files import read_regular, write_atomically
from checkers_env.moves import Move
from checkers_env.openings import opening_board
from checkers_env.render.scene import SIDES
from checkers_env.state import DrawRules

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
    """A player of a league."""

    name: str  # in tables
    agent: str  # with `options`, the arguments of agents.make
    options: dict[str, Any] = field(default_factory=dict)
    about: str = ""  # kind of player, and the version of its file


@dataclass(frozen=True)
class GameRecord:
    """One finished game."""

    number: int  # in the schedule, from 0
    black: int  # number of the entrant, as `white`
    white: int
    opening: str  # moves of the card, e.g. "9-13 22-18", a FEN, or "" for the start position
    score: float  # Black's: 1, 0.5 or 0
    reason: str  # as Board.outcome() says, or a forfeit with its cause
    difference: int  # Black's pieces less White's in the final position
    moves: tuple[str, ...]  # in PDN notation, those of the opening included
    # Of Black and of White: seconds for all moves, and a language model's answers of each kind.
    seconds: tuple[float, float] = (0.0, 0.0)
    answers: tuple[dict[str, int], dict[str, int]] = field(default_factory=lambda: ({}, {}))

    @property
    def result(self) -> str:
        """Result as in PDN: ``1-0``, ``0-1`` or ``1/2-1/2``."""
        return {1.0: "1-0", 0.0: "0-1"}.get(self.score, "1/2-1/2")

    @property
    def forfeiter(self) -> int | None:
        """Number of the entrant that forfeited the game."""
        for side, player in zip(SIDES, (self.black, self.white), strict=True):
            if self.reason.startswith(f"{side} forfeits: "):
                return player
        return None

    def replay(self) -> tuple[Move, ...]:
        """Return the moves. Raise ValueError, which names the game, if one is illegal."""
        return tuple(self.final_board().moves)

    def final_board(self) -> Board:
        """Return the board after all moves; the errors are those of :meth:`replay`."""
        board = Board(self.opening) if ":" in self.opening else Board()
        try:
            for move in self.moves:
                board.push(move)
        except ValueError as error:
            raise ValueError(f"game {self.number + 1}: {error}") from None
        return board

    def positions(self) -> Iterator[Board]:
        """Yield the board before each move: always the same one, without draw rules."""
        board = opening_board(self.opening, DrawRules(max_moves=None)).root()
        for move in self.moves:
            yield board
            board.push(move)


@dataclass(frozen=True)
class League:
    """Entrants, conditions (openings, draw rules, seed, versions), and the games so far."""

    entrants: tuple[Entrant, ...]
    conditions: dict[str, Any]
    games: tuple[GameRecord, ...] = ()


def select_entrants(league: League, names: Sequence[str]) -> League:
    """Return the league with its entrants in the order of their names; others have no game."""
    entrants = {entrant.name: entrant for entrant in league.entrants}
    place = {
        number: names.index(it.name)
        for number, it in enumerate(league.entrants)
        if it.name in names
    }
    games = (replace(it, black=place[it.black], white=place[it.white]) for it in league.games)
    return replace(league, entrants=tuple(entrants[name] for name in names), games=tuple(games))


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
    for name in values.keys() & {"moves", "seconds", "answers"}:
        values[name] = tuple(values[name])
    return GameRecord(**values)


def games_to_pdn(league: League, moves: Sequence[tuple[Move, ...]]) -> Iterator[pdn.Game]:
    """Yield every game, with its moves, as PDN with its conditions and result in tags."""
    conditions = "; ".join(f"{name} {value}" for name, value in league.conditions.items())
    for game, played in zip(league.games, moves, strict=True):
        is_position = ":" in game.opening
        opening = {"SetUp": "1", "FEN": game.opening} if is_position else {"Opening": game.opening}
        yield pdn.Game(
            {
                "Event": "Checkers laboratory league",
                "Round": str(game.number + 1),
                "Black": league.entrants[game.black].name,
                "White": league.entrants[game.white].name,
                "BlackAbout": league.entrants[game.black].about,
                "WhiteAbout": league.entrants[game.white].about,
                **(opening if game.opening else {}),
                "Reason": game.reason,
                "PieceDifference": f"{game.difference:+d}",
                "Conditions": conditions,
            },
            played,
            game.result,
        )
