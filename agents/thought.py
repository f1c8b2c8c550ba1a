"""An agent's move together with what it thought: value, expected line, depth, nodes and time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from threading import Event
from typing import Any, NamedTuple

import numpy as np

from agents.agent import FIRST_OWNER, Agent, PlayerAgent
from agents.alphabeta import AlphaBeta
from agents.choose import looks_back
from agents.endgame.probe import NEVER
from agents.evaluate import UNFORESEEN, foresee, value
from agents.external.think import Limits, think
from agents.informed import Informed, searching_evaluator
from agents.make import check_limits
from agents.montecarlo.player import UNLIMITED, MonteCarlo, wins
from agents.montecarlo.tree import grow
from agents.principal import write_line
from agents.stopping import stopping
from agents.undisturbed import undisturbed
from agents.workspace import PLIES
from checkers_env.board import Board
from checkers_env.moves import Move, decode, encode
from checkers_env.rules import PATH, ROW_WIDTH, write_successors

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
        with agent.turn.lock:
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
    agent.look_back(board)
    count = write_successors(ws.rows, 0, *position)
    ws.rows[0] = ws.rows[ws.rows[:count, PATH].tolist().index(encode(move))]
    line = np.zeros((PLIES, ROW_WIDTH), np.int64)
    evaluator, judged = searching_evaluator(player), player.own_leaves
    owner = FIRST_OWNER | position.turn
    length = write_line(player.style, evaluator, position, depth, judged, owner, ws, 1, line)
    paths: list[int] = line[:length, PATH].tolist()
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
    worth = float(np.float32(value(player.evaluator, last.position, view)))
    return worth if player.own_leaves else sign * worth


def _simulate(agent: PlayerAgent, board: Board, limits: Limits, stopped: Event) -> Thought:
    began = time.perf_counter()
    position = board.position
    count = write_successors(agent.ws.rows, 0, *position)
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
        after.push(decode(path, False))
    return tuple(after.moves[board.ply :])
