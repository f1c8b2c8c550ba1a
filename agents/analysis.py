"""Analysis of positions: an agent's move with score, principal variation, depth, nodes and time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.agent import FIRST_NAMESPACE, Agent, PlayerAgent
from agents.endgame.evaluator import TablebaseEvaluator
from agents.endgame.probe import DRAWN, NoTablebase
from agents.evaluator import NO_HIT, evaluate_position, probe_tablebase
from agents.limits import Limits
from agents.mcts.player import MonteCarlo, is_winning_move
from agents.mcts.tree import grow_tree, most_visited
from agents.player import uses_history
from agents.registry import open_agent
from agents.search.interrupt import defer_signals, stop_after
from agents.search.player import AlphaBeta
from agents.search.pv import principal_variation
from agents.search.transposition import stored_result
from agents.search.workspace import PLIES, UNLIMITED, VISITED
from checkers_env.board import Board
from checkers_env.movegen import PACKED_MOVE, ROW_WIDTH, generate_successors
from checkers_env.moves import Move, pack_move, unpack_move

LEAST_SECONDS = 1.0  # for the principal variation; with a limit of time it is also the most
ONLY_MOVE_DEPTH = 8  # plies, at most, of the principal variation of an only move


class Analysis(NamedTuple):
    """An agent's analysis of a position; None for what the agent does not know.

    Attributes
    ----------
    move
        Move that the agent plays.
    score
        Value from -1 to 1, for the side to move.
    pv
        Principal variation: the best play of both sides, `move` first.
    depth
        Plies of the search.
    nodes
        Positions visited, or simulations.
    seconds
        Time that the move took.
    """

    move: Move
    score: float | None = None
    pv: tuple[Move, ...] = ()
    depth: int | None = None
    nodes: int | None = None
    seconds: float = 0.0

    def __repr__(self) -> str:
        pv, numbers = " ".join(map(str, self.pv)), []
        if self.score is not None:
            numbers.append(f"score={self.score:+.3f}")
        numbers += [
            f"{name}={number}"
            for name, number in (("depth", self.depth), ("nodes", self.nodes))
            if number is not None
        ]
        parts = [f"move={str(self.move)!r}", *numbers, f"seconds={self.seconds:.3g}", f"pv={pv!r}"]
        return f"Analysis({', '.join(parts)})"


def analyse(
    agent: Agent | str | Path,
    board: Board,
    *,
    depth: int | None = None,
    simulations: int | None = None,
    nodes: int | None = None,
    seconds: float | None = None,
) -> Analysis:
    """Analyse a position: the agent's move, its score and the principal variation.

    Parameters
    ----------
    agent
        Any agent, or the text or path that :func:`agents.make` makes it of. An agent that is not a
        :class:`agents.agent.PlayerAgent` returns its move only.
    board
        Position to analyse; it stays as it is.
    depth, simulations, nodes, seconds
        Limits in place of the agent's own, as for :func:`agents.make`.

    Raises
    ------
    ValueError
        For a position without a legal move, for limits out of range, for limits that the agent does
        not know, and for what is no agent.
    """
    if not board.legal_moves:
        raise ValueError(f"there is no legal move in {board.fen()}")
    limits = Limits(depth, simulations, seconds, nodes=nodes).check()
    with open_agent(agent) as opened:
        own, known = limits_of(opened)
        for name, limit in limits._asdict().items():
            if limit is not None and name not in known:
                who = getattr(opened, "name", type(opened).__name__)
                raise ValueError(f"{who} is not limited by {name}")
        return analyse_until(opened, board, limits if any(limits) else own, Event())


def limits_of(agent: Agent) -> tuple[Limits, set[str]]:
    """Return an agent's own limits, and the names of the limits that it knows."""
    if not isinstance(agent, PlayerAgent):
        return Limits(), set()
    known = {it for it in ("depth", "simulations") if hasattr(agent.player, it)}
    if known:
        known.add("seconds")
    if uses_history(agent.player):
        known.add("nodes")
    return agent.limits, known


def analyse_until(agent: Agent, board: Board, limits: Limits, stopped: Event) -> Analysis:
    """Analyse a position that has a legal move, within limits, until an event is set.

    The principal variation and the score are searched after the move. With a limit of time this
    takes a second at most, and the variation may be shorter. Without, it may take as long as the
    search of the move, or a second if that is longer; if that is too short, both are left out.
    """
    if isinstance(agent, PlayerAgent):
        with agent.lock:
            if isinstance(agent.player, AlphaBeta):
                return _analyse_search(agent, board, limits, stopped)
            if isinstance(agent.player, MonteCarlo):
                return _analyse_simulations(agent, board, limits, stopped)
    start = time.perf_counter()
    return Analysis(agent.act(board.copy()), seconds=time.perf_counter() - start)


def _analyse_search(agent: PlayerAgent, board: Board, limits: Limits, stopped: Event) -> Analysis:
    completed = [1]
    agent.ws.counts[VISITED] = 0
    start = time.perf_counter()
    move = agent.search(board, limits, stopped, lambda it, _: completed.append(it))
    seconds, nodes = time.perf_counter() - start, int(agent.ws.counts[VISITED])
    depth = completed[-1]
    is_only = len(board.legal_moves) == 1  # it was played without a search
    if is_only:
        own = ONLY_MOVE_DEPTH if limits.nodes is not None else agent.player.depth
        depth = min(limits.depth or own, ONLY_MOVE_DEPTH)
    depths: Sequence[int] = range(1, depth + 1)
    allowed = LEAST_SECONDS
    if limits.nodes is not None and not is_only:
        depth, _ = root_result(agent, board)
        depths = [depth]
    elif limits.nodes is None and limits.seconds is None:
        depths, allowed = [depth], max(seconds, LEAST_SECONDS)
    pv = _find_pv(agent, board, move, depths, allowed)
    score = _score(agent.player, board, pv) if pv else None
    return Analysis(move, score, pv or (move,), depth, nodes, seconds)


