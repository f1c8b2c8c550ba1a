"""Archive of finished games against people, one PDN file each, and the agents' ratings by them.

Blondie24 played 165 games against people of known rating. The papers' formula rated it over 5000
random orders of these games (Chellapilla & Fogel 2001; thesis 2.7). Agents are rated here likewise.
"""

from __future__ import annotations

import functools
import hashlib
import logging
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from checkers_env import pdn
from training.app.game import HumanGame
from training.app.serialize import Json
from training.rating.thesis_ratings import Rating, rate_series

SCORES = {"1-0": 1.0, "1/2-1/2": 0.5, "0-1": 0.0}  # Black's

logger = logging.getLogger(__name__)


class AgentResults(NamedTuple):
    """An agent's results against people, and its rating by the rated games."""

    agent: str
    wins: int
    draws: int
    losses: int
    rated_games: int
    rating: Rating | None


def save_game(folder: Path, game: HumanGame, key: str) -> Path:
    """Write a finished game as PDN.

    Parameters
    ----------
    folder
        Folder of the games.
    game
        The game.
    key
        Key of the file's name: the same key writes the same file.

    Returns
    -------
    Path of the file.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    time = game.setup.start_time[:19].replace("-", "").replace(":", "").replace("T", "-")
    path = folder / f"{time}-{hashlib.sha256(key.encode()).hexdigest()[:8]}.pdn"
    pdn.dump([game.to_pdn()], path)
    return path


def load_games(folder: Path) -> list[pdn.Game]:
    """Load the games of a folder, the oldest first; files that are not PDN are skipped."""
    games = []
    for path in sorted(folder.glob("*.pdn")):
        try:
            games += _load_file(path, path.stat().st_mtime_ns)
        except (ValueError, OSError) as error:
            logger.warning("%s is passed over: %s", path, error)
    return games


@functools.lru_cache(10_000)
def _load_file(path: Path, mtime_ns: int) -> list[pdn.Game]:
    return pdn.load(path)


def results_by_agent(games: Iterable[pdn.Game]) -> list[AgentResults]:
    """Return the results of every agent with games against people, sorted by name."""
    by_agent: dict[str, list[pdn.Game]] = {}
    for game in games:
        for side in ("Black", "White"):
            if game.tags.get(f"{side}Type") == "program" and game.result in SCORES:
                by_agent.setdefault(game.tags.get(side, "?"), []).append(game)
    return [_rate_agent(agent, by_agent[agent]) for agent in sorted(by_agent)]


def archive_to_json(folder: Path, games: Sequence[pdn.Game]) -> Json:
    """Return the folder, the number of its games, and every agent's results."""
    results = [_results_to_json(results) for results in results_by_agent(games)]
    return {"folder": str(folder), "games": len(games), "results": results}


def _results_to_json(results: AgentResults) -> Json:
    rating = results.rating
    fields = rating and {"mean": rating.mean, "sd": rating.sd, "grade": rating.grade}
    return results._asdict() | {"rating": fields}


def _rate_agent(agent: str, games: Sequence[pdn.Game]) -> AgentResults:
    scores = [_agent_score(game) for game in games]
    rated = [(_agent_score(game), elo) for game in games if (elo := _person_rating(game))]
    rating = None
    if rated:
        gains, opponents = zip(*rated, strict=True)
        rating = rate_series(gains, opponents, np.random.default_rng(0))
    wins, draws, losses = scores.count(1), scores.count(0.5), scores.count(0)
    return AgentResults(agent, wins, draws, losses, len(rated), rating)


def _agent_score(game: pdn.Game) -> float:
    black = SCORES[game.result]
    return black if game.tags.get("BlackType") == "program" else 1 - black


def _person_rating(game: pdn.Game) -> float | None:
    """Return the person's rating in a rated game, or None."""
    person = "White" if game.tags.get("BlackType") == "program" else "Black"
    text = game.tags.get(f"{person}Rating", "")
    return float(text) if game.tags.get("Rated") == "yes" and text.isdecimal() else None
