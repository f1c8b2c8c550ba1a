"""An agent's move together with what it thought: value, expected line, depth, nodes and time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Event
from typing import Any, NamedTuple, TypeVar

import numpy as np

from agents.agent import FIRST_NAMESPACE, Agent, PlayerAgent
from agents.endgame.probe import NEVER
from agents.evaluator import UNFORESEEN, evaluate_position, foresee
from agents.mcts.player import UNLIMITED, MonteCarlo, wins
from agents.mcts.tree import grow
from agents.player import looks_back
from agents.registry import check_limits
from agents.search.interrupt import stopping, undisturbed
from agents.search.player import AlphaBeta, Informed, searching_evaluator
from agents.search.pv import write_line
from agents.search.selective import for_time
from agents.search.workspace import MAX_DEPTH, PLIES, workspace
from checkers_env.board import Board
from checkers_env.movegen import PACKED_MOVE, ROW_WIDTH, generate_successors
from checkers_env.moves import Move, pack_move, unpack_move

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
    with agent.lock:
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


LEAST_SECONDS = 1.0  # that a line may take, and all that it may where the time of a move is limited
ONLY_MOVE_DEPTH = 8  # plies that the line of an only move is looked for in, at the most


class Thought(NamedTuple):
    """A move and what the agent that chose it can say of it.

    Attributes
    ----------
    move
        What it plays.
    seconds
        How long it thought.
    value
        -1 to 1, for the side that moves; None if it has none.
    line
        The best play of both sides, `move` first.
    depth
        Plies of its search; None if it did not search by plies.
    nodes
        Positions visited, or simulations.
    """

    move: Move
    seconds: float
    value: float | None = None
    line: tuple[Move, ...] = ()
    depth: int | None = None
    nodes: int | None = None


def analyse(
    agent: Agent,
    board: Board,
    *,
    depth: int | None = None,
    simulations: int | None = None,
    seconds: float | None = None,
) -> Thought:
    """What an agent thinks of a position: its move, the value, and the line that it expects.

    Limits are those of :func:`agents.make` for this once; without any it thinks as it plays. An
    agent that is not ours tells its move alone, and knows no limits. Raises ValueError for a
    position without a legal move, and for limits that make no sense or that the agent does not
    know.
    """
    if not board.legal_moves:
        raise ValueError(f"there is no legal move in {board.fen()}")
    check_limits(depth, simulations, seconds)
    limits = Limits(depth, simulations, seconds)
    own, known = _limits_of(agent)
    for name, limit in limits._asdict().items():
        if limit is not None and name not in known:
            who = getattr(agent, "name", type(agent).__name__)
            raise ValueError(f"{who} is not limited by {name}")
    return consider(agent, board, limits if any(limits) else own, Event())


def _limits_of(agent: Agent) -> tuple[Limits, set[str]]:
    """What an agent was made to spend on a move, and which limits it knows."""
    if not isinstance(agent, PlayerAgent):
        return Limits(), set()
    player = agent.player
    counted = {it: getattr(player, it) for it in ("depth", "simulations") if hasattr(player, it)}
    own = Limits(**counted, seconds=agent.seconds)
    return own, {*counted, "seconds"} if counted else set()


def consider(agent: Agent, board: Board, limits: Limits, stopped: Event) -> Thought:
    """The agent's move in a position that has one.

    A player of ours keeps to the limits and, once `stopped` is set, plays the best move so far. The
    line of a search, and its value, are worked out after the move. Where there is a limit of time
    that takes a second at most, for as many plies as it suffices for; else where it takes longer
    than the search itself, and a second, there is neither.
    """
    if isinstance(agent, PlayerAgent):
        with agent.lock:
            if isinstance(agent.player, AlphaBeta | Informed):
                return _search(agent, board, limits, stopped)
            if isinstance(agent.player, MonteCarlo):
                return _simulate(agent, board, limits, stopped)
    began = time.perf_counter()
    return Thought(agent.act(board.copy()), time.perf_counter() - began)


def _search(agent: PlayerAgent, board: Board, limits: Limits, stopped: Event) -> Thought:
    depths = [1]
    agent.ws.counts[0] = 0
    began = time.perf_counter()
    move = think(agent, board, limits, stopped, lambda depth, _: depths.append(depth))
    taken, nodes = time.perf_counter() - began, int(agent.ws.counts[0])
    depth = depths[-1]
    if len(board.legal_moves) == 1:  # which is made without a search
        depth = min(limits.depth or agent.player.depth, ONLY_MOVE_DEPTH)
    if limits.seconds is None:
        line = _line(agent, board, move, [depth], max(taken, LEAST_SECONDS))
    else:
        line = _line(agent, board, move, range(1, depth + 1), LEAST_SECONDS)
    if not line:
        return Thought(move, taken, None, (move,), depth, nodes)
    return Thought(move, taken, _worth(agent.player, board, line), line, depth, nodes)


def _line(
    agent: PlayerAgent, board: Board, move: Move, depths: Sequence[int], seconds: float
) -> tuple[Move, ...]:
    """The line that begins with `move`, of the last of the depths that there was time for.

    For a single ply there always is; nothing if not even the first of more was found.
    """
    least = _paths(agent, board, move, 1)  # compiled here, on a new machine, and not in its time
    found = least if 1 in depths else []
    with stopping(agent.ws, Event(), seconds):
        for depth in depths:
            paths = _paths(agent, board, move, depth)
            if agent.ws.stop[0]:
                break
            found = paths
    return _played(board, found)


def _paths(agent: PlayerAgent, board: Board, move: Move, depth: int) -> list[int]:
    player, ws, position = agent.player, agent.ws, board.position
    agent.set_history(board)
    count = generate_successors(ws.rows, 0, *position)
    ws.rows[0] = ws.rows[ws.rows[:count, PACKED_MOVE].tolist().index(pack_move(move))]
    line = np.zeros((PLIES, ROW_WIDTH), np.int64)
    evaluator, judged = searching_evaluator(player), player.own_leaves
    owner = FIRST_NAMESPACE | position.turn
    length = write_line(player.style, evaluator, position, depth, judged, owner, ws, 1, line)
    paths: list[int] = line[:length, PACKED_MOVE].tolist()
    return paths


def _worth(player: AlphaBeta | Informed, board: Board, line: tuple[Move, ...]) -> float:
    """The value of the last position of a line, for the side to move in the first."""
    last = board.copy()
    for move in line:
        last.push(move)
    sign = 1.0 if last.turn == board.turn else -1.0
    if not last.legal_moves:
        return -sign
    if looks_back(player) and last.position in last.earlier_positions():
        return 0.0
    plies = foresee(searching_evaluator(player), last.position, False)
    if plies != UNFORESEEN:
        return 0.0 if plies == NEVER else sign if plies & 1 else -sign
    view = board.turn if player.own_leaves else last.turn
    worth = float(np.float32(evaluate_position(player.evaluator, last.position, view)))
    return worth if player.own_leaves else sign * worth


def _simulate(agent: PlayerAgent, board: Board, limits: Limits, stopped: Event) -> Thought:
    began = time.perf_counter()
    position = board.position
    count = generate_successors(agent.ws.rows, 0, *position)
    if count == 1 or any(wins(row, position.turn) for row in agent.ws.rows[:count]):
        move = agent.act(board.copy())
        after = board.copy()
        after.push(move)
        worth = None if after.legal_moves else 1.0
        return Thought(move, time.perf_counter() - began, worth, (move,))
    most = UNLIMITED if limits.seconds is not None else agent.player.simulations
    player = agent.player._replace(simulations=limits.simulations or most)
    with undisturbed():  # compiled here, on a new machine, and not in the time of the move
        grow(player._replace(simulations=1), position, agent.ws, count, np.random.default_rng(0))
    with stopping(agent.ws, stopped, limits.seconds), undisturbed():
        tree = grow(player, position, agent.ws, count, agent.rng)
    taken = time.perf_counter() - began
    nodes = _most_visited(tree)
    line = _played(board, tree[nodes]["path"].tolist())
    first = tree[nodes[0]]
    worth = float(first["total"] / first["visits"])
    return Thought(line[0], taken, worth, line, None, int(tree[0]["visits"]))


def _most_visited(tree: Any) -> list[int]:
    """The nodes of a Monte Carlo tree from the root's favourite child on, as far as visited."""
    found, at = [], 0
    while tree[at]["end"] > tree[at]["begin"]:
        begin, children = int(tree[at]["begin"]), tree[tree[at]["begin"] : tree[at]["end"]]
        at = begin + int(np.lexsort((-children["total"], -children["visits"]))[0])
        if not tree[at]["visits"]:
            break
        found.append(at)
    return found


def _played(board: Board, paths: list[int]) -> tuple[Move, ...]:
    """The moves of paths from a position on, written as they must be there."""
    after = board.copy()
    for path in paths:
        after.push(unpack_move(path))
    return tuple(after.moves[board.ply :])
