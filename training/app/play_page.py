"""Page for games between a person and an agent."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from threading import Event
from typing import Any

import numpy as np
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from agents.analysis import Analysis
from checkers_env import pdn
from checkers_env.movegen import BLACK, WHITE
from checkers_env.render.scene import SIDES
from training.app import game_archive, serialize
from training.app.agent_catalog import (
    DEFAULT_AGENT,
    DEFAULT_SECONDS,
    AgentCatalog,
    AgentChoice,
)
from training.app.async_agent import analyse_in_thread, run_in_thread
from training.app.game import HumanGame
from training.app.game_setup import (
    GameSetup,
    TimeControl,
    choose_opening,
    opening_from_pdn,
)
from training.app.game_store import GameStore, LiveGame
from training.app.messages import explain_forced_capture
from training.app.opponents import BY_ID, choose_opponent
from training.app.request_body import check_fields, read_fields
from training.app.serialize import Json
from training.app.templates import form_values, render_page

MAX_NAME_LENGTH, RATINGS = 60, range(1, 3001)
COLOURS = {"black": BLACK, "white": WHITE}


async def show_page(request: Request) -> Response:
    """Return the page; its address may choose an agent: ``/?agent=blondie24``."""
    catalog, agent = request.app.state.catalog, request.query_params.get("agent")
    values = await run_in_thread(form_values, catalog, agent)
    return render_page("play.html.jinja", "Play", **values)


async def start_game(request: Request) -> Response:
    """Start a game."""
    fields = await read_fields(
        request,
        agent=str, amount=int, seconds=float,
        colour=str, opening=str, pdn=str,
        name=str, rating=int, opponent=str, level=int, clock=dict,
    )  # fmt: skip
    store: GameStore = request.app.state.store
    setup = await run_in_thread(_make_setup, store.catalog, fields)
    agent = await run_in_thread(store.make_agent, setup)
    return JSONResponse(page_state(await store.add(HumanGame(setup), agent)), 201)


def _make_setup(catalog: AgentCatalog, fields: Json) -> GameSetup:
    """Return the setup that a request describes. Raise ValueError for a wrong one."""
    seed = secrets.randbits(32)
    rng = np.random.default_rng(seed)
    colour = fields["colour"] or ("black", "white")[int(rng.integers(2))]
    if colour not in COLOURS:
        raise ValueError(f"colour must be black or white, not {colour!r}.")
    name, rating = " ".join((fields["name"] or "").split()), fields["rating"]
    if len(name) > MAX_NAME_LENGTH or not name.isprintable():
        raise ValueError(f"A name has at most {MAX_NAME_LENGTH} characters, all of them printable.")
    if rating is not None and rating not in RATINGS:
        raise ValueError(f"A rating is a number from {RATINGS[0]} to {RATINGS[-1]}.")
    if fields["pdn"] and fields["opening"]:
        raise ValueError("Give an opening or a game to go on with, not both.")
    if fields["pdn"]:
        opening = opening_from_pdn(fields["pdn"])
    else:
        opening = choose_opening((fields["opening"] or "").strip(), rng)
    clock = _read_clock(fields["clock"])
    return GameSetup(
        *_choose_agent(catalog, fields, clock is not None),
        COLOURS[colour],
        name or "Anonymous",
        rating,
        opening,
        seed,
        opponent=fields["opponent"] or "",
        level=fields["level"],
        clock=clock,
    )


def _choose_agent(catalog: AgentCatalog, fields: Json, has_clock: bool) -> AgentChoice:
    if not fields["opponent"]:
        agent = fields["agent"] or DEFAULT_AGENT
        return catalog.choose(agent, fields["amount"], fields["seconds"], has_clock=has_clock)
    if any(fields[name] is not None for name in ("agent", "amount", "seconds")):
        raise ValueError("Give an opponent, or an agent with its limits, not both.")
    return choose_opponent(fields["opponent"], fields["level"], DEFAULT_SECONDS)


def _read_clock(body: Any) -> TimeControl | None:
    if body is None:
        return None
    fields = check_fields(body, minutes=float, increment=float)
    if fields["minutes"] is None:
        raise ValueError("A clock needs its minutes.")
    return TimeControl(fields["minutes"], fields["increment"] or 0.0).check()


def page_state(live: LiveGame) -> Json:
    """Return everything that the page shows of a game."""
    game = live.game
    setup, board = game.setup, game.board
    persons_turn = not game.is_over and not game.is_agents_turn
    frames = serialize.frames_to_json(setup.opening.start, board.moves)
    for ply, analysis in game.analyses.items():
        frames[ply]["analysis"] = analysis
    if persons_turn:
        frames[-1]["legal"] = [serialize.move_to_json(move) for move in board.legal_moves]
    return {
        "key": live.key,
        "version": game.version,
        "agent": setup.agent,
        "label": setup.opponent_name,
        "opponent": setup.opponent,
        "level": setup.level,
        "player": _player_to_json(setup),
        "time_control": setup.clock and setup.clock._asdict(),
        "clock": game.clock
        and {
            "black": game.clock.remaining(BLACK),
            "white": game.clock.remaining(WHITE),
            "running": None if game.clock.running is None else SIDES[game.clock.running].lower(),
        },
        "name": setup.name,
        "rating": setup.rating,
        "side": SIDES[setup.side].lower(),
        "status": "over" if game.is_over else "yours" if persons_turn else "thinking",
        "seconds": setup.limits.seconds,
        "frames": frames,
        "opening_plies": len(setup.opening.moves),
        "message": game.message,
        "forced_capture": explain_forced_capture(board) if persons_turn else "",
        "result": game.result,
        "reason": game.reason,
        "unrated_reason": game.unrated_reason(),
    }


def _player_to_json(setup: GameSetup) -> Json:
    """Return the fields with which a request starts a game against the same player."""
    if setup.opponent in BY_ID:
        return {"opponent": setup.opponent, "level": setup.level}
    limits = setup.limits
    amount = limits.simulations if limits.depth is None else limits.depth
    return {"agent": setup.agent, "amount": amount, "seconds": limits.seconds}


async def show_game(request: Request) -> Response:
    """Return a game, and write it if that failed before."""
    live = await _find_game(request)
    if live.game.check_flag() or not live.is_saved:
        return await _save(request, live)
    return JSONResponse(page_state(live))


async def play_move(request: Request) -> Response:
    """Play the person's move; :func:`play_agent_move` follows on a request of its own."""
    live, fields = await _find_game(request), await read_fields(request, squares=list)
    squares = fields["squares"] or []
    if not all(type(square) is int for square in squares):
        raise ValueError("A move is a list of squares from 1 to 32.")
    live.game.play_move(squares)
    live.stop.set()
    return await _save(request, live)


