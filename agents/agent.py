"""The agent of a compiled player, and limits of a move's cost."""

from __future__ import annotations

import copy
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, cast

import numpy as np

from agents.evaluator import evaluate
from agents.player import select_move, uses_history
from agents.search.interrupt import defer_signals, stop_after
from agents.search.selective import STRETCHES
from agents.search.workspace import (
    MAX_DEPTH,
    PAST,
    UNLIMITED,
    Workspace,
    clear,
    new_table,
    table_bits,
    workspace,
)
from checkers_env.agent import Agent as Agent
from checkers_env.agent import check_move as check_move
from checkers_env.agent import reseed as reseed
from checkers_env.bits import borrowed
from checkers_env.board import Board
from checkers_env.jit import has_implementation, kernel
from checkers_env.movegen import Position, generate_successors
from checkers_env.moves import Move, unpack_move

FIRST_NAMESPACE = 2  # Black's in the transposition table; White's is 3, 0 and 1 are unused
Report = Callable[[int, Move], None]


class Limits(NamedTuple):
    """Limits of a move's cost; None is no limit."""

    depth: int | None = None  # plies
    simulations: int | None = None  # of a Monte Carlo player
    seconds: float | None = None  # infinite for a search that goes on until it is stopped
    # Seconds that a move should take. A search by plies then begins no depth after a part of them,
    # one of agents.search.selective.STRETCHES.
    share: float | None = None
    nodes: int | None = None  # positions that a selective search visits

    def check(self) -> Limits:
        """Return these limits. Raise ValueError if one is out of range."""
        most = {"depth": MAX_DEPTH, "simulations": UNLIMITED, "nodes": UNLIMITED}
        counts = {name: getattr(self, name) for name in most}
        for name, count in counts.items():
            if count is not None and not (type(count) is int and 1 <= count <= most[name]):
                raise ValueError(
                    f"{name} must be a whole number from 1 to {most[name]}, not {count!r}"
                )
        seconds = self.seconds
        if seconds is not None and not (type(seconds) in (int, float) and seconds > 0):
            raise ValueError(f"seconds must be more than 0, not {seconds!r}")
        if seconds == math.inf and not any(counts.values()):
            raise ValueError(
                "seconds must be finite without depth, simulations or nodes: no move would end"
            )
        return self


