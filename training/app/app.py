"""The web application: all pages, and what their scripts ask for."""

from __future__ import annotations

import mimetypes
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from agents.external.errors import EngineError
from checkers_env.board import Board
from training.app import compare_page, explain, play_page, runs_page
from training.app.agent_catalog import Roster
from training.app.game_store import Sessions
from training.app.security import Guard
from training.app.templates import page
from training.league.entrants import close_agent

mimetypes.add_type("text/javascript", ".js")  # a system may have it otherwise


def application(games: Path, *, extra: Sequence[str] = (), runs: Sequence[Path] = ()) -> Starlette:
    """The application (ASGI).

    Parameters
    ----------
    games
        Folder in which games against people are kept; it is made when it is needed.
    extra
        Agents to offer beside ours, as agents.make takes them.
    runs
        Folders in which runs of evolution are looked for; their weight files may be played.

    In ``state`` of what this returns: ``roster``, ``sessions``, and ``runs`` as given.
    """

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        app.state.sessions.close()

    app = Starlette(
        routes=[
            *play_page.routes,
            *compare_page.routes,
            *runs_page.routes,
            Route("/api/inside", show_inside),
            Mount("/static", StaticFiles(packages=[("training.app", "static")])),
        ],
        middleware=[Middleware(Guard)],
        exception_handlers={
            ValueError: refuse,
            HTTPException: refuse,
            EngineError: refuse,
            OSError: fail,
        },
        lifespan=lifespan,
    )
    app.state.roster = Roster(extra, runs)
    app.state.sessions = Sessions(app.state.roster, games)
    app.state.runs = runs
    return app


def show_inside(request: Request) -> Response:
    """What is inside an agent's evaluator in a position: ?agent=NAME&fen=FEN."""
    asked = request.query_params
    if "agent" not in asked or "fen" not in asked:
        raise ValueError("Ask for ?agent=NAME&fen=FEN.")
    agent = request.app.state.roster.make(asked["agent"])
    try:
        return JSONResponse(explain.describe(agent, Board(asked["fen"])))
    finally:
        close_agent(agent)


async def refuse(request: Request, error: Exception) -> Response:
    """What cannot be done: 400 where the request makes no sense, 502 where an engine does not."""
    if isinstance(error, HTTPException):
        return _answer(request, error.status_code, str(error.detail))
    return _answer(request, 502 if isinstance(error, EngineError) else 400, str(error))


async def fail(request: Request, error: Exception) -> Response:
    """What went wrong with a file."""
    return _answer(request, 500, f"A file could not be read or written: {error}.")


def _answer(request: Request, status: int, reason: str) -> Response:
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": reason}, status)
    return page("refused.html.jinja", "", status, reason=reason)
