"""Web application: routes of all pages, and error responses."""

from __future__ import annotations

import asyncio
import mimetypes
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from anyio import move_on_after
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from checkers_env.errors import EngineError
from training.app import analysis, archive, pages, preparation, runs_page
from training.app.agent_catalog import AgentCatalog
from training.app.agent_pool import AgentPool
from training.app.async_agent import run_in_thread
from training.app.request_body import JSONAnswer
from training.app.run_launcher import RunLauncher
from training.app.security import SecurityMiddleware
from training.app.templates import render_page

CLOSE_SECONDS = 1.0  # for all agents together to end when the server stops

mimetypes.add_type("text/javascript", ".js")  # some systems register another type


def create_app(games: Path, *, extra: Sequence[str] = (), runs: Sequence[Path] = ()) -> Starlette:
    """Create the web application (ASGI).

    `games` is the folder of the games against people, and `extra` are agents to offer beside the
    zoo's. Weight files of the runs in `runs` may be played against; runs that the page starts are
    in the first of these folders.
    """

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        try:
            yield
        except asyncio.CancelledError:  # by a second Ctrl-C
            return
        with move_on_after(CLOSE_SECONDS):
            await run_in_thread(app.state.pool.close)
        await run_in_thread(app.state.launcher.close)

    app = Starlette(
        routes=[
            *pages.routes,
            *analysis.routes,
            *archive.routes,
            *runs_page.routes,
            *preparation.routes,
            Mount("/static/engine", StaticFiles(packages=[("training.app", "engine")])),
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
    app.state.pool = AgentPool()
    app.state.searches = {}  # events that end them, by the names of the pages
    app.state.games = games
    app.state.runs = runs
    app.state.launcher = RunLauncher(runs[0] if runs else None)
    return app


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
        return JSONAnswer({"error": reason}, status)
    reason = "There is no page at this address." if reason == "Not Found" else reason
    return render_page("error.html.jinja", "", status, reason=reason)
