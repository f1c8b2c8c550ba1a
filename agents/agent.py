"""What every agent is, ours or a third party's, and the agent that a compiled player makes."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

import numpy as np

from agents.player import choose, looks_back
from agents.search.interrupt import stopping, undisturbed
from agents.search.workspace import PAST, Workspace, forget, table_bits, workspace
from checkers_env.bits import borrowed
from checkers_env.board import Board
from checkers_env.jit import kernel
from checkers_env.movegen import Position, write_successors
from checkers_env.moves import Move
from checkers_env.moves import decode as decode_move


class Turn:
    """Has a lock that a thread may take again; copies, pickled ones too, have locks of their own.

    The lock is taken as such: through methods of Python, which Ctrl-C can come between, it might be
    left taken for ever.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()

    def __reduce__(self) -> tuple[type[Turn], tuple[()]]:
        return Turn, ()


FIRST_OWNER = 2  # of the searches' table, for one side, the other is one more; less is nobody's


class Agent(Protocol):
    """Anything that chooses a move."""

    def act(self, board: Board) -> Move:
        """Choose one of ``board.legal_moves``; the board must be left as it is."""


@dataclass(frozen=True, eq=False)
class PlayerAgent:
    """A compiled player as an agent.

    Parameters
    ----------
    name
        How tables and game records call it.
    player
        A NamedTuple that :func:`agents.player.choose` knows.
    rng
        Drawn from by players that use chance.
    seconds
        Time for a move. A searching player then deepens ply by ply, to at most its depth, and
        plays the best move of the last search that was finished, or, if it is selective, the best
        so far; a simulating one simulates, at most as often as it is set to.

    Threads that ask one agent are answered one after the other.
    """

    name: str
    player: Any = field(repr=False)
    rng: np.random.Generator = field(default_factory=np.random.default_rng)
    seconds: float | None = None
    ws: Workspace = field(default=cast(Workspace, None), repr=False)
    turn: Turn = field(default_factory=Turn, repr=False)

    def __post_init__(self) -> None:
        if self.ws is None:
            object.__setattr__(self, "ws", workspace(table_bits(self.player)))
        limited = hasattr(self.player, "depth") or hasattr(self.player, "simulations")
        if self.seconds is not None and not limited:
            raise ValueError(f"{self.name} does not search: it takes no time limit")

    def new_game(self, rng: np.random.Generator) -> None:
        """Leave to `rng` what the player leaves to chance in the game to come."""
        self.rng.bit_generator.state = rng.bit_generator.state
        forget(self.ws)

    def act(self, board: Board) -> Move:
        """Choose a move. Raises ValueError when there is none."""
        if not board.legal_moves:
            raise ValueError(f"{self.name} has no legal move in {board.fen()}")
        with self.turn.lock:
            return self._chosen(board)

    def _chosen(self, board: Board) -> Move:
        if self.seconds is None or len(board.legal_moves) == 1:
            return self._move(self.player, board)
        if not hasattr(self.player, "depth"):
            with stopping(self.ws, threading.Event(), self.seconds):
                return self._move(self.player, board)
        begun, moves = time.monotonic(), self.deepen(board, self.player.depth)
        move = next(moves)
        with stopping(self.ws, threading.Event(), begun + self.seconds - time.monotonic()):
            for deeper in moves:
                move = deeper
        return move

    def deepen(self, board: Board, most: int) -> Iterator[Move]:
        """The moves of a player that searches, to 1 ply, 2, and so on until `most`.

        A search that is stopped is the last one; its move is the best so far if the player searches
        selectively, and else is left out. Whoever asks has taken the `turn`.
        """
        for depth in range(1, most + 1):
            move = self._move(self.player._replace(depth=depth), board)
            if not self.ws.stop[0] or looks_back(self.player):
                yield move
            if self.ws.stop[0]:
                return

    def look_back(self, board: Board) -> None:
        """Tell the workspace which positions can come back."""
        if looks_back(self.player):
            boards = [position[:2] for position in board.earlier_positions()[-PAST:]]
            self.ws.quiet[0] = len(boards)
            self.ws.past[: len(boards)] = np.array(boards, np.int64).reshape(-1, 2)

    def _move(self, player: Any, board: Board) -> Move:
        position = board.position
        with undisturbed():
            self.look_back(board)
            path = choose_move(player, position, self.ws, self.rng)
        squares = decode_move(path, False).squares
        return next(move for move in board.legal_moves if move.squares == squares)


def seeded(agent: Agent, seed: int | tuple[int, ...]) -> Agent:
    """The agent, told of a generator if it asks for one."""
    if tell := getattr(agent, "new_game", None):
        tell(np.random.default_rng(seed))
    return agent


@kernel
def choose_move(player: Any, position: Position, ws: Any, rng: Any) -> int:
    """The path of the move that `player` makes in a position that has one."""
    player, ws = borrowed(player), borrowed(ws)
    count = write_successors(
        ws.rows, 0, position.black, position.white, position.kings, position.turn
    )
    return choose(player, position, ws, count, FIRST_OWNER | position.turn, rng)
