"""Analysis of positions by agents: the server's part of each game.

A request brings the whole game: its start, all moves, the draw rules and the seed. Without an agent
the judge analyses, which is `strong` with a fixed number of positions: its view is the same on
every machine.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from threading import Event
from types import SimpleNamespace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import agents
from agents.agent import Agent, Limits, PlayerAgent, reseed, tighten
from agents.analysis import Analysis, analyse_until
from agents.endgame.probe import probe_board
from agents.endgame.tables import load_tablebase
from agents.search.workspace import Workspace
from checkers_env import fen
from checkers_env.board import Board
from checkers_env.moves import Move
from training.app import preparation
from training.app.agent_catalog import (
    DEFAULT_AGENT,
    JUDGE,
    JUDGE_NODES,
    AgentCatalog,
    AgentChoice,
)
from training.app.agent_pool import PlayerKey
from training.app.async_agent import analyse_in_thread, in_thread, run_in_thread
from training.app.opponents import choose_opponent, opponent_name
from training.app.request_body import Json, JSONAnswer, check_fields, read_fields
from training.league.entrants import close_agent

REPETITION, NO_PROGRESS = 3, 40  # the pages' draw rules
MAX_PLIES = 2000
MAX_NODES = 1_000_000
SEEDS = range(2**32)
PLAYER: dict[str, type] = {"opponent": str, "level": int, "agent": str, "amount": int}
PLAYER |= {"seconds": float}
GAME: dict[str, type] = {"start": str, "moves": list, "repetition": int, "no_progress": int}


async def show_player(request: Request) -> Response:
    """Return an agent's names in records and for people, and its longest time of a move."""
    fields = await read_fields(request, **PLAYER, has_clock=bool)
    choice = await run_in_thread(_choose_agent, request.app.state.catalog, fields)
    is_named = bool(fields["opponent"])
    name = opponent_name(fields["opponent"], fields["level"]) if is_named else choice.label
    return JSONAnswer(
        {
            "agent": choice.agent,
            "label": choice.label,
            "name": name,
            "seconds": choice.limits.seconds,
        }
    )


async def analyse(request: Request) -> Response:
    """Return an agent's analysis of the last position of a game, the judge's without an agent.

    The search ends when the client has gone, and early if :func:`stop_search` names it.
    """
    fields = await read_fields(
        request, **PLAYER, **GAME, seed=int, nodes=int, clock=dict, search=str
    )
    seed = fields["seed"] or 0
    if seed not in SEEDS:
        raise ValueError(f"seed must be from 0 to {SEEDS[-1]}.")
    state = request.app.state
    is_judge = not (fields["agent"] or fields["opponent"])
    choose = _choose_judge if is_judge else _choose_with_clock
    choice = await run_in_thread(choose, state.catalog, fields)
    if fields["opponent"] and choice.agent in preparation.FIRST:
        call = preparation.PREPARATION.call_plainly
        if answer := await run_in_thread(call, analyse_plainly, fields, choice, seed):
            return JSONAnswer(answer)

    def make() -> Agent:
        agent = reseed(state.catalog.make(choice.agent), seed)
        return replace(agent, blunder=choice.blunder) if isinstance(agent, PlayerAgent) else agent

    async with _search(request, fields["search"]) as stop:
        await run_in_thread(preparation.wait_for_kernels, choice.agent, stop)
        board = await run_in_thread(read_board, fields)
        async with state.pool.borrow(PlayerKey(choice.label, seed, board.turn), make) as agent:
            analysis = await analyse_in_thread(agent, board, choice.limits, seed, stop)
    exact = await run_in_thread(exact_result, board)
    return JSONAnswer(_analysis_to_json(analysis, choice, exact))


def analyse_plainly(fields: Json, choice: AgentChoice, seed: int) -> Json:
    """Return a built-in player's analysis, in a process whose kernels are plain Python functions.

    They take Python's numbers and objects in place of a workspace's arrays.
    """
    board = read_board(fields)
    agent: Any = agents.make(choice.agent, blunder=choice.blunder, seed=seed + board.ply)
    agent = replace(agent, ws=Workspace._make(map(_to_plain, agent.ws)))
    [analysis] = analyse_until(agent, board, choice.limits, Event())
    return _analysis_to_json(analysis, choice, None)


def _to_plain(array: Any) -> Any:
    names = array.dtype.names
    if names is None:
        return array.astype(object)
    return [SimpleNamespace(**dict(zip(names, it, strict=True))) for it in array.tolist()]


async def stop_search(request: Request) -> Response:
    """End a search early: it answers with its best move so far."""
    fields = await read_fields(request, search=str)
    if stop := request.app.state.searches.get(fields["search"]):
        stop.set()
    return JSONAnswer({})


