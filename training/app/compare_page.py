"""Page on which two agents play each other.

The server stores nothing of these games: each request brings all moves.
"""

from __future__ import annotations

import secrets
from threading import Event
from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from agents.agent import Agent, reseed
from checkers_env import fen, pdn
from training.app import serialize
from training.app.agent_catalog import AgentCatalog, AgentChoice
from training.app.async_agent import analyse_in_thread, run_in_thread
from training.app.game import board_result
from training.app.game_setup import choose_opening, read_board
from training.app.messages import describe_move
from training.app.request_body import check_fields, read_fields
from training.app.serialize import Json
from training.app.templates import form_values, render_page
from training.league.entrants import close_agent

SEEDS = range(2**32)


async def show_page(request: Request) -> Response:
    """Return the page."""
    values = await run_in_thread(form_values, request.app.state.catalog, None)
    return render_page("compare.html.jinja", "Compare", **values)


async def start_game(request: Request) -> Response:
    """Choose both agents and the opening, and return the first position."""
    fields = await read_fields(request, black=dict, white=dict, opening=str)
    catalog: AgentCatalog = request.app.state.catalog
    black, white = [
        await run_in_thread(_choose_agent, catalog, fields[side]) for side in ("black", "white")
    ]
    seed = secrets.randbits(32)
    text, rng = (fields["opening"] or "").strip(), np.random.default_rng(seed)
    opening = await run_in_thread(choose_opening, text, rng)
    return JSONResponse(
        {
            "black": black.label,
            "white": white.label,
            "seed": seed,
            "opening_plies": len(opening.moves),
            "frames": serialize.frames_to_json(opening.start, opening.moves),
        }
    )


async def play_move(request: Request) -> Response:
    """Play the next move of a game with the agent of the request, and return its analysis."""
    fields = await read_fields(request, player=dict, start=str, moves=list, seed=int)
    board, seed = await run_in_thread(read_board, fields), fields["seed"] or 0
    if board.outcome():
        raise ValueError("The game is over.")
    if seed not in SEEDS:
        raise ValueError(f"seed must be from 0 to {SEEDS[-1]}.")
    catalog: AgentCatalog = request.app.state.catalog
    choice = await run_in_thread(_choose_agent, catalog, fields["player"])
    agent = await run_in_thread(_make_agent, catalog, choice.agent, seed + board.ply)
    try:
        analysis = await analyse_in_thread(agent, board, choice.limits, seed, Event())
    finally:
        await run_in_thread(close_agent, agent)
    sentence = describe_move(board, analysis.move)
    board.push(analysis.move)
    result, reason = board_result(board)
    frame = serialize.frames_to_json(board.fen(), ())[0] | {
        "move": serialize.move_to_json(board.moves[-1]),
        "analysis": serialize.analysis_to_json(analysis),
    }
    message = f"{sentence} {reason}".strip()
    return JSONResponse({"frame": frame, "message": message, "result": result, "reason": reason})


async def export_pdn(request: Request) -> Response:
    """Return a game as PDN."""
    fields = await read_fields(request, black=str, white=str, start=str, moves=list)
    return JSONResponse({"pdn": await run_in_thread(_write_pdn, fields)})


def _write_pdn(fields: Json) -> str:
    board = read_board(fields)
    result, reason = board_result(board)
    tags = {"Event": "Two agents", "Site": "checkers-play", "Round": "-"}
    tags |= {"Black": fields["black"] or "?", "White": fields["white"] or "?"}
    tags |= {"FEN": fields["start"] or fen.START} | ({"Termination": reason} if reason else {})
    return pdn.dumps([pdn.Game(tags, tuple(board.moves), result)])


def _choose_agent(catalog: AgentCatalog, body: Any) -> AgentChoice:
    fields = check_fields(body or {}, agent=str, amount=int, seconds=float)
    if not fields["agent"]:
        raise ValueError("Both sides need an agent.")
    return catalog.choose(fields["agent"], fields["amount"], fields["seconds"])


def _make_agent(catalog: AgentCatalog, name: str, seed: int) -> Agent:
    return reseed(catalog.make(name), seed)


routes = [
    Route("/compare", show_page),
    Route("/api/compare", start_game, methods=["POST"]),
    Route("/api/compare/move", play_move, methods=["POST"]),
    Route("/api/compare/pdn", export_pdn, methods=["POST"]),
]
