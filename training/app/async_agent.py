"""Worker threads: analysis by agents and other slow work, while other requests are answered."""

from __future__ import annotations

import functools
import logging
from collections.abc import Awaitable, Callable
from threading import Event
from typing import ParamSpec, TypeVar

from anyio import CapacityLimiter, to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from agents.agent import Agent, PlayerAgent, check_move, reseed
from agents.analysis import Analysis, analyse_until
from agents.limits import Limits
from checkers_env.board import Board
from checkers_env.moves import Move
from training.app.preparation import PREPARATION

MAX_SEARCHES = 8  # at a time; searches run without the GIL

P = ParamSpec("P")
T = TypeVar("T")

logger = logging.getLogger(__name__)
_limiter = CapacityLimiter(MAX_SEARCHES)


async def run_in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function in a worker thread; a server that stops does not wait for the call."""
    return await to_thread.run_sync(
        functools.partial(function, *args, **kwargs), abandon_on_cancel=True
    )


def in_thread(endpoint: Callable[[Request], Response]) -> Callable[[Request], Awaitable[Response]]:
    """Make an endpoint run in a worker thread.

    Starlette does so with plain functions, but its server waits for them when it stops.
    """

    @functools.wraps(endpoint)
    async def respond(request: Request) -> Response:
        return await run_in_thread(endpoint, request)

    return respond


async def analyse_in_thread(
    agent: Agent, board: Board, limits: Limits, seed: int, stop: Event
) -> Analysis:
    """Analyse a position in a worker thread; see :func:`agents.analysis.analyse_until`.

    Parameters
    ----------
    agent
        Any agent; the random numbers of the project's own depend on `seed` and the ply only.
    board
        The position; it does not change.
    limits
        Cost of the move.
    seed
        Seed of the game.
    stop
        Event that ends the search early.

    Raises
    ------
    HTTPException
        With status 502, if the agent fails or makes an illegal move.
    """

    def analyse() -> Analysis:
        analysis = analyse_until(agent, board.copy(), limits, stop)
        check_move(analysis.move, board)
        return analysis

    return await _search_in_thread(analyse, agent, board, seed, stop)


async def analyse_moves_in_thread(
    agent: Agent, board: Board, limits: Limits, seed: int, stop: Event
) -> list[Analysis]:
    """Analyse each legal move in a worker thread, and return them, the best first.

    The agent analyses the position after the move, for the side that replies, with an equal part
    of the limits. Moves without a score come last.

    Parameters
    ----------
    agent, board, limits, seed, stop
        As for :func:`analyse_in_thread`.

    Raises
    ------
    HTTPException
        With status 502, if the agent fails.
    """
    moves = board.legal_moves

    def analyse() -> list[Analysis]:
        part = divide_limits(limits, len(moves))
        analyses = [_analyse_move(agent, board, move, part) for move in moves]
        return sorted(analyses, key=lambda it: -2.0 if it.score is None else it.score, reverse=True)

    return await _search_in_thread(analyse, agent, board, seed, stop)


def divide_limits(limits: Limits, moves: int) -> Limits:
    """Return the limits of a search after each of so many moves."""
    return limits._replace(
        depth=limits.depth and max(limits.depth - 1, 1),
        simulations=limits.simulations and max(limits.simulations // moves, 1),
        nodes=limits.nodes and max(limits.nodes // moves, 1),
        seconds=limits.seconds and limits.seconds / moves,
    )


def _analyse_move(agent: Agent, board: Board, move: Move, limits: Limits) -> Analysis:
    after = board.copy()
    after.push(move)
    if outcome := after.outcome():
        return Analysis(move, 0.0 if outcome.winner is None else 1.0, (move,))
    reply = analyse_until(agent, after, limits, Event())
    score = None if reply.score is None else -reply.score
    return reply._replace(move=move, score=score, pv=(move, *reply.pv))


async def _search_in_thread(
    search: Callable[[], T], agent: Agent, board: Board, seed: int, stop: Event
) -> T:
    def prepare_and_search() -> T:
        PREPARATION.wait(stop)
        if isinstance(agent, PlayerAgent):
            reseed(agent, seed + board.ply)
        return search()

    try:
        return await to_thread.run_sync(
            prepare_and_search, limiter=_limiter, abandon_on_cancel=True
        )
    except Exception as error:
        logger.exception("an agent failed in %s", board.fen())
        reason = f"The agent failed: {type(error).__name__}: {error}"
        raise HTTPException(502, reason) from error
    finally:
        stop.set()  # a server that stops does not wait for the search
