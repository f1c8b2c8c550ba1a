"""The agent protocol, and agents that need no search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from checkers_env.board import Board
from checkers_env.moves import Move, format_moves


class Agent(Protocol):
    """Anything that selects a move."""

    def act(self, board: Board) -> Move:
        """Return one of ``board.legal_moves``. The board must stay as it is."""


@dataclass(frozen=True)
class FunctionAgent:
    """An agent whose moves a function selects."""

    function: Callable[[Board], Move | str]

    @property
    def name(self) -> str:
        """Name of the function."""
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def act(self, board: Board) -> Any:
        """Return the function's move, a Move or text."""
        return self.function(board)


@dataclass
class RandomAgent:
    """An agent that plays any legal move; its generator gives what a compiled one's gives."""

    rng: np.random.Generator = field(default_factory=np.random.default_rng)
    name = "random"

    def new_game(self, rng: np.random.Generator) -> None:
        """Take the generator."""
        self.rng = rng

    def act(self, board: Board) -> Move:
        """Return any legal move."""
        return board.legal_moves[self.rng.integers(len(board.legal_moves))]


def reseed(agent: Agent, seed: int | tuple[int, ...]) -> Agent:
    """Give a new generator to an agent that has ``new_game(rng)``; return the agent."""
    if new_game := getattr(agent, "new_game", None):
        new_game(np.random.default_rng(seed))
    return agent


def check_move(move: object, board: Board) -> Move:
    """Return what ``act(board)`` has returned, a Move or its text.

    Raise TypeError or ValueError unless it is legal.
    """
    if isinstance(move, str):
        try:
            return board.parse_move(move)
        except ValueError as error:
            raise ValueError(f"act(board) returned {error}") from None
    if not isinstance(move, Move):
        raise TypeError(f"act(board) returned {move!r}, which is no Move of board.legal_moves")
    if move not in board.legal_moves:
        legal = f"the legal moves are {format_moves(board.legal_moves)}"
        raise ValueError(f"act(board) returned {move}, which is illegal in {board.fen()}: {legal}")
    return move
