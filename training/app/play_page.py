"""The page to play on: games between a person and an agent."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from threading import Event

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from agents.analysis import Analysis
from checkers_env import pdn
from checkers_env.movegen import BLACK, WHITE
from checkers_env.render.scene import SIDES
from training.app import game_archive, serialize
from training.app.agent_catalog import DEFAULT, Roster
from training.app.async_agent import thought_of
from training.app.game import Session, Setup
from training.app.game_setup import opening_from, opening_of
from training.app.game_store import Seat, Sessions
from training.app.messages import advice
from training.app.request_body import asked
from training.app.serialize import Json
from training.app.templates import choices, page

LONGEST_NAME, RATINGS = 60, range(1, 3001)
COLOURS = {"black": BLACK, "white": WHITE}


async def show_page(request: Request) -> Response:
    """The page; its address may name an agent, as in ``/?agent=blondie24``."""
    roster, chosen = request.app.state.roster, request.query_params.get("agent")
    given = await run_in_threadpool(choices, roster, chosen)
    return page("play.html.jinja", "Play", **given)


async def begin(request: Request) -> Response:
    """Begin a game."""
    wanted = await asked(
        request,
        agent=str, amount=int, seconds=float,
        colour=str, opening=str, pdn=str,
        name=str, rating=int,
    )  # fmt: skip
    sessions: Sessions = request.app.state.sessions
    setup = await run_in_threadpool(_settled, sessions.roster, wanted)
    agent = await run_in_threadpool(sessions.agent_for, setup)
    return JSONResponse(state(sessions.begin(Session(setup), agent)), 201)


def _settled(roster: Roster, wanted: Json) -> Setup:
    """What is settled before a game, from what the page asks for. Raises ValueError."""
    seed = secrets.randbits(32)
    rng = np.random.default_rng(seed)
    colour = wanted["colour"] or ("black", "white")[int(rng.integers(2))]
    if colour not in COLOURS:
        raise ValueError(f"colour must be black or white, not {colour!r}.")
    name, rating = " ".join((wanted["name"] or "").split()), wanted["rating"]
    if len(name) > LONGEST_NAME or not name.isprintable():
        raise ValueError(f"A name has at most {LONGEST_NAME} characters, all of them printable.")
    if rating is not None and rating not in RATINGS:
        raise ValueError(f"A rating is a number from {RATINGS[0]} to {RATINGS[-1]}.")
    if wanted["pdn"] and wanted["opening"]:
        raise ValueError("Give an opening or a game to go on with, not both.")
    text = wanted["opening"] or ""
    opening = opening_from(wanted["pdn"]) if wanted["pdn"] else opening_of(text.strip(), rng)
    player = roster.player(wanted["agent"] or DEFAULT, wanted["amount"], wanted["seconds"])
    return Setup(*player, COLOURS[colour], name or "Anonymous", rating, opening, seed)


def state(seat: Seat) -> Json:
    """A game as the page shows it."""
    session = seat.session
    setup, board = session.setup, session.board
    persons_turn = not session.over and not session.agent_is_to_move
    frames = serialize.frames(setup.opening.start, board.moves)
    for ply, thought in session.thoughts.items():
        frames[ply]["thought"] = thought
    if persons_turn:
        frames[-1]["legal"] = [serialize.move(move) for move in board.legal_moves]
    return {
        "game": seat.key,
        "version": session.version,
        "agent": setup.agent,
        "label": setup.label,
        "name": setup.name,
        "rating": setup.rating,
        "you": SIDES[setup.side].lower(),
        "status": "over" if session.over else "yours" if persons_turn else "thinking",
        "seconds": setup.limits.seconds,
        "frames": frames,
        "opening": len(setup.opening.moves),
        "pieces": {"black": board.black.bit_count(), "white": board.white.bit_count()},
        "message": session.message,
        "advice": advice(board) if persons_turn else "",
        "result": session.result,
        "reason": session.reason,
        "uncounted": session.uncounted(),
    }


async def show(request: Request) -> Response:
    """The game as it stands; one that could not be written before is written now."""
    seat = _seat(request)
    return JSONResponse(state(seat)) if seat.saved else _saved(request, seat)


async def move(request: Request) -> Response:
    """The person's move; the agent's is asked for by :func:`reply`."""
    seat, wanted = _seat(request), await asked(request, squares=list)
    squares = wanted["squares"] or []
    if not all(type(square) is int for square in squares):
        raise ValueError("A move is a list of squares from 1 to 32.")
    seat.session.play(squares)
    seat.stopped.set()
    return _saved(request, seat)


async def reply(request: Request) -> Response:
    """The agent's move, if it is to move."""
    seat = _seat(request)
    async with seat.lock:
        while seat.session.agent_is_to_move:
            version, thought = await _thought(seat)
            if seat.session.version == version:
                seat.session.answer(thought)
                return _saved(request, seat)
    return JSONResponse(state(seat))


