"""A move of one of our agents within limits that are known only now, and that can be stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, TypeVar

from agents.agent import Agent, PlayerAgent
from agents.choose import looks_back
from agents.montecarlo.player import UNLIMITED
from agents.stopping import stopping
from agents.style import for_time
from agents.workspace import MAX_DEPTH, workspace
from checkers_env.board import Board
from checkers_env.moves import Move

N = TypeVar("N", int, float)
DECIDED, UNDECIDED = 0.5, 1.5  # parts of a move's share after which no further depth is begun
Report = Callable[[int, Move], None]


class Limits(NamedTuple):
    """What a move may cost, None being no limit."""

    depth: int | None = None
    simulations: int | None = None
    seconds: float | None = None
    """Infinite for a search that goes on until it is stopped."""
    share: float | None = None
    """Seconds that a move is meant to take: a search by plies then begins no depth that it is not
    likely to end in time, unless the last one has changed its mind."""


def tighter(one: Limits, other: Limits) -> Limits:
    """Of every two limits the smaller."""
    return Limits(
        _least(one.depth, other.depth),
        _least(one.simulations, other.simulations),
        _least(one.seconds, other.seconds),
        _least(one.share, other.share),
    )


def _least(*limits: N | None) -> N | None:
    return min((limit for limit in limits if limit is not None), default=None)


def with_room(agent: Agent, seconds: float | None) -> Agent:
    """The agent, its table enlarged where a selective search of so many seconds has use for it."""
    if seconds is None or not isinstance(agent, PlayerAgent) or not looks_back(agent.player):
        return agent
    style = for_time(agent.player.style, seconds)
    if style == agent.player.style:
        return agent
    player = agent.player._replace(style=style)
    return replace(agent, player=player, ws=workspace(style.table_bits))


def think(
    agent: Agent, board: Board, limits: Limits, stopped: threading.Event, report: Report
) -> Move:
    """The agent's move, and once `stopped` is set the best one so far.

    A player that searches deepens ply by ply and reports each depth with its move; without a depth
    among the limits it goes as deep as it can when it has a time, else as deep as it was made for.
    Agents of others know neither limits nor a stop.
    """
    if not isinstance(agent, PlayerAgent) or len(board.legal_moves) == 1:
        return agent.act(board)
    with agent.turn.lock:
        return _within(limits, agent, board, stopped, report)


def _within(
    limits: Limits, agent: PlayerAgent, board: Board, stopped: threading.Event, report: Report
) -> Move:
    player, timed = agent.player, limits.seconds is not None
    if hasattr(player, "simulations"):
        most = limits.simulations or (UNLIMITED if timed else player.simulations)
        with stopping(agent.ws, stopped, limits.seconds):
            counted = player._replace(simulations=most)
            return replace(agent, player=counted, seconds=None).act(board)
    if not hasattr(player, "depth"):
        return agent.act(board)
    most = min(limits.depth or (MAX_DEPTH if timed else player.depth), MAX_DEPTH)
    begun, moves = time.monotonic(), agent.deepen(board, most)
    move = next(moves)
    with stopping(agent.ws, stopped, limits.seconds):
        for depth, deeper in enumerate(moves, 2):
            changed, move = deeper != move, deeper
            if agent.ws.stop[0]:
                break
            report(depth, move)
            enough = UNDECIDED if changed else DECIDED
            if limits.share is not None and time.monotonic() - begun > enough * limits.share:
                break
    return move
