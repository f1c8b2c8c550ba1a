"""Agents that think while the server goes on answering."""

from __future__ import annotations

import logging
from threading import Event

from anyio import CapacityLimiter, to_thread
from starlette.exceptions import HTTPException

from agents.agent import Agent, PlayerAgent, reseed
from agents.analysis import Analysis, Limits, analyse_until
from checkers_env.board import Board

AT_ONCE = 8  # agents; searches run without the GIL

logger = logging.getLogger(__name__)
_room = CapacityLimiter(AT_ONCE)


async def thought_of(
    agent: Agent, board: Board, limits: Limits, seed: int, stopped: Event
) -> Analysis:
    """What an agent thinks of a position, in a thread; see :func:`agents.analysis.consider`.

    What one of ours leaves to chance depends on the seed and the number of the move only. An agent
    that fails, or that makes an illegal move, is answered with status 502 and what happened.
    """

    def work() -> Analysis:
        if isinstance(agent, PlayerAgent):
            reseed(agent, seed + board.ply)
        thought = analyse_until(agent, board.copy(), limits, stopped)
        if thought.move not in board.legal_moves:
            raise ValueError(f"{thought.move!r} is illegal")
        return thought

    try:
        return await to_thread.run_sync(work, limiter=_room)
    except Exception as error:
        logger.exception("an agent failed in %s", board.fen())
        what = f"The agent failed: {type(error).__name__}: {error}"
        raise HTTPException(502, what) from error
    finally:
        stopped.set()  # where the server stops and does not wait for the answer