async def play_agent_move(request: Request) -> Response:
    """Play the agent's move, if it is the agent's turn."""
    live = await _find_game(request)
    async with live.lock:
        while live.game.is_agents_turn:
            version, analysis = await _analyse(live)
            if live.game.version == version:
                live.game.play_agent_move(analysis)
                return await _save(request, live)
    return JSONResponse(page_state(live))


async def give_hint(request: Request) -> Response:
    """Return the agent's move for the person's side."""
    live = await _find_game(request)
    async with live.lock:
        live.game.check_persons_turn()
        version, analysis = await _analyse(live)
    if live.game.version != version:
        raise HTTPException(409, "The game has gone on meanwhile.")
    live.game.give_hint(analysis)
    return await _save(request, live, hint=serialize.analysis_to_json(analysis))


async def _analyse(live: LiveGame) -> tuple[int, Analysis]:
    """Return the version of the game, and the agent's analysis of its position."""
    game, live.stop = live.game, Event()
    version, setup = game.version, game.setup
    return version, await analyse_in_thread(
        live.agent, game.board.copy(), game.limits(), setup.seed, live.stop
    )


async def interrupt_agent(request: Request) -> Response:
    """Make the agent play its best move so far."""
    live = await _find_game(request)
    live.game.interrupt_agent()
    live.stop.set()
    return JSONResponse({})


async def take_back(request: Request) -> Response:
    """Undo the person's last move."""
    live = await _find_game(request)
    live.game.take_back()
    live.stop.set()
    return await _save(request, live)


async def offer_draw(request: Request) -> Response:
    """Offer the agent a draw."""
    live = await _find_game(request)
    live.game.offer_draw()
    return await _save(request, live)


async def resign(request: Request) -> Response:
    """Resign for the person."""
    live = await _find_game(request)
    live.game.resign()
    live.stop.set()
    return await _save(request, live)


async def export_pdn(request: Request) -> Response:
    """Return the game as a PDN file."""
    live = await _find_game(request)
    return _file_response("game.pdn", pdn.dumps([live.game.to_pdn()]))


async def show_archive(request: Request) -> Response:
    """Return the agents' results against people, and their ratings."""
    folder = request.app.state.store.folder
    games = await run_in_thread(game_archive.load_games, folder)
    return JSONResponse(await run_in_thread(game_archive.archive_to_json, folder, games))


async def export_archive(request: Request) -> Response:
    """Return all finished games as one PDN file."""
    games = await run_in_thread(game_archive.load_games, request.app.state.store.folder)
    return _file_response("games.pdn", await run_in_thread(pdn.dumps, games))


async def _find_game(request: Request) -> LiveGame:
    store: GameStore = request.app.state.store
    key = request.path_params["key"]
    try:
        return store.in_memory(key) or store.keep(await run_in_thread(store.load, key))
    except LookupError as error:
        raise HTTPException(404, str(error.args[0])) from None


async def _save(request: Request, live: LiveGame, **more: Json) -> Response:
    """Write a game to disk and return its state, which other requests may change meanwhile."""
    state = page_state(live)
    await request.app.state.store.save(live)
    return JSONResponse(more | state)


def _file_response(name: str, text: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type="text/plain; charset=utf-8", headers=headers)


def _action_route(action: str, endpoint: Callable[[Request], Awaitable[Response]]) -> Route:
    return Route(f"/api/games/{{key}}/{action}", endpoint, methods=["POST"])


routes = [
    Route("/", show_page),
    Route("/api/games", start_game, methods=["POST"]),
    Route("/api/games/{key}", show_game),
    Route("/api/games/{key}/pdn", export_pdn),
    Route("/api/archive", show_archive),
    Route("/api/archive.pdn", export_archive),
    _action_route("move", play_move),
    _action_route("reply", play_agent_move),
    _action_route("hint", give_hint),
    _action_route("interrupt", interrupt_agent),
    _action_route("take-back", take_back),
    _action_route("draw", offer_draw),
    _action_route("resign", resign),
]
