"""Archive of finished games against people, one PDN file each, and the agents' ratings by them.

Blondie24 played 165 games against people of known rating. The papers' formula rated it over 5000
random orders of these games (Chellapilla & Fogel 2001; thesis 2.7). Agents are rated here likewise.
"""

from __future__ import annotations

import functools
import hashlib
import logging
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread
from typing import NamedTuple

import numpy as np
from anyio import move_on_after
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agents.agent import Agent
from checkers_env import pdn
from checkers_env.board import Board
from checkers_env.files import write_atomically
from checkers_env.render.scene import SIDES
from training.app.agent_pool import PlayerKey
from training.app.analysis import create_board
from training.app.async_agent import in_thread, run_in_thread
from training.app.request_body import Json, JSONAnswer, read_fields
from training.league.entrants import close_agent
from training.rating.thesis_ratings import Rating, rate_series

SCORES = {"1-0": 1.0, "1/2-1/2": 0.5, "0-1": 0.0}  # Black's
WINNERS = {"1-0": 0, "1/2-1/2": None, "0-1": 1}
MAX_NAME_LENGTH, RATINGS = 60, range(1, 3001)
GAME_OVER_SECONDS = 5.0  # for an agent to learn the result

logger = logging.getLogger(__name__)


class AgentResults(NamedTuple):
    """An agent's results against people, and its rating by the rated games."""

    agent: str
    wins: int
    draws: int
    losses: int
    rated_games: int
    rating: Rating | None


async def keep_game(request: Request) -> Response:
    """Keep a finished game, and tell its result to an agent that learns."""
    fields = await read_fields(request, pdn=str, seed=int)
    game, board = await run_in_thread(read_record, fields["pdn"] or "")
    await run_in_thread(save_game, request.app.state.games, game)
    side = 0 if game.tags["BlackType"] == "program" else 1
    key = PlayerKey(game.tags[SIDES[side]], fields["seed"] or 0, side)
    if agent := request.app.state.pool.take(key):
        await _announce_end(agent, board, side)
    return JSONAnswer({}, 201)


async def _announce_end(agent: Agent, board: Board, side: int) -> None:
    """Call the method ``game_over`` of an agent that learns, and close the agent."""
    try:
        if game_over := getattr(agent, "game_over", None):
            with suppress(Exception), move_on_after(GAME_OVER_SECONDS):  # the result stands
                await run_in_thread(game_over, board, side)
    finally:
        Thread(target=close_agent, args=(agent,)).start()


def read_record(text: str) -> tuple[pdn.Game, Board]:
    """Return the game of a PDN and its last position.

    Raise ValueError unless it is one legal, finished game between a person and a program.
    """
    games = pdn.loads(text)
    if len(games) != 1:
        raise ValueError(f"The PDN holds {len(games)} games: give one.")
    game, tags = games[0], games[0].tags
    if game.result not in SCORES:
        raise ValueError("The game is not finished.")
    if {tags.get("BlackType"), tags.get("WhiteType")} != {"human", "program"}:
        raise ValueError("The game must be one between a human and a program.")
    person = "White" if tags["BlackType"] == "program" else "Black"
    name, rating = tags.get(person, ""), tags.get(f"{person}Rating", "1")
    if len(name) > MAX_NAME_LENGTH or not name.isprintable():
        raise ValueError(f"A name has at most {MAX_NAME_LENGTH} characters, all of them printable.")
    if not (rating.isascii() and rating.isdecimal() and int(rating[:9]) in RATINGS):
        raise ValueError(f"A rating is a number from {RATINGS[0]} to {RATINGS[-1]}.")
    board = create_board(game.start, game.moves)
    outcome = board.outcome()
    if outcome and outcome.winner != WINNERS[game.result]:
        raise ValueError(f"The result {game.result} is not that of the moves.")
    return game, board


def save_game(folder: Path, game: pdn.Game) -> bool:
    """Write a game as a file of its own; return whether it was not there yet. Raise OSError."""
    text = pdn.dumps([game])
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    if any(folder.glob(f"*-{digest}.pdn")):
        return False
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{digest}.pdn", text.encode())
    return True


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


def show_archive(request: Request) -> Response:
    """Return the agents' results against people, and their ratings."""
    folder = request.app.state.games
    return JSONAnswer(archive_to_json(folder, load_games(folder)))


def export_archive(request: Request) -> Response:
    """Return all finished games as one PDN text."""
    return JSONAnswer({"pdn": pdn.dumps(load_games(request.app.state.games))})


routes = [
    Route("/api/archive", keep_game, methods=["POST"]),
    Route("/api/archive", in_thread(show_archive)),
    Route("/api/archive/pdn", in_thread(export_archive)),
]
