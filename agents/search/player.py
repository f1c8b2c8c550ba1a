"""Alpha-beta player: the search with an evaluator, and with endgame tables if it has any."""

from __future__ import annotations

from typing import Any, NamedTuple

from agents.endgame.evaluator import TablebaseEvaluator
from agents.endgame.probe import NO_TABLEBASE, Tablebase, keep_best_moves
from agents.player import is_stochastic, select_move, uses_history
from agents.search.alphabeta import search
from agents.search.root_order import (
    BY_DIRECTION,
    CHANCE,
    FIRST,
    ORDERS,
    TIES,
    order_rows,
)
from agents.search.selective import FULL_WIDTH, selective
from checkers_env.bits import borrowed, popcount
from checkers_env.jit import KernelArg, generic, kernel
from checkers_env.movegen import PACKED_MOVE, Position


class AlphaBeta(NamedTuple):
    """Player that searches `depth` plies with an evaluator.

    Attributes
    ----------
    evaluator
        Evaluator of the leaves (see :mod:`agents.evaluator`).
    depth
        Plies, from 1 to 64.
    tie
        Which of several equally good moves is played: FIRST, LAST or CHANCE of
        :mod:`agents.search.root_order`. A selective search plays the one that it searched first;
        for it the rule only orders the moves.
    root_perspective
        True: leaves are evaluated for the searching player, as in the papers. False: for the side
        to move at the leaf.
    style
        :class:`agents.search.selective.FullWidth`, as in the papers, or
        :class:`agents.search.selective.Selective`.
    tablebase
        Endgame tables (see :func:`agents.endgame.tables.load_tablebase`). In a position of the
        tables the player considers only the quickest wins, all draws, or the slowest losses. It
        chooses among these as without tables. In other positions the search stops where the tables
        begin.
    order
        Order of the moves: BY_DIRECTION or BY_PIECE of :mod:`agents.search.root_order`.
    """

    evaluator: Any
    depth: int
    tie: int = FIRST
    root_perspective: bool = True
    style: Any = FULL_WIDTH
    tablebase: Any = NO_TABLEBASE
    order: int = BY_DIRECTION


def with_options(
    player: AlphaBeta,
    *,
    tie: str | None = None,
    order: str | None = None,
    ends_at_jump: bool | None = None,
) -> AlphaBeta:
    """Return the player with other options of its search; None leaves an option as it is.

    Parameters
    ----------
    player
        The player.
    tie
        Which of equally good moves it plays: ``"first"``, ``"last"`` or ``"chance"``.
    order
        Order of the moves: ``"direction"`` or ``"piece"``, as
        :data:`agents.search.root_order.ORDERS` says.
    ends_at_jump
        Whether its lines end behind a jump (see :class:`agents.search.selective.FullWidth`).

    Raises
    ------
    ValueError
        For an unknown name, and for a selective player whose lines should end at a jump.
    """
    if tie is not None:
        player = player._replace(tie=_index("tie", tie, TIES))
    if order is not None:
        player = player._replace(order=_index("order", order, ORDERS))
    if ends_at_jump is None or (not ends_at_jump and selective(player.style)):
        return player
    if ends_at_jump not in (True, False):
        raise ValueError(f"ends_at_jump must be True or False, not {ends_at_jump!r}")
    if selective(player.style):
        raise ValueError("a selective search takes no ends_at_jump")
    return player._replace(style=player.style._replace(ends_at_jump=bool(ends_at_jump)))


def _index(option: str, name: str, names: tuple[str, ...]) -> int:
    if name not in names:
        raise ValueError(f"{option} must be one of {', '.join(names)}, not {name!r}")
    return names.index(name)


@is_stochastic.register(AlphaBeta)
def _alphabeta_is_stochastic(player: AlphaBeta) -> bool:
    return player.tie == CHANCE


@uses_history.register(AlphaBeta)
def _alphabeta_uses_history(player: AlphaBeta) -> bool:
    return selective(player.style)


@select_move.register(AlphaBeta)
def _select_alphabeta_move(
    player: AlphaBeta,
    position: Position,
    ws: KernelArg,
    count: int,
    tt_namespace: int,
    rng: KernelArg,
) -> int:
    return select_with_tablebase(player.tablebase, player, position, ws, count, tt_namespace, rng)


@generic
def select_with_tablebase(
    tablebase: KernelArg,
    player: AlphaBeta,
    position: Position,
    ws: KernelArg,
    count: int,
    tt_namespace: int,
    rng: KernelArg,
) -> int:
    """Return the packed move of a player; the tables' type decides what is compiled.

    Parameters
    ----------
    tablebase
        Endgame tables of the player, or NO_TABLEBASE.
    player
        The player.
    position, ws, count, tt_namespace, rng
        As for :func:`agents.player.select_move`.

    Returns
    -------
    The packed move.
    """
    return search_move(player, player.evaluator, position, ws, count, tt_namespace, rng)


@select_with_tablebase.register(Tablebase)
def _select_tablebase_move(
    tablebase: Tablebase,
    player: AlphaBeta,
    position: Position,
    ws: KernelArg,
    count: int,
    tt_namespace: int,
    rng: KernelArg,
) -> int:
    if popcount(position.black | position.white) <= tablebase.indexing.pieces:
        count = keep_best_moves(borrowed(tablebase), position, borrowed(ws.rows), count)
        return search_move(player, player.evaluator, position, ws, count, tt_namespace, rng)
    evaluator = TablebaseEvaluator(player.evaluator, tablebase)
    return search_move(player, evaluator, position, ws, count, tt_namespace, rng)


@kernel
def search_move(
    player: AlphaBeta,
    evaluator: KernelArg,
    position: Position,
    ws: KernelArg,
    count: int,
    tt_namespace: int,
    rng: KernelArg,
) -> int:
    """Return the only move, or the best one by a search.

    Parameters
    ----------
    player
        The player.
    evaluator
        Evaluator of the leaves, with endgame tables if the player has any.
    position, ws, count, tt_namespace, rng
        As for :func:`agents.player.select_move`.

    Returns
    -------
    The packed move.
    """
    if count == 1:
        return ws.rows[0, PACKED_MOVE]
    evaluator, ws = borrowed(evaluator), borrowed(ws)
    order_rows(ws.rows, count, player.order, player.tie, rng)
    style, depth, perspective = player.style, player.depth, player.root_perspective
    return search(style, evaluator, position, depth, perspective, tt_namespace, ws, count)
