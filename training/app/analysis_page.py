"""Page on which any position is analysed, and the analyses that other pages ask for.

The server stores nothing: each request brings a position and its moves. Without an agent the judge
analyses, which is `strong` with a fixed number of positions: its view is the same on every machine.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from threading import Event

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

import agents
from agents.agent import Agent
from agents.endgame.probe import probe_board
from agents.endgame.tables import load_tablebase
from agents.limits import Limits
from checkers_env import fen
from checkers_env.board import Board
from checkers_env.moves import Move
from checkers_env.openings import NAMES
from training.app import serialize
from training.app.agent_catalog import JUDGE, JUDGE_NODES, AgentCatalog
from training.app.async_agent import analyse_in_thread, analyse_moves_in_thread, run_in_thread
from training.app.game import board_result
from training.app.game_setup import opening_from_pdn, read_board
from training.app.messages import explain_forced_capture
from training.app.preparation import JUDGE_PREPARATION, TABLE_PIECES, TABLES_PREPARATION
from training.app.request_body import read_fields
from training.app.serialize import Json
from training.app.templates import form_values, render_page
from training.league.entrants import close_agent

MAX_NODES, MAX_LINES = 1_000_000, 10
SEED = 0


class Judge:
    """The agent whose view the pages show, made when it is first asked."""

    def __init__(self) -> None:
        self._agent: Agent | None = None
        self._lock = asyncio.Lock()  # it does one thing at a time

    async def analyse(self, board: Board, nodes: int, count: int) -> list[Json]:
        """Return the analyses of the best moves; see :func:`analyse`."""
        async with self._lock:
            if self._agent is None:
                await run_in_thread(JUDGE_PREPARATION.wait, Event())
                self._agent = await run_in_thread(agents.make, JUDGE)
            return await _analyse(self._agent, board, Limits(nodes=nodes), count)


async def show_page(request: Request) -> Response:
    """Return the page."""
    values = await run_in_thread(form_values, request.app.state.catalog, None)
    return render_page("analyse.html.jinja", "Analyse", **values)


async def show_about(request: Request) -> Response:
    """Return the page with the rules and the story of Blondie24."""
    return render_page("about.html.jinja", "Rules")


async def show_puzzles(request: Request) -> Response:
    """Return the page with puzzles, whose file is among the static ones."""
    return render_page("puzzles.html.jinja", "Puzzles", start=fen.START)


async def show_position(request: Request) -> Response:
    """Return the positions of a game, and what can be played in the last one."""
    fields = await read_fields(request, start=str, moves=list, pdn=str)
    return JSONResponse(await run_in_thread(_describe_position, fields))


def _describe_position(fields: Json) -> Json:
    if fields["pdn"]:
        if fields["start"] or fields["moves"]:
            raise ValueError("Give a position with its moves, or a game, not both.")
        opening = opening_from_pdn(fields["pdn"], is_over=True)
        fields = {"start": opening.start, "moves": list(opening.moves)}
    board = read_board(fields)
    result, reason = board_result(board)
    frames = serialize.frames_to_json(fields["start"] or fen.START, board.moves)
    if not reason:
        frames[-1]["legal"] = [serialize.move_to_json(move) for move in board.legal_moves]
    return {
        "frames": frames,
        "result": result,
        "reason": reason,
        "opening": name_opening(frames[0]["fen"], board.moves),
        "forced_capture": "" if reason else explain_forced_capture(board),
    }


def name_opening(start: str, moves: Sequence[Move]) -> str:
    """Return the name of a game's opening, by its first three moves; an empty text without one."""
    return NAMES.get(" ".join(map(str, moves[:3])), "") if start == fen.START else ""


async def analyse(request: Request) -> Response:
    """Return an agent's analysis of a position, the judge's if no agent is named."""
    fields = await read_fields(
        request,
        start=str, moves=list,
        agent=str, amount=int, seconds=float, nodes=int, lines=int,
    )  # fmt: skip
    count = 1 if fields["lines"] is None else fields["lines"]
    if not 1 <= count <= MAX_LINES:
        raise ValueError(f"lines must be from 1 to {MAX_LINES}.")
    board = await run_in_thread(read_board, fields)
    if fields["agent"]:
        label, lines = await _ask_agent(request.app.state.catalog, fields, board, count)
    else:
        label, lines = await _ask_judge(request.app.state.judge, fields, board, count)
    exact = await run_in_thread(exact_result, board)
    return JSONResponse({"label": label, "lines": lines, "exact": exact})


async def _ask_agent(
    catalog: AgentCatalog, fields: Json, board: Board, count: int
) -> tuple[str, list[Json]]:
    if fields["nodes"] is not None:
        raise ValueError("nodes is for the judge: give no agent, or amount or seconds.")
    choice = await run_in_thread(
        catalog.choose, fields["agent"], fields["amount"], fields["seconds"]
    )
    agent = await run_in_thread(catalog.make, choice.agent)
    try:
        return choice.label, await _analyse(agent, board, choice.limits, count)
    finally:
        await run_in_thread(close_agent, agent)


async def _ask_judge(
    judge: Judge, fields: Json, board: Board, count: int
) -> tuple[str, list[Json]]:
    if fields["amount"] is not None or fields["seconds"] is not None:
        raise ValueError("The judge is limited by nodes alone.")
    nodes = JUDGE_NODES if fields["nodes"] is None else fields["nodes"]
    if not 1 <= nodes <= MAX_NODES:
        raise ValueError(f"nodes must be from 1 to {MAX_NODES:,}.")
    return JUDGE, await judge.analyse(board, nodes, count)


async def _analyse(agent: Agent, board: Board, limits: Limits, count: int) -> list[Json]:
    if board.outcome():
        return []
    if count == 1:
        analyses = [await analyse_in_thread(agent, board, limits, SEED, Event())]
    else:
        analyses = await analyse_moves_in_thread(agent, board, limits, SEED, Event())
    return [serialize.analysis_to_json(analysis) for analysis in analyses[:count]]


def exact_result(board: Board) -> Json | None:
    """Return the result for the side to move, of a finished game or of perfect play.

    None with too many pieces, and while the tables are being prepared.
    """
    if outcome := board.outcome():
        value = 0 if outcome.winner is None else 1 if outcome.winner == board.turn else -1
        return {"value": value, "plies": 0}
    if board.black.bit_count() + board.white.bit_count() > TABLE_PIECES:
        return None
    if TABLES_PREPARATION.seconds is not None:
        return None
    result = probe_board(load_tablebase(TABLE_PIECES), board)
    return result and result._asdict()


routes = [
    Route("/about", show_about),
    Route("/puzzles", show_puzzles),
    Route("/analyse", show_page),
    Route("/api/position", show_position, methods=["POST"]),
    Route("/api/analysis", analyse, methods=["POST"]),
]
