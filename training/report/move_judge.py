"""Values of moves, by the search behind each of them and by endgame tables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import agents
from agents.agent import PlayerAgent, reseed
from agents.analysis import root_result
from agents.endgame.probe import probe_board
from agents.endgame.tables import load_tablebase
from checkers_env.board import Board
from checkers_env.moves import Move

TABLE_PIECES = 4
UNKNOWN = 0.5  # value of a position that was not searched to any depth: neither a win nor none
MAX_FORCED = 20  # plies in which a side has one move only
TABLES = "tables"  # in place of a depth
SEED = 0  # of the judge: it is the same for every question


class MoveJudge:
    """Values of moves by an agent that searches selectively, and by endgame tables."""

    def __init__(self, name: str, **options: Any) -> None:
        self.agent = cast(PlayerAgent, agents.make(name, endgame=TABLE_PIECES, **options))
        self._tables = load_tablebase(TABLE_PIECES)

    def best_move(self, board: Board, nodes: int) -> Move:
        """Return the best move by a search of so many positions."""
        reseed(self.agent, SEED)  # so that it forgets all earlier searches
        player = self.agent.player.with_search(nodes=nodes)
        return replace(self.agent, player=player).act(Board(board.fen()))

    def evaluate(self, board: Board, nodes: int) -> tuple[float, int]:
        """Return a position's value for the side to move, from -1 to 1, and the search's depth."""
        self.best_move(board, nodes)
        depth, value = root_result(self.agent, board)
        if value is None:
            return UNKNOWN, 0
        return min(max(2 * value, -1.0), 1.0), depth  # beyond 1/2 are the results of tables

    def score_move(self, board: Board, move: Move, nodes: int) -> tuple[float, int | str]:
        """Return a move's value for its side, from -1 to 1, and the depth of the search behind.

        The search begins where a side has a choice: forced replies are made first.
        """
        after, sign = Board(board.fen()), -1.0
        after.push(move)
        while len(after.legal_moves) == 1 and after.ply < MAX_FORCED:
            after.push(after.legal_moves[0])
            sign = -sign
        if not after.legal_moves:
            return -sign, TABLES
        if result := probe_board(self._tables, after):
            return sign * result.value, TABLES
        value, depth = self.evaluate(after, nodes)
        return UNKNOWN if value == UNKNOWN else sign * value, depth + after.ply
