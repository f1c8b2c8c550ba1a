"""Web application: routes of all pages, and error responses."""

from __future__ import annotations

import mimetypes
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from anyio import move_on_after
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

import agents
from agents.external.errors import EngineError
from checkers_env.board import Board
from training.app import analysis_page, compare_page, play_page, preparation, runs_page
from training.app.agent_catalog import AgentCatalog
from training.app.async_agent import in_thread, run_in_thread
from training.app.game_store import GameStore
from training.app.run_launcher import RunLauncher
from training.app.security import SecurityMiddleware
from training.app.templates import render_page
from training.league.entrants import close_agent

CLOSE_SECONDS = 1.0  # for all agents together to end when the server stops

mimetypes.add_type("text/javascript", ".js")  # some systems register another type


def create_app(games: Path, *, extra: Sequence[str] = (), runs: Sequence[Path] = ()) -> Starlette:
    """Create the web application (ASGI).

    Parameters
    ----------
    games
        Folder of the games against people; it is made with the first game.
    extra
        Agents to offer beside the zoo's, as :func:`agents.make` takes them.
    runs
        Folders of evolution runs; their weight files may be played against. Runs that the page
        starts are in the first one.

    Returns
    -------
    The application; its ``state`` has ``catalog``, ``judge``, ``store``, ``runs`` and ``launcher``.
    """

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        with move_on_after(CLOSE_SECONDS):
            await run_in_thread(app.state.store.close)
        await run_in_thread(app.state.launcher.close)

    app = Starlette(
        routes=[
            *play_page.routes,
            *analysis_page.routes,
            *compare_page.routes,
            *runs_page.routes,
            *preparation.routes,
            Route("/api/explain", in_thread(explain)),
            Mount("/static", StaticFiles(packages=[("training.app", "static")])),
        ],
        middleware=[Middleware(SecurityMiddleware)],
        exception_handlers={
            ValueError: handle_request_error,
            HTTPException: handle_request_error,
            EngineError: handle_request_error,
            OSError: handle_file_error,
            ClientDisconnect: handle_disconnect,
        },
        lifespan=lifespan,
    )
    app.state.catalog = AgentCatalog(extra, runs)
    app.state.judge = analysis_page.Judge()
    app.state.store = GameStore(app.state.catalog, games)
    app.state.runs = runs
    app.state.launcher = RunLauncher(runs[0] if runs else None)
    return app


def explain(request: Request) -> Response:
    """Explain a position by an agent's evaluator: ``?agent=NAME&fen=FEN``."""
    query = request.query_params
    if "agent" not in query or "fen" not in query:
        raise ValueError("Ask for ?agent=NAME&fen=FEN.")
    agent = request.app.state.catalog.make(query["agent"])
    try:
        return JSONResponse(agents.explain(agent, Board(query["fen"])).to_json())
    finally:
        close_agent(agent)


async def handle_request_error(request: Request, error: Exception) -> Response:
    """Respond with 400 to a wrong request, and with 502 where an engine fails."""
    if isinstance(error, HTTPException):
        return _error_response(request, error.status_code, str(error.detail))
    return _error_response(request, 502 if isinstance(error, EngineError) else 400, str(error))


async def handle_file_error(request: Request, error: Exception) -> Response:
    """Respond with 500 where a file cannot be read or written."""
    return _error_response(request, 500, f"A file could not be read or written: {error}.")


async def handle_disconnect(request: Request, error: Exception) -> Response:
    """Respond to a client that has gone before its request was complete: nobody reads it."""
    return _error_response(request, 400, "The request is not complete.")


def _error_response(request: Request, status: int, reason: str) -> Response:
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": reason}, status)
    reason = "There is no page at this address." if reason == "Not Found" else reason
    return render_page("error.html.jinja", "", status, reason=reason)