async def hint(request: Request) -> Response:
    """What the agent would play in the person's place."""
    seat = _seat(request)
    async with seat.lock:
        seat.session.check_persons_turn()
        version, thought = await _thought(seat)
    if seat.session.version != version:
        raise HTTPException(409, "The game has gone on meanwhile.")
    seat.session.hint(thought)
    _saved(request, seat)
    return JSONResponse({"hint": serialize.thought_json(thought), **state(seat)})


async def _thought(seat: Seat) -> tuple[int, Analysis]:
    """What the agent thinks of the position, and which version of the game that was about."""
    session, seat.stopped = seat.session, Event()
    version, setup = session.version, session.setup
    return version, await thought_of(
        seat.agent, session.board.copy(), setup.limits, setup.seed, seat.stopped
    )


async def hurry(request: Request) -> Response:
    """Have the agent make the best move it has found so far."""
    seat = _seat(request)
    seat.session.hurry()
    seat.stopped.set()
    return JSONResponse({})


async def take_back(request: Request) -> Response:
    """Undo the person's last move."""
    seat = _seat(request)
    seat.session.take_back()
    seat.stopped.set()
    return _saved(request, seat)


async def offer_draw(request: Request) -> Response:
    """Offer the agent a draw."""
    seat = _seat(request)
    seat.session.offer_draw()
    return _saved(request, seat)


async def resign(request: Request) -> Response:
    """Give the game up."""
    seat = _seat(request)
    seat.session.resign()
    seat.stopped.set()
    return _saved(request, seat)


async def as_pdn(request: Request) -> Response:
    """The game as a PDN file."""
    return _file("game.pdn", pdn.dumps([_seat(request).session.record()]))


async def show_kept(request: Request) -> Response:
    """The agents' results against people, and their ratings."""
    folder = request.app.state.sessions.folder
    games = await run_in_threadpool(game_archive.games, folder)
    return JSONResponse(await run_in_threadpool(game_archive.summary, folder, games))


async def kept_as_pdn(request: Request) -> Response:
    """All games kept as one PDN file."""
    games = await run_in_threadpool(game_archive.games, request.app.state.sessions.folder)
    return _file("games.pdn", pdn.dumps(games))


def _seat(request: Request) -> Seat:
    sessions: Sessions = request.app.state.sessions
    try:
        return sessions.seat(request.path_params["game"])
    except LookupError as error:
        raise HTTPException(404, str(error.args[0])) from None


def _saved(request: Request, seat: Seat) -> Response:
    """The game as it stands, once it is written down."""
    request.app.state.sessions.save(seat)
    return JSONResponse(state(seat))


def _file(name: str, text: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type="text/plain; charset=utf-8", headers=headers)


def _game(action: str, endpoint: Callable[[Request], Awaitable[Response]]) -> Route:
    return Route(f"/api/games/{{game}}/{action}", endpoint, methods=["POST"])


routes = [
    Route("/", show_page),
    Route("/api/games", begin, methods=["POST"]),
    Route("/api/games/{game}", show),
    Route("/api/games/{game}/pdn", as_pdn),
    Route("/api/kept", show_kept),
    Route("/api/kept.pdn", kept_as_pdn),
    _game("move", move),
    _game("reply", reply),
    _game("hint", hint),
    _game("hurry", hurry),
    _game("take-back", take_back),
    _game("draw", offer_draw),
    _game("resign", resign),
]
