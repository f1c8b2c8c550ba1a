"""The games that people have played, one PDN file each, and the agents' ratings by them.

Blondie24 played 165 games against people of known rating, and was rated by the papers' formula over
5000 random orders of these games (Chellapilla & Fogel 2001; thesis 2.7): so is every agent here.
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
from training.app.game import Session
from training.app.serialize import Json
from training.rating.thesis_ratings import Rating, rate_series

SCORES = {"1-0": 1.0, "1/2-1/2": 0.5, "0-1": 0.0}  # Black's

logger = logging.getLogger(__name__)


class Standing(NamedTuple):
    """An agent's results against people, from its side, and its rating by the rated games."""

    agent: str
    wins: int
    draws: int
    losses: int
    rated: int
    rating: Rating | None


def keep(folder: Path, session: Session, key: str) -> Path:
    """Write a finished game; the same `key` writes the same file. Raises OSError if it cannot."""
    folder.mkdir(parents=True, exist_ok=True)
    when = session.setup.began[:19].replace("-", "").replace(":", "").replace("T", "-")
    path = folder / f"{when}-{hashlib.sha256(key.encode()).hexdigest()[:8]}.pdn"
    pdn.dump([session.record()], path)
    return path


def games(folder: Path) -> list[pdn.Game]:
    """The games kept in a folder, the oldest first; files that are none are passed over."""
    found = []
    for path in sorted(folder.glob("*.pdn")):
        try:
            found += _read(path, path.stat().st_mtime_ns)
        except (ValueError, OSError) as error:
            logger.warning("%s is passed over: %s", path, error)
    return found


@functools.lru_cache(10_000)
def _read(path: Path, changed: int) -> list[pdn.Game]:
    return pdn.load(path)


def standings(games: Iterable[pdn.Game]) -> list[Standing]:
    """Every agent that has met people, by name."""
    met: dict[str, list[pdn.Game]] = {}
    for game in games:
        for side in ("Black", "White"):
            if game.tags.get(f"{side}Type") == "program" and game.result in SCORES:
                met.setdefault(game.tags.get(side, "?"), []).append(game)
    return [_standing(agent, met[agent]) for agent in sorted(met)]


def summary(folder: Path, games: Sequence[pdn.Game]) -> Json:
    """What the page shows of the games in a folder."""
    lines = [_shown(standing) for standing in standings(games)]
    return {"folder": str(folder), "games": len(games), "standings": lines}


def _shown(standing: Standing) -> Json:
    rating = standing.rating
    told = rating and {"mean": rating.mean, "sd": rating.sd, "grade": rating.grade}
    return standing._asdict() | {"rating": told}


def _standing(agent: str, games: Sequence[pdn.Game]) -> Standing:
    scores = [_score(game) for game in games]
    rated = [(_score(game), met) for game in games if (met := _opponents_rating(game))]
    rating = None
    if rated:
        gained, opponents = zip(*rated, strict=True)
        rating = rate_series(gained, opponents, np.random.default_rng(0))
    return Standing(agent, scores.count(1), scores.count(0.5), scores.count(0), len(rated), rating)


def _score(game: pdn.Game) -> float:
    """The agent's."""
    black = SCORES[game.result]
    return black if game.tags.get("BlackType") == "program" else 1 - black


def _opponents_rating(game: pdn.Game) -> float | None:
    """The person's, if the game is a rated one."""
    person = "White" if game.tags.get("BlackType") == "program" else "Black"
    text = game.tags.get(f"{person}Rating", "")
    return float(text) if game.tags.get("Rated") == "yes" and text.isdecimal() else None
