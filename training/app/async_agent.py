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

from agents.agent import Agent, Limits, PlayerAgent, check_move, reseed
from agents.analysis import Analysis, analyse_until
from checkers_env.board import Board

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

    The random numbers of the project's own agents depend on the game's seed and the ply only. Raise
    HTTPException 502 if the agent fails or makes an illegal move.
    """

    def analyse() -> Analysis:
        if isinstance(agent, PlayerAgent):
            reseed(agent, seed + board.ply)
        try:
            [analysis] = analyse_until(agent, board.copy(), limits, stop)
        finally:
            if isinstance(agent, PlayerAgent):
                agent.free()  # only searches that run hold tables
        check_move(analysis.move, board)
        return analysis

    try:
        return await to_thread.run_sync(analyse, limiter=_limiter, abandon_on_cancel=True)
    except Exception as error:
        logger.exception("an agent failed in %s", board.fen())
        reason = f"The agent failed: {type(error).__name__}: {error}"
        raise HTTPException(502, reason) from error
    finally:
        stop.set()  # a server that stops does not wait for the search