def _find_pv(
    agent: PlayerAgent, board: Board, move: Move, depths: Sequence[int], seconds: float
) -> tuple[Move, ...]:
    """Return the principal variation of `move` at the last depth that was completed in time.

    A depth of 1 is always completed. If no depth was, the variation is empty.
    """
    first = _search_pv(agent, board, move, 1)  # kernels are compiled here, not in the time below
    paths = first if 1 in depths else []
    with stop_after(agent.ws, Event(), seconds):
        for depth in depths:
            deeper = _search_pv(agent, board, move, depth)
            if agent.ws.stop[0]:
                break
            paths = deeper
    return _to_moves(board, paths)


def root_result(agent: PlayerAgent, board: Board) -> tuple[int, float | None]:
    """Return the depth and value of the last search, by its table; 1 and None if it completed none.

    The search was a selective one of this position, limited by nodes. The value is for the side to
    move: half the evaluation if the player has endgame tables.
    """
    style, position = agent.player.style, board.position
    tt_namespace = FIRST_NAMESPACE | position.turn
    depth, value = stored_result(style, agent.ws.table, position, tt_namespace)
    return (depth, value) if depth else (1, None)


def _search_pv(agent: PlayerAgent, board: Board, move: Move, depth: int) -> list[int]:
    """Return the packed moves of the principal variation that begins with `move`."""
    player, ws, position = agent.player, agent.ws, board.position
    agent.set_history(board)
    count = generate_successors(ws.rows, 0, *position)
    ws.rows[0] = ws.rows[ws.rows[:count, PACKED_MOVE].tolist().index(pack_move(move))]
    line = np.zeros((PLIES, ROW_WIDTH), np.int64)
    evaluator, judged = _evaluator(player), player.root_perspective
    tt_namespace = FIRST_NAMESPACE | position.turn
    with defer_signals(ws):
        length = principal_variation(
            player.style, evaluator, position, depth, judged, tt_namespace, ws, 1, line
        )
    paths: list[int] = line[:length, PACKED_MOVE].tolist()
    return paths


def _evaluator(player: AlphaBeta) -> Any:
    """Return what a player's search evaluates leaves with."""
    if isinstance(player.tablebase, NoTablebase):
        return player.evaluator
    return TablebaseEvaluator(player.evaluator, player.tablebase)


def _score(player: AlphaBeta, board: Board, pv: tuple[Move, ...]) -> float:
    """Return the value of the last position of a variation, for the side to move in the first."""
    last = board.copy()
    for move in pv:
        last.push(move)
    sign = 1.0 if last.turn == board.turn else -1.0
    if not last.legal_moves:
        return -sign
    if uses_history(player) and last.position in last.earlier_positions():
        return 0.0
    plies = probe_tablebase(_evaluator(player), last.position, False)
    if plies != NO_HIT:
        return 0.0 if plies == DRAWN else sign if plies & 1 else -sign
    view = board.turn if player.root_perspective else last.turn
    score = float(np.float32(evaluate_position(player.evaluator, last.position, view)))
    return score if player.root_perspective else sign * score


def _analyse_simulations(
    agent: PlayerAgent, board: Board, limits: Limits, stopped: Event
) -> Analysis:
    start = time.perf_counter()
    position = board.position
    count = generate_successors(agent.ws.rows, 0, *position)
    if count == 1 or any(is_winning_move(row, position.turn) for row in agent.ws.rows[:count]):
        move = agent.act(board.copy())
        after = board.copy()
        after.push(move)
        score = None if after.legal_moves else 1.0
        return Analysis(move, score, (move,), seconds=time.perf_counter() - start)
    most = UNLIMITED if limits.seconds is not None else agent.player.simulations
    player = agent.player._replace(simulations=limits.simulations or most)
    with defer_signals(agent.ws):  # kernels are compiled here, not in the time of the move
        grow_tree(
            player._replace(simulations=1), position, agent.ws, count, np.random.default_rng(0)
        )
    with stop_after(agent.ws, stopped, limits.seconds), defer_signals(agent.ws):
        tree = grow_tree(player, position, agent.ws, count, agent.rng)
    seconds = time.perf_counter() - start
    nodes = _most_visited_line(tree)
    pv = _to_moves(board, tree[nodes]["path"].tolist())
    first = tree[nodes[0]]
    score = float(first["total"] / first["visits"])
    return Analysis(pv[0], score, pv, None, int(tree[0]["visits"]), seconds)


def _most_visited_line(tree: NDArray[np.void]) -> list[int]:
    """Return the nodes from the root's most visited child on, as far as they have visits."""
    line, at = [], 0
    while tree[at]["end"] > tree[at]["begin"]:
        at = int(most_visited(tree, at))
        if not tree[at]["visits"]:
            break
        line.append(at)
    return line


def _to_moves(board: Board, paths: list[int]) -> tuple[Move, ...]:
    """Return packed moves from a position on as moves, in the notation of their positions."""
    after = board.copy()
    for path in paths:
        after.push(unpack_move(path))
    return tuple(after.moves[board.ply :])
