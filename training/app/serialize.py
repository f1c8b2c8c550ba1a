"""Moves, games and analyses as JSON for the pages' scripts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agents.analysis import Analysis
from checkers_env.board import Board
from checkers_env.moves import Move

Json = dict[str, Any]


def move_to_json(move: Move) -> Json:
    """Return a move as board.js reads it: its text, its squares, and the captured squares.

    >>> move_to_json(Move((22, 15), (18,)))
    {'text': '22x15', 'squares': [22, 15], 'captured': [18]}
    """
    return {"text": str(move), "squares": list(move.squares), "captured": list(move.captured)}


def frames_to_json(start: str, moves: Iterable[Move | str]) -> list[Json]:
    """Return the positions of a game, each with the move that led to it, as replay.js reads them.

    Parameters
    ----------
    start
        FEN of the first position.
    moves
        Moves from there.

    Returns
    -------
    ``[{"fen": ..., "move": None}, {"fen": ..., "move": {...}}, ...]``

    Raises
    ------
    ValueError
        If a move is illegal.
    """
    board = Board(start, max_moves=None)
    frames: list[Json] = [{"fen": board.fen(), "move": None}]
    for move in moves:
        board.push(move)
        frames.append({"fen": board.fen(), "move": move_to_json(board.moves[-1])})
    return frames


def analysis_to_json(analysis: Analysis) -> Json:
    """Return an analysis; its score is for the side that moves, None if the agent has none."""
    return {
        "move": move_to_json(analysis.move),
        "score": analysis.score,
        "pv": [str(move) for move in analysis.pv],
        "depth": analysis.depth,
        "nodes": analysis.nodes,
        "seconds": analysis.seconds,
    }
