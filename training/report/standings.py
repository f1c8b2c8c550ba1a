"""The table of a league: ratings, scores and their intervals."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np

from checkers_env.files import write_atomically
from training.league.record import League
from training.rating.clusters import clusters
from training.rating.intervals import points_of, score
from training.rating.strength import strengths
from training.report.page import Standing


def standings(league: League, anchor: tuple[str, float] | None = None) -> list[Standing]:
    """A line for each entrant, best first. Raises ValueError where the games rate nobody."""
    rated = strengths(league, anchor=anchor)
    lines = []
    for number, entrant in enumerate(league.entrants):
        games = [game for game in league.games if number in (game.black, game.white)]
        result = score(points_of(games, number), clusters(games))
        rating = rated.rating(number)
        lines.append(
            Standing(
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
    return sorted(lines, key=lambda line: -np.nan_to_num(line.elo))


def write_standings(path: Path, league: League, lines: list[Standing]) -> None:
    """Write the table and the league as JSON, all or nothing."""
    content = {"standings": [line._asdict() for line in lines], "league": asdict(league)}
    write_atomically(path, json.dumps(content, indent=1).encode())
