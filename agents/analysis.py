"""Analysis of positions: an agent's move with score, principal variation, depth, nodes and time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from agents.agent import FIRST_NAMESPACE, Agent, Limits, PlayerAgent, check_move
from agents.endgame.evaluator import TablebaseEvaluator
from agents.endgame.probe import DRAWN, NoTablebase
from agents.evaluator import NO_HIT, evaluate_position, probe_tablebase
from agents.mcts.player import MonteCarlo, is_winning_move
from agents.mcts.tree import grow_tree
from agents.player import uses_history
from agents.registry import open_agent
from agents.search.interrupt import defer_signals, stop_after
from agents.search.player import AlphaBeta
from agents.search.pv import principal_variation
from agents.search.transposition import stored_result
from agents.search.workspace import PLIES, UNLIMITED, VISITED, table_bits, workspace
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
        known = {"depth": self.depth, "nodes": self.nodes}
        numbers += [f"{name}={number}" for name, number in known.items() if number is not None]
        parts = [f"move={str(self.move)!r}", *numbers, f"seconds={self.seconds:.3g}", f"pv={pv!r}"]
        return f"Analysis({', '.join(parts)})"


class _Limits(TypedDict, total=False):
    depth: int | None
    simulations: int | None
    nodes: int | None
    seconds: float | None


@overload
def analyse(
    agent: Agent | str | Path, board: Board, *, lines: None = None, **limits: Unpack[_Limits]
) -> Analysis: ...
@overload
def analyse(
    agent: Agent | str | Path, board: Board, *, lines: int, **limits: Unpack[_Limits]
) -> list[Analysis]: ...
def analyse(
    agent: Agent | str | Path, board: Board, *, lines: int | None = None, **limits: Unpack[_Limits]
) -> Analysis | list[Analysis]:
    """Analyse a position: the agent's move, its score and the principal variation.

    With `nodes` and without `seconds` the result is the same on every machine and at every call.

    Parameters
    ----------
    agent
        Any agent, or the text or path that :func:`agents.make` makes it of. An agent that is not a
        :class:`agents.agent.PlayerAgent` returns its move only.
    board
        Position to analyse; it stays as it is.
    lines
        Number of analyses to return, of different moves: the agent's, then the best of the others.
        The limits are for each of them, `nodes` for each depth. There are fewer if the position has
        fewer moves, and one of an agent without a search.
    **limits
        ``depth``, ``simulations``, ``nodes`` and ``seconds`` in place of the agent's own limits, as
        for :func:`agents.make`.

    Returns
    -------
    The analysis, or with `lines` a list of them.

    Raises
    ------
    ValueError
        For a position without a legal move, for limits out of range, for limits that the agent does
        not know, and for what is no agent.
    """
    if not board.legal_moves:
        raise ValueError(f"there is no legal move in {board.fen()}")
    if lines is not None and not (type(lines) is int and lines >= 1):
        raise ValueError(f"lines must be None or a whole number from 1 on, not {lines!r}")
    wanted = Limits(**limits).check()
    with open_agent(agent) as opened:
        own, known = limits_of(opened)
        for name, limit in limits.items():
            if limit is not None and name not in known:
                who = getattr(opened, "name", type(opened).__name__)
                raise ValueError(f"{who} is not limited by {name}")
        wanted = wanted if any(wanted) else own
        if wanted.nodes is not None and isinstance(opened, PlayerAgent):
            opened = replace(opened, rng=np.random.default_rng(0))
        analyses = analyse_until(opened, board, wanted, Event(), lines or 1)
        return analyses[0] if lines is None else analyses


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


def analyse_until(
    agent: Agent, board: Board, limits: Limits, stopped: Event, lines: int = 1
) -> list[Analysis]:
    """Analyse an agent's move, and then the best of the others, until an event is set.

    The principal variation and the score are searched after the move. A limit of positions holds
    for each depth of this, and the table is a new one. With a limit of time it takes a second at
    most, and the variation may be shorter. With neither, it may take as long as the search of the
    move, or a second if that is longer; if that is too short, both are left out.
    """
    if isinstance(agent, PlayerAgent):
        with agent.lock:
            if isinstance(agent.player, AlphaBeta):
                return _analyse_search(agent, board, limits, stopped, lines)
            if isinstance(agent.player, MonteCarlo):
                return _analyse_simulations(agent, board, limits, stopped, lines)
    start = time.perf_counter()
    move = check_move(agent.act(board.copy()), board)
    return [Analysis(move, seconds=time.perf_counter() - start)]


def _analyse_search(
    agent: PlayerAgent, board: Board, limits: Limits, stopped: Event, lines: int
) -> list[Analysis]:
    if limits.nodes is not None:
        player = agent.player.with_search(nodes=limits.nodes, depth=limits.depth)
        agent = replace(agent, player=player, ws=workspace(table_bits(player)))
    completed = [1]
    agent.ws.counts[VISITED] = 0
    start = time.perf_counter()
    move = agent.search(board, limits, stopped, lambda it, _: completed.append(it))
    seconds, nodes = time.perf_counter() - start, int(agent.ws.counts[VISITED])
    depth = completed[-1]
    if len(board.legal_moves) == 1:  # it was played without a search
        own = ONLY_MOVE_DEPTH if limits.nodes is not None else agent.player.depth
        depth = min(limits.depth or own, ONLY_MOVE_DEPTH)
    elif limits.nodes is not None:
        depth = root_result(agent, board)[0]
    allowed = limits.seconds and LEAST_SECONDS
    depths: Sequence[int] = range(1, depth + 1)
    if limits.nodes is None and limits.seconds is None:
        depths, allowed = [depth], max(seconds, LEAST_SECONDS)
    pv = _find_pv(agent, board, [move], depths, limits.nodes, allowed)
    score = _score(agent.player, board, pv) if pv else None
    analyses = [Analysis(move, score, pv or (move,), depth, nodes, seconds)]
    rest = [other for other in board.legal_moves if other != move]
    while rest and len(analyses) < lines:
        visited, start = agent.ws.counts[VISITED], time.perf_counter()
        pv = _find_pv(agent, board, rest, depths, limits.nodes, limits.seconds)
        seconds, nodes = time.perf_counter() - start, int(agent.ws.counts[VISITED] - visited)
        score = _score(agent.player, board, pv)
        analyses.append(Analysis(pv[0], score, pv, depth, nodes, seconds))
        rest.remove(pv[0])
    return analyses


def _find_pv(
    agent: PlayerAgent,
    board: Board,
    moves: Sequence[Move],
    depths: Sequence[int],
    nodes: int | None,
    seconds: float | None,
) -> tuple[Move, ...]:
    """Return the principal variation of the best of `moves` at the last depth that was completed.

    A depth of 1 is always completed. Others end at a time, and at as many positions. If no depth
    was completed, the variation is empty.
    """
    first = _search_pv(agent, board, moves, 1)  # kernels are compiled here, not in the time below
    paths = first if 1 in depths else []
    with stop_after(agent.ws, Event(), seconds):
        for depth in depths:
            visited = agent.ws.counts[VISITED]
            deeper = _search_pv(agent, board, moves, depth)
            if agent.ws.stop[0] or (nodes and agent.ws.counts[VISITED] - visited >= nodes):
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


def _search_pv(agent: PlayerAgent, board: Board, moves: Sequence[Move], depth: int) -> list[int]:
    """Return the packed moves of the principal variation that begins with the best of `moves`."""
    player, ws, position = agent.player, agent.ws, board.position
    agent.set_history(board)
    count = generate_successors(ws.rows, 0, *position)
    kept = np.isin(ws.rows[:count, PACKED_MOVE], [pack_move(move) for move in moves])
    ws.rows[: len(moves)] = ws.rows[:count][kept]
    line = np.zeros((PLIES, ROW_WIDTH), np.int64)
    evaluator, judged = _evaluator(player), player.root_perspective
    tt_namespace = FIRST_NAMESPACE | position.turn
    with defer_signals(ws):
        length = principal_variation(
            player.style, evaluator, position, depth, judged, tt_namespace, ws, len(moves), line
        )
    return list(line[:length, PACKED_MOVE].tolist())


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
    agent: PlayerAgent, board: Board, limits: Limits, stopped: Event, lines: int
) -> list[Analysis]:
    start = time.perf_counter()
    position = board.position
    if random := agent.random_move(board):
        return [Analysis(random, None, (random,), seconds=time.perf_counter() - start)]
    count = generate_successors(agent.ws.rows, 0, *position)
    if count == 1 or any(is_winning_move(row, position.turn) for row in agent.ws.rows[:count]):
        move = replace(agent, blunder=0.0).act(board.copy())
        after = board.copy()
        after.push(move)
        score = None if after.legal_moves else 1.0
        return [Analysis(move, score, (move,), seconds=time.perf_counter() - start)]
    most = UNLIMITED if limits.seconds is not None else agent.player.simulations
    player = agent.player._replace(simulations=limits.simulations or most)
    with defer_signals(agent.ws):  # kernels are compiled here, not in the time of the move
        grow_tree(
            player._replace(simulations=1), position, agent.ws, count, np.random.default_rng(0)
        )
    with stop_after(agent.ws, stopped, limits.seconds), defer_signals(agent.ws):
        tree = grow_tree(player, position, agent.ws, count, agent.rng)
    seconds = time.perf_counter() - start
    analyses = []
    for at in _children(tree, 0)[:lines]:
        line = [at]
        while children := _children(tree, line[-1]):
            line.append(children[0])
        pv = _to_moves(board, tree[line]["path"].tolist())
        score = float(tree[at]["total"] / tree[at]["visits"])
        analyses.append(Analysis(pv[0], score, pv, None, int(tree[0]["visits"]), seconds))
    return analyses


def _children(tree: NDArray[np.void], at: int) -> list[int]:
    """Return the visited children of a node, the most visited first, then those of better mean."""
    visited = [it for it in range(tree[at]["begin"], tree[at]["end"]) if tree[it]["visits"]]
    return sorted(visited, key=lambda it: (-tree[it]["visits"], -tree[it]["total"]))


def _to_moves(board: Board, paths: list[int]) -> tuple[Move, ...]:
    """Return packed moves from a position on as moves, in the notation of their positions."""
    after = board.copy()
    for path in paths:
        after.push(unpack_move(path))
    return tuple(after.moves[board.ply :])
