"""The page on which two agents play each other.

The server keeps nothing of these games: each request brings the moves so far.
"""

from __future__ import annotations

import secrets
from threading import Event
from typing import Any

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from agents.agent import Agent, reseed
from checkers_env import fen, pdn
from checkers_env.board import Board
from training.app import serialize
from training.app.agent_catalog import Player, Roster
from training.app.async_agent import thought_of
from training.app.game import DRAWN, UNFINISHED, WON
from training.app.game_setup import board_of, opening_of
from training.app.messages import ending, spoken
from training.app.request_body import asked, checked
from training.app.serialize import Json
from training.app.templates import choices, page
from training.league.entrants import close_agent

SEEDS = range(2**32)


async def show_page(request: Request) -> Response:
    """The page."""
    given = await run_in_threadpool(choices, request.app.state.roster, None)
    return page("compare.html.jinja", "Compare", **given)


async def begin(request: Request) -> Response:
    """Settle who plays from what opening, and show the position."""
    wanted = await asked(request, black=dict, white=dict, opening=str)
    roster: Roster = request.app.state.roster
    players = [
        await run_in_threadpool(_player, roster, wanted[side]) for side in ("black", "white")
    ]
    seed = secrets.randbits(32)
    opening = opening_of((wanted["opening"] or "").strip(), np.random.default_rng(seed))
    return JSONResponse(
        {
            "black": players[0].label,
            "white": players[1].label,
            "seed": seed,
            "opening": len(opening.moves),
            "frames": serialize.frames(opening.start, opening.moves),
        }
    )


async def move(request: Request) -> Response:
    """The next move of a game, by the player whose turn it is, and what it thought."""
    wanted = await asked(request, player=dict, start=str, moves=list, seed=int)
    board, seed = _board(wanted), wanted["seed"] or 0
    if board.outcome():
        raise ValueError("The game is over.")
    if seed not in SEEDS:
        raise ValueError(f"seed must be from 0 to {SEEDS[-1]}.")
    roster: Roster = request.app.state.roster
    player = await run_in_threadpool(_player, roster, wanted["player"])
    agent = await run_in_threadpool(_made, roster, player.agent, seed + board.ply)
    try:
        thought = await thought_of(agent, board, player.limits, seed, Event())
    finally:
        close_agent(agent)
    message = spoken(board, thought.move)
    board.push(thought.move)
    result, reason = _result(board)
    frame = serialize.frames(board.fen(), ())[0] | {
        "move": serialize.move(board.moves[-1]),
        "thought": serialize.thought_json(thought),
    }
    said = f"{message} {reason}".strip()
    return JSONResponse({"frame": frame, "message": said, "result": result, "reason": reason})


async def as_pdn(request: Request) -> Response:
    """A game as PDN text."""
    wanted = await asked(request, black=str, white=str, start=str, moves=list)
    board = _board(wanted)
    result, reason = _result(board)
    tags = {"Event": "Two agents", "Site": "checkers-play", "Round": "-"}
    tags |= {"Black": wanted["black"] or "?", "White": wanted["white"] or "?"}
    tags |= {"FEN": wanted["start"] or fen.START} | ({"Termination": reason} if reason else {})
    return JSONResponse({"pdn": pdn.dumps([pdn.Game(tags, tuple(board.moves), result)])})


def _player(roster: Roster, wanted: Any) -> Player:
    fields = checked(wanted or {}, agent=str, amount=int, seconds=float)
    if not fields["agent"]:
        raise ValueError("Both sides need an agent.")
    return roster.player(fields["agent"], fields["amount"], fields["seconds"])


def _made(roster: Roster, name: str, seed: int) -> Agent:
    return reseed(roster.make(name), seed)


def _board(wanted: Json) -> Board:
    """The board after the moves that a request brings. Raises ValueError for wrong ones."""
    moves = wanted["moves"] or []
    if not all(isinstance(text, str) for text in moves):
        raise ValueError("moves must be a list of texts such as 11-15.")
    return board_of(wanted["start"] or fen.START, moves)


def _result(board: Board) -> tuple[str, str]:
    """The result as PDN writes it, and how the game ended in words."""
    outcome = board.outcome()
    if outcome is None:
        return UNFINISHED, ""
    result = DRAWN if outcome.winner is None else WON[outcome.winner]
    return result, ending(outcome, board.turn)


routes = [
    Route("/compare", show_page),
    Route("/api/compare", begin, methods=["POST"]),
    Route("/api/compare/move", move, methods=["POST"]),
    Route("/api/compare/pdn", as_pdn, methods=["POST"]),
]
