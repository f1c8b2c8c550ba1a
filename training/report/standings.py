"""The table of a league: ratings, scores and their intervals."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from checkers_env.files import write_atomically
from checkers_env.movegen import BLACK, WHITE
from training.league.records import GameRecord, League, WinDrawLoss
from training.rating.clusters import opening_clusters
from training.rating.elo import rate_league
from training.rating.intervals import player_points, score


class StandingsRow(NamedTuple):
    """A line of the standings; `low` and `high` bound the rating, scores are from 0 to 1."""

    name: str
    elo: float
    low: float
    high: float
    games: int
    wins: int
    draws: int
    losses: int
    score: float
    score_low: float
    score_high: float
    about: str = ""


def standings(league: League, anchor: tuple[str, float] | None = None) -> list[StandingsRow]:
    """Return a row for each entrant, best first. Raise ValueError if no rating is possible."""
    rated = rate_league(league, anchor=anchor)
    lines = []
    for number, entrant in enumerate(league.entrants):
        games = [game for game in league.games if number in (game.black, game.white)]
        result = score(player_points(games, number), opening_clusters(games))
        rating = rated.rating(number)
        lines.append(
            StandingsRow(
                entrant.name,
                *rating,
                len(games),
                result.wins,
                result.draws,
                result.losses,
                result.mean,
                result.low,
                result.high,
                entrant.about,
            )
        )
    # Equal ratings differ in their last bits by processor: then the entrants' order decides.
    return sorted(lines, key=lambda line: -np.round(np.nan_to_num(line.elo), 6))


def write_standings(path: Path, league: League, lines: list[StandingsRow]) -> None:
    """Write the standings and the league as JSON, atomically.

    Parameters
    ----------
    path
        The JSON file.
    league
        The league.
    lines
        Its standings.
    """
    content = {"standings": [line._asdict() for line in lines], "league": asdict(league)}
    write_atomically(path, json.dumps(content, indent=1).encode())


Key = TypeVar("Key", bound=Hashable)


class PlayerResult(NamedTuple):
    """A game as one of its two players has it."""

    player: int
    opponent: int
    side: int
    score: float
    game: GameRecord


def player_results(games: Iterable[GameRecord]) -> Iterator[PlayerResult]:
    """Yield both players' results of every game, Black's first."""
    for game in games:
        yield PlayerResult(game.black, game.white, BLACK, game.score, game)
        yield PlayerResult(game.white, game.black, WHITE, 1 - game.score, game)


def tallies(scores: Iterable[tuple[Key, float]]) -> dict[Key, WinDrawLoss]:
    """Count wins, draws and losses of each key; keys keep the order of their first game."""
    counts = Counter(scores)
    return {
        key: WinDrawLoss(counts[key, 1.0], counts[key, 0.5], counts[key, 0.0])
        for key in dict.fromkeys(key for key, _ in counts)
    }