@asynccontextmanager
async def _search(request: Request, name: str | None) -> AsyncIterator[Event]:
    """Yield an event that ends a search; it is set when the client has gone, too."""
    searches: dict[str, Event] = request.app.state.searches
    stop = Event()

    async def wait_for_disconnect() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        stop.set()

    waiter = asyncio.create_task(wait_for_disconnect())
    if name:
        searches[name] = stop
    try:
        yield stop
    finally:
        waiter.cancel()
        searches.pop(name or "", None)


def explain(request: Request) -> Response:
    """Explain a position by an agent's evaluator: ``?agent=NAME&fen=FEN``."""
    query = request.query_params
    if "agent" not in query or "fen" not in query:
        raise ValueError("Ask for ?agent=NAME&fen=FEN.")
    agent = request.app.state.catalog.make(query["agent"])
    try:
        return JSONAnswer(agents.explain(agent, Board(query["fen"])).to_json())
    finally:
        close_agent(agent)


def read_board(fields: Json) -> Board:
    """Return the board after a request's game. Raise ValueError if it is illegal or over."""
    moves = fields["moves"] or []
    if not all(isinstance(text, str) for text in moves):
        raise ValueError("moves must be a list of texts such as 11-15.")
    rules = {
        name: default if fields[name] is None else fields[name]
        for name, default in (("repetition", REPETITION), ("no_progress", NO_PROGRESS))
    }
    board = create_board(fields["start"] or fen.START, moves, **rules)
    if board.outcome():
        raise ValueError("The game is over.")
    return board


def create_board(
    start: str, moves: Iterable[str | Move], repetition: int = REPETITION,
    no_progress: int = NO_PROGRESS,
) -> Board:  # fmt: skip
    """Return the board after moves. Raise ValueError for an illegal move."""
    board = Board(start, max_moves=None, repetition=repetition, no_progress=no_progress)
    for move in moves:
        if board.ply == MAX_PLIES:
            raise ValueError(f"A game has at most {MAX_PLIES} moves.")
        board.push(move)
    return board


def _choose_agent(catalog: AgentCatalog, fields: Json) -> AgentChoice:
    if not fields["opponent"]:
        return catalog.choose(
            fields["agent"] or DEFAULT_AGENT,
            fields["amount"],
            fields["seconds"],
            has_clock=bool(fields["has_clock"]),
        )
    if any(fields[name] is not None for name in ("agent", "amount", "seconds")):
        raise ValueError("Give an opponent, or an agent with its limits, not both.")
    return choose_opponent(fields["opponent"], fields["level"])


def _choose_with_clock(catalog: AgentCatalog, fields: Json) -> AgentChoice:
    """Return an agent whose limits are also those of its clock."""
    if fields["nodes"] is not None:
        raise ValueError("nodes is for the judge: give no agent, or amount or seconds.")
    choice = _choose_agent(catalog, fields | {"has_clock": fields["clock"] is not None})
    if fields["clock"] is None or choice.limits == Limits():
        return choice
    clock = check_fields(fields["clock"], seconds=float, share=float)
    if not all(value is not None and value > 0 for value in clock.values()):
        raise ValueError("A clock gives the seconds and the share of a move, both above 0.")
    return choice._replace(limits=tighten(choice.limits, Limits(**clock)))


def _choose_judge(catalog: AgentCatalog, fields: Json) -> AgentChoice:
    if any(fields[name] is not None for name in ("amount", "seconds", "clock")):
        raise ValueError("The judge is limited by nodes alone.")
    nodes = JUDGE_NODES if fields["nodes"] is None else fields["nodes"]
    if not 1 <= nodes <= MAX_NODES:
        raise ValueError(f"nodes must be from 1 to {MAX_NODES:,}.")
    return AgentChoice(JUDGE, JUDGE, Limits(nodes=nodes))


def exact_result(board: Board) -> Json | None:
    """Return the result of perfect play for the side to move, by the endgame tables.

    None with too many pieces, and while the tables are being prepared.
    """
    if board.black.bit_count() + board.white.bit_count() > preparation.TABLE_PIECES:
        return None
    if preparation.TABLES_PREPARATION.seconds is not None:
        return None
    result = probe_board(load_tablebase(preparation.TABLE_PIECES), board)
    return result and result._asdict()


def _analysis_to_json(analysis: Analysis, choice: AgentChoice, exact: Json | None) -> Json:
    """Return the answer's fields; the move has all squares, as no other legal move has."""
    fields = analysis._asdict()
    fields["move"] = ("x" if analysis.move.captured else "-").join(map(str, analysis.move.squares))
    fields["pv"] = [str(move) for move in analysis.pv]
    return fields | {"label": choice.label, "exact": exact}


routes = [
    Route("/api/player", show_player, methods=["POST"]),
    Route("/api/analysis", analyse, methods=["POST"]),
    Route("/api/analysis/stop", stop_search, methods=["POST"]),
    Route("/api/explain", in_thread(explain)),
]