def tighten(one: Limits, other: Limits) -> Limits:
    """Return the smaller of every two limits."""
    known = ([it for it in pair if it is not None] for pair in zip(one, other, strict=True))
    return Limits(*(min(pair, default=None) for pair in known))  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class PlayerAgent:
    """A compiled player as an agent. Threads that share an agent take turns.

    Parameters
    ----------
    name
        Name in tables and game records.
    player
        A NamedTuple that :func:`agents.player.select_move` is registered for.
    rng
        Generator of a stochastic player.
    seconds
        Time for a move. A searching player then deepens iteratively, to its depth at most. It plays
        the best move of the last complete search; a selective one plays the best move so far. A
        Monte Carlo player simulates until the time is up, but not more often than it is set to.
    blunder
        Share of moves that are random, from 0 to 1. Kernels that take the `player` make none.
    ws
        Arrays of the search; by default new ones.
    lock
        Held during a search.
    """

    name: str
    player: Any = field(repr=False)
    rng: np.random.Generator = field(default_factory=np.random.default_rng)
    seconds: float | None = None
    blunder: float = 0.0
    ws: Workspace = field(default=cast(Workspace, None), repr=False)
    lock: threading.RLock = field(default_factory=threading.RLock, repr=False)

    def __post_init__(self) -> None:
        if self.ws is None:
            object.__setattr__(self, "ws", workspace(table_bits(self.player)))
        evaluator = getattr(self.player, "evaluator", None)
        if evaluator is not None and not has_implementation(evaluate, type(evaluator)):
            name = type(evaluator).__name__
            raise TypeError(
                f"{name} has no implementation of agents.evaluator.evaluate: decorate a function "
                f"by @evaluate.register({name})"
            )
        if self.seconds is not None and not _searches(self.player):
            raise ValueError(f"{self.name} does not search: it takes no time limit")

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "lock": None}  # copies, pickled ones too, have their own

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, lock=threading.RLock())

    def prepare(self) -> None:
        """Compile or load the kernels of a move, so that no move's time contains it."""
        player: Any = self.player
        for limit in ("depth", "simulations"):
            if hasattr(player, limit):
                player = player._replace(**{limit: 1})
        with self.lock:
            replace(self, rng=np.random.default_rng(0))._search(player, Board())
            clear(self.ws)

    def new_game(self, rng: np.random.Generator) -> None:
        """Take a copy of `rng`, and clear what the search remembers."""
        with self.lock:
            object.__setattr__(self, "rng", copy.deepcopy(rng))
            clear(self.ws)

    def fork(self) -> PlayerAgent:
        """Return a copy with its own generator and workspace."""
        ws = workspace(table_bits(self.player))
        return replace(self, rng=np.random.default_rng(), ws=ws)

    def free(self) -> None:
        """Give back the memory of its searches, up to 134 MB; the next one takes it anew."""
        with self.lock:
            object.__setattr__(self, "ws", workspace(table_bits(self.player)))

    @property
    def limits(self) -> Limits:
        """Limits of its moves."""
        depth, simulations = (getattr(self.player, it, None) for it in ("depth", "simulations"))
        nodes = self.player.style.nodes or None if uses_history(self.player) else None
        return Limits(depth, simulations, self.seconds, nodes=nodes)

    def act(self, board: Board) -> Move:
        """Return the player's move. Raise ValueError when there is none."""
        if not board.legal_moves:
            raise ValueError(f"{self.name} has no legal move in {board.fen()}")
        with self.lock:
            if self.seconds is None:
                return self.random_move(board) or self._search(self.player, board)
            return self.search(board, self.limits, threading.Event(), lambda depth, move: None)

    def search(
        self, board: Board, limits: Limits, stopped: threading.Event, report: Report
    ) -> Move:
        """Return the player's move within limits, in place of its own.

        Parameters
        ----------
        board
            Position that has a legal move.
        limits
            Limits of the search. A player that searches by plies without a limit of depth deepens
            as far as it can in its time, or, without a limit of time, to its own depth.
        stopped
            Event that ends the search with the best move so far. It is set afterwards.
        report
            Is called with each completed depth from 2 on and its move.
        """
        player, timed = self.player, limits.seconds is not None
        with self.lock:
            self._enlarge_table(limits)
            if move := self.random_move(board):
                return move
            if len(board.legal_moves) == 1 or not _searches(player):
                return self._search(player, board)
            if hasattr(player, "simulations"):
                most = UNLIMITED if timed else player.simulations
                player = player._replace(simulations=limits.simulations or most)
            elif limits.nodes is not None:
                player = player.with_search(nodes=limits.nodes, depth=limits.depth)
            else:
                most = limits.depth or (MAX_DEPTH if timed else player.depth)
                return self._deepen_within(limits, board, min(most, MAX_DEPTH), stopped, report)
            with stop_after(self.ws, stopped, limits.seconds):
                return self._search(player, board)

    def random_move(self, board: Board) -> Move | None:
        """Return any legal move if this move is a blunder, by the generator; else None."""
        if self.blunder and self.rng.random() < self.blunder:
            return board.legal_moves[self.rng.integers(len(board.legal_moves))]
        return None

    def _enlarge_table(self, limits: Limits) -> None:
        """Give a selective search a table that suits its limits; a new one is empty."""
        if uses_history(self.player):
            player = self.player.with_search(nodes=limits.nodes, seconds=limits.seconds)
            bits = table_bits(player)
            if len(self.ws.table) < 1 << bits:
                object.__setattr__(self, "ws", self.ws._replace(table=new_table(bits)))

    def _deepen_within(
        self, limits: Limits, board: Board, depth: int, stopped: threading.Event, report: Report
    ) -> Move:
        begun, stable, moves = time.monotonic(), 0, self.deepen(board, depth)
        move = next(moves)
        with stop_after(self.ws, stopped, limits.seconds):
            for completed, deeper in enumerate(moves, 2):
                stable, move = stable + 1 if deeper == move else 0, deeper
                if self.ws.stop[0]:
                    break
                report(completed, move)
                enough = (limits.share or math.inf) * STRETCHES[min(stable, len(STRETCHES) - 1)]
                if time.monotonic() - begun > enough:
                    break
        return move

    def deepen(self, board: Board, max_depth: int) -> Iterator[Move]:
        """Search to 1 ply, 2 plies and so on, and yield the move of each depth.

        The node limit of the player is not used. A search that is stopped is the last one. Its move
        is yielded only if the player is selective. The caller holds the `lock`.
        """
        player = self.player
        if uses_history(player):
            player = player._replace(style=player.style._replace(nodes=0))
        for depth in range(1, max_depth + 1):
            move = self._search(player._replace(depth=depth), board)
            if not self.ws.stop[0] or uses_history(player):
                yield move
            if self.ws.stop[0]:
                return

    def set_history(self, board: Board) -> None:
        """Write the positions that can repeat into the workspace, if the player needs them."""
        if uses_history(self.player):
            boards = [position[:2] for position in board.earlier_positions()[-PAST:]]
            self.ws.reversible_plies[0] = len(boards)
            self.ws.position_history[: len(boards)] = np.array(boards, np.int64).reshape(-1, 2)

    def _search(self, player: Any, board: Board) -> Move:
        position = board.position
        with defer_signals(self.ws):
            self.set_history(board)
            path = select_packed_move(player, position, self.ws, self.rng)
        squares = unpack_move(path).squares
        return next(move for move in board.legal_moves if move.squares == squares)


def _searches(player: Any) -> bool:
    return hasattr(player, "depth") or hasattr(player, "simulations")


def begin_game(agent: Agent, rng: np.random.Generator) -> None:
    """Call ``new_game(rng)`` of an agent that has it, with a generator spawned from `rng`.

    Players of this project are left as they are: they keep their generator from game to game.
    """
    new_game = getattr(agent, "new_game", None)
    if new_game and not isinstance(agent, PlayerAgent):
        new_game(rng.spawn(1)[0])


def accepts_draw(agent: Agent, board: Board) -> bool:
    """Return whether an agent has a method ``accept_draw(board)`` and it returns True.

    The opponent, which is to move, has claimed a draw that the rules do not give.
    """
    with suppress(Exception):
        return getattr(agent, "accept_draw", lambda board: False)(board.copy()) is True
    return False


@kernel
def select_packed_move(player: Any, position: Position, ws: Any, rng: Any) -> int:
    """Return the packed move of a player in a position that has moves; overwrite rows of `ws`."""
    player, ws = borrowed(player), borrowed(ws)
    black, white, kings, side = position
    count = generate_successors(ws.rows, 0, black, white, kings, side)
    return select_move(player, position, ws, count, FIRST_NAMESPACE | side, rng)
