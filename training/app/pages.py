"""Pages whose games are the browser's own: play, puzzles, analyse, compare, rules."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from checkers_env.openings import NAMES
from training.app.async_agent import in_thread
from training.app.templates import form_values, render_page


def show_play(request: Request) -> Response:
    """Return the page "Play"; its address may choose an agent: ``/?agent=blondie24``."""
    agent = request.query_params.get("agent")
    values = form_values(request.app.state.catalog, agent)
    return render_page("play.html.jinja", "Play", **values)


def show_puzzles(request: Request) -> Response:
    """Return the page with puzzles, whose file is among the static ones."""
    return render_page("puzzles.html.jinja", "Puzzles")


def show_analyse(request: Request) -> Response:
    """Return the page on which any position is analysed."""
    values = form_values(request.app.state.catalog, None)
    return render_page("analyse.html.jinja", "Analyse", names=NAMES, **values)


def show_compare(request: Request) -> Response:
    """Return the page on which two agents play each other."""
    values = form_values(request.app.state.catalog, None)
    return render_page("compare.html.jinja", "Compare", **values)


def show_about(request: Request) -> Response:
    """Return the page with the rules and the story of Blondie24."""
    return render_page("about.html.jinja", "Rules")


routes = [
    Route("/", in_thread(show_play)),
    Route("/puzzles", in_thread(show_puzzles)),
    Route("/analyse", in_thread(show_analyse)),
    Route("/compare", in_thread(show_compare)),
    Route("/about", in_thread(show_about)),
]
