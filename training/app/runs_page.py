"""The page that watches evolution, and what its script asks for.

Runs are known by their names in the folders that the server was started with; a name is looked up
in the listing and never becomes part of a path.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from agents.match_kernel import DRAW
from checkers_env import pdn
from checkers_env.board import Outcome
from checkers_env.state import REASONS
from training.app.generation_replay import (
    RESULTS,
    Played,
    as_pdn,
    current_generation,
    latest_generation,
)
from training.app.messages import ending
from training.app.run_reader import generations, is_running, overview, runs, saved, version
from training.app.serialize import Json, frames
from training.app.templates import page


def show_page(request: Request) -> Response:
    """The page itself; its script reads ?run=NAME."""
    return page("evolution.html.jinja", "Evolution")


def list_runs(request: Request) -> Response:
    """All runs, the one that saved last first."""
    found = [
        {
            "name": name,
            "generation": generations(run),
            "running": is_running(run),
            "saved": saved(run) / 1e9,
        }
        for name, run in all_runs(request).items()
    ]
    return JSONResponse({"runs": sorted(found, key=lambda run: -run["saved"])})


def show_run(request: Request) -> Response:
    """How far a run is; nothing (204) if it is still at the ?version=... that the page has."""
    run = _run(request)
    if request.query_params.get("version") == version(run):
        return Response(status_code=204)
    return JSONResponse(overview(run))


def show_generation(request: Request) -> Response:
    """The standings and the games of a run's current generation."""
    with _not_found():
        at, played = latest_generation(_run(request))
    return JSONResponse(
        {
            "at": str(at),
            "number": played.number,
            "survive": played.survive,
            "outcome": played.outcome,
            "standings": [standing._asdict() for standing in played.standings],
            "games": [_headline(game) for game in played.games],
        }
    )


def show_game(request: Request) -> Response:
    """A game of the generation `at` that time, position by position and as PDN."""
    run = _run(request)
    at, number = _number(request, "at"), _number(request, "number")
    with _not_found():
        played = current_generation(run, at)
    if number >= len(played.games):
        raise HTTPException(404, f"There are {len(played.games)} games, counted from 0.")
    game = played.games[number]
    tags = {"Event": f"{run.name}, generation {played.number}", "Round": str(number + 1)}
    record = as_pdn(game, tags)
    winner, reason, plies = game.game.result
    outcome = Outcome(None if winner == DRAW else winner, REASONS[reason])
    return JSONResponse(
        {
            **_headline(game),
            "generation": played.number,
            "number": number,
            "ending": ending(outcome, plies % 2),
            "frames": frames(record.start, record.moves),
            "pdn": pdn.dumps([record]),
        }
    )


def all_runs(request: Request) -> dict[str, Path]:
    """The runs of all folders by name; of equal names the first folder's."""
    found: dict[str, Path] = {}
    for folder in request.app.state.runs:
        found = runs(folder) | found
    return found


def _run(request: Request) -> Path:
    name = request.path_params["run"]
    run = all_runs(request).get(name)
    if run is None:
        raise HTTPException(404, f"There is no run {name!r}.")
    return run


def _number(request: Request, name: str) -> int:
    text: str = request.path_params[name]
    if not (text.isascii() and text.isdecimal() and len(text) < 20):
        raise HTTPException(404, f"{text!r} is not a number.")
    return int(text)


@contextmanager
def _not_found() -> Iterator[None]:
    """Answer 404 to what is not there any more."""
    try:
        yield
    except LookupError as error:
        raise HTTPException(404, f"{error.args[0]}.") from None


def _headline(played: Played) -> Json:
    result = RESULTS[played.game.result.winner]
    plies = played.game.result.plies
    return {"black": played.black, "white": played.white, "result": result, "plies": plies}


routes = [
    Route("/evolution", show_page),
    Route("/api/runs", list_runs),
    Route("/api/runs/{run}", show_run),
    Route("/api/runs/{run}/generation", show_generation),
    Route("/api/runs/{run}/generation/{at}/games/{number}", show_game),
]
