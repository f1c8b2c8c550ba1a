"""Boards, moves and generators as plain JSON, for agents in other processes."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.random import SeedSequence

from checkers_env.board import Board
from checkers_env.moves import Move
from checkers_env.state import DrawRules

MAX_SQUARES = 32  # largest number of squares in a move, with a margin


def move_to_json(move: Move) -> list[list[int]]:
    """Return the squares of a move and those that it captures."""
    return [[*map(int, move.squares)], [*map(int, move.captured)]]


def move_from_json(value: Any) -> Move:
    """Return the move of :func:`move_to_json`. Raise ValueError for anything else."""
    if isinstance(value, list) and len(value) == 2 and all(map(_is_squares, value)):
        return Move(tuple(value[0]), tuple(value[1]))
    raise ValueError("it sent no move")


def _is_squares(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) <= MAX_SQUARES
        and all(type(square) is int for square in value)
    )


def board_to_json(board: Board) -> dict[str, Any]:
    """Return the first position of a game, its draw rules and its moves."""
    return {
        "start": board.root().position,
        "rules": asdict(board.rules),
        "moves": [move_to_json(move) for move in board.moves],
    }


class BoardReader:
    """Reader of the boards of one game after another; it remembers the last one."""

    def __init__(self) -> None:
        self._start: tuple[Any, Any] | None = None
        self._moves: list[Any] = []
        self._board = Board()

    def read(self, value: dict[str, Any]) -> Board:
        """Return the board of :func:`board_to_json`."""
        start, moves, known = (value["start"], value["rules"]), value["moves"], len(self._moves)
        if start != self._start or moves[:known] != self._moves:
            self._start, known = start, 0
            self._board = Board.from_position(*start[0], rules=DrawRules(**start[1]))
        for move in moves[known:]:
            self._board.push(move_from_json(move))
        self._moves = moves
        return self._board.copy()


def rng_to_json(rng: np.random.Generator) -> dict[str, Any]:
    """Return the state of a generator and the seed that its children come from."""
    bits = rng.bit_generator
    seed = bits.seed_seq
    return {
        "kind": type(bits).__name__,
        "state": _plain(bits.state),
        "seed": _plain(seed.state) if isinstance(seed, SeedSequence) else None,
    }


def rng_from_json(value: dict[str, Any]) -> np.random.Generator:
    """Return the generator of :func:`rng_to_json`."""
    seed = SeedSequence(**value["seed"]) if value["seed"] else None
    bits = getattr(np.random, value["kind"])(seed)
    bits.state = value["state"]
    return np.random.Generator(bits)


def _plain(value: Any) -> Any:
    """Return Python's own numbers and lists in place of numpy's."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value
