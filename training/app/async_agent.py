"""Analysis by agents in worker threads, while the server answers other requests."""

from __future__ import annotations

import logging
from threading import Event

from anyio import CapacityLimiter, to_thread
from starlette.exceptions import HTTPException

from agents.agent import Agent, PlayerAgent, reseed
from agents.analysis import Analysis, Limits, analyse_until
from checkers_env.board import Board

MAX_SEARCHES = 8  # at a time; searches run without the GIL

logger = logging.getLogger(__name__)
_limiter = CapacityLimiter(MAX_SEARCHES)


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
        if isinstance(agent, PlayerAgent):
            reseed(agent, seed + board.ply)
        analysis = analyse_until(agent, board.copy(), limits, stop)
        if analysis.move not in board.legal_moves:
            raise ValueError(f"{analysis.move!r} is illegal")
        return analysis

    try:
        return await to_thread.run_sync(analyse, limiter=_limiter)
    except Exception as error:
        logger.exception("an agent failed in %s", board.fen())
        reason = f"The agent failed: {type(error).__name__}: {error}"
        raise HTTPException(502, reason) from error
    finally:
        stop.set()  # a server that stops does not wait for the search
