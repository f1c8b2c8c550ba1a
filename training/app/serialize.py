"""Moves, games and thoughts in the form that the page's scripts take them in (JSON)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agents.analysis import Analysis
from checkers_env.board import Board
from checkers_env.moves import Move

Json = dict[str, Any]


def move(made: Move) -> Json:
    """A move as board.js has it: ``{"text": "22x15", "squares": [22, 15], "captured": [18]}``."""
    return {"text": str(made), "squares": list(made.squares), "captured": list(made.captured)}


def frames(start: str, moves: Iterable[Move | str]) -> list[Json]:
    """The positions of a game from the FEN `start` on, each with the move that led to it.

    ``[{"fen": ..., "move": None}, {"fen": ..., "move": {...}}, ...]``, as replay.js takes them.
    Raises ValueError for an illegal move.
    """
    board = Board(start, max_moves=None)
    shown: list[Json] = [{"fen": board.fen(), "move": None}]
    for made in moves:
        board.push(made)
        shown.append({"fen": board.fen(), "move": move(board.moves[-1])})
    return shown


def thought_json(thought: Analysis) -> Json:
    """A thought; its value is for the side that moves, None if the agent has none."""
    return {
        "move": move(thought.move),
        "value": thought.score,
        "line": [str(made) for made in thought.pv],
        "depth": thought.depth,
        "nodes": thought.nodes,
        "seconds": thought.seconds,
    }
