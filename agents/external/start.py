"""Where the game on a board began."""

from __future__ import annotations

from checkers_env.board import Board


def start_of(board: Board) -> Board:
    """A board with the position before the first move, and the same draw rules."""
    start = board.copy()
    while start.moves:
        start.pop()
    return start
