"""Alpha-beta player: the search with an evaluator, and with endgame tables if it has any."""

from __future__ import annotations

from typing import Any, NamedTuple

from agents.endgame.evaluator import TablebaseEvaluator
from agents.endgame.probe import NO_TABLEBASE, Tablebase, keep_best_moves
from agents.player import is_stochastic, select_move, uses_history
from agents.search.alphabeta import search
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
    random_ties
        True: equally good moves have equal chances. False: the first of them is played.
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
    """

    evaluator: Any
    depth: int
    random_ties: bool = False
    root_perspective: bool = True
    style: Any = FULL_WIDTH
    tablebase: Any = NO_TABLEBASE


@is_stochastic.register(AlphaBeta)
def _alphabeta_is_stochastic(player: AlphaBeta) -> bool:
    return player.random_ties


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
    if player.random_ties:
        shuffle(ws.rows, count, rng)
    style, depth, perspective = player.style, player.depth, player.root_perspective
    return search(style, evaluator, position, depth, perspective, tt_namespace, ws, count)


@kernel
def shuffle(rows: KernelArg, count: int, rng: KernelArg) -> None:
    """Put the first `count` rows in random order.

    Parameters
    ----------
    rows
        int64, shape (rows, 4); changed in place.
    count
        Rows to shuffle.
    rng
        numpy Generator.
    """
    for row in range(count - 1, 0, -1):
        other = rng.integers(0, row + 1)
        for column in range(rows.shape[1]):
            rows[row, column], rows[other, column] = rows[other, column], rows[row, column]
