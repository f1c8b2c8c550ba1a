"""Alpha-beta player: the search with an evaluator, and with endgame tables if it has any."""

from __future__ import annotations

from typing import Any, NamedTuple

from agents.endgame.evaluator import TablebaseEvaluator
from agents.endgame.indexing import Indexing
from agents.endgame.probe import NO_TABLEBASE, Tablebase, keep_best_moves
from agents.player import is_stochastic, select_move, uses_history
from agents.search.alphabeta import search
from agents.search.root_order import BY_DIRECTION, CHANCE, FIRST, ORDERS, TIES, order_rows
from agents.search.selective import (
    FULL_WIDTH,
    NODES_PER_SECOND,
    Selective,
    selective,
    table_bits_for,
    with_option,
)
from agents.search.workspace import MAX_DEPTH
from checkers_env.bits import borrowed, popcount
from checkers_env.jit import KernelArg, generic
from checkers_env.movegen import PACKED_MOVE, Position


class AlphaBeta(NamedTuple):
    """Player that searches `depth` plies with an evaluator."""

    evaluator: Any  # evaluator of the leaves (see agents.evaluator)
    depth: int  # plies, from 1 to 64
    # Which of several equally good moves is played: FIRST, LAST or CHANCE of
    # agents.search.root_order. A selective search plays the one that it searched first; for it the
    # rule only orders the moves.
    tie: int = FIRST
    # True: leaves are evaluated for the searching player, as in the papers. False: for the side to
    # move at the leaf.
    root_perspective: bool = True
    # agents.search.selective.FullWidth, as in the papers, or agents.search.selective.Selective.
    style: Any = FULL_WIDTH
    # Endgame tables (see agents.endgame.tables.load_tablebase). In a position of the tables the
    # player considers only the quickest wins, all draws, or the slowest losses. It chooses among
    # these as without tables. In other positions the search stops where the tables begin.
    tablebase: Any = NO_TABLEBASE
    # Order of the moves: BY_DIRECTION or BY_PIECE of agents.search.root_order.
    order: int = BY_DIRECTION

    def with_search(
        self,
        *,
        selective: bool | None = None,
        depth: int | None = None,
        nodes: int | None = None,
        seconds: float | None = None,
        tie: str | None = None,
        order: str | None = None,
        **style_options: Any,
    ) -> AlphaBeta:
        """Return the player with other settings of its search, as :func:`agents.make` takes them.

        A search by positions or time goes as deep as it can, but for a given depth. Its
        transposition table suits its limits, and never gets smaller. Raise ValueError for an
        unknown name, and for an option that the style does not have.
        """
        player, style = self, self.style
        if depth or nodes or seconds:
            player = player._replace(depth=depth or MAX_DEPTH)
        for name, text, names in (("tie", tie, TIES), ("order", order, ORDERS)):
            if text is not None and text not in names:
                raise ValueError(f"{name} must be one of {', '.join(names)}, not {text!r}")
            if text is not None:
                player = player._replace(**{name: names.index(text)})  # type: ignore[arg-type]
        if selective not in (None, True, False):
            raise ValueError(f"selective must be True or False, not {selective!r}")
        if selective is not None and selective != isinstance(style, Selective):
            style = Selective() if selective else FULL_WIDTH
        for name, value in (("nodes", nodes), *style_options.items()):
            if value is not None:
                style = with_option(style, name, value)
        if style_options.get("ends_early") and not style.nodes:
            raise ValueError("ends_early needs nodes, of which a move takes about a quarter")
        costs = [cost for cost in (nodes, seconds and seconds * NODES_PER_SECOND) if cost]
        if costs and isinstance(style, Selective):
            bits = max(table_bits_for(style, min(costs)), style.table_bits)
            style = style._replace(table_bits=bits)
        return player._replace(style=style)


is_stochastic.register(AlphaBeta)(lambda player: player.tie == CHANCE)
uses_history.register(AlphaBeta)(lambda player: selective(player.style))


@select_move.register(AlphaBeta)
def _select_alphabeta_move(
    player: AlphaBeta,
    position: Position,
    ws: KernelArg,
    count: int,
    tt_namespace: int,
    rng: KernelArg,
) -> int:
    evaluator, count = with_tables(
        player.tablebase, player.evaluator, position, borrowed(ws.rows), count
    )
    if count == 1:
        return ws.rows[0, PACKED_MOVE]
    evaluator, ws = borrowed(evaluator), borrowed(ws)
    order_rows(ws.rows, count, player.order, player.tie, rng)
    style, depth, perspective = player.style, player.depth, player.root_perspective
    return search(style, evaluator, position, depth, perspective, tt_namespace, ws, count)


@generic
def with_tables(
    tablebase: KernelArg, evaluator: KernelArg, position: Position, rows: KernelArg, count: int
) -> tuple[KernelArg, int]:
    """Return an evaluator with endgame tables, and how many rows, now in front, to choose from."""
    return evaluator, count


@with_tables.register(Tablebase)
def _with_tablebase(
    tablebase: Tablebase, evaluator: KernelArg, position: Position, rows: KernelArg, count: int
) -> tuple[KernelArg, int]:
    indexing = tablebase.indexing
    if popcount(position.black | position.white) <= indexing.pieces:
        count = keep_best_moves(borrowed(tablebase), position, rows, count)
        # Search on without tables: with the evaluator alone a second search would be compiled.
        indexing = Indexing(indexing.starts, indexing.men, 0)
    return TablebaseEvaluator(evaluator, Tablebase(indexing, tablebase.plies)), count
