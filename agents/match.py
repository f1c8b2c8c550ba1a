"""Match: one game between two players, in a kernel or through the environment."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.agent import Agent, PlayerAgent
from agents.match_kernel import DRAW, Result, play
from agents.player import is_stochastic, uses_history
from agents.search.interrupt import NOT_BEGUN, LateMoveError, defer_signals, guard_moves
from agents.search.workspace import PLAYER, Workspace, table_bits, workspace
from checkers_env import openings
from checkers_env.actions import move_to_actions
from checkers_env.board import Board
from checkers_env.envs.aec import raw_env
from checkers_env.movegen import BLACK, KINGS, PACKED_MOVE, ROW_WIDTH, WHITE, Position
from checkers_env.moves import pack_move, unpack_move
from checkers_env.state import MOVE_LIMIT, REASONS, DrawRules

ENGINES = ("kernel", "env")
LARGEST_NUMBER = 1 << 54  # of players that are numbered

_thread = threading.local()


class MatchGame(NamedTuple):
    """A finished game of a match."""

    result: Result  # winner, reason and plies
    start: Position  # start position
    paths: tuple[int, ...]  # packed moves, those of the opening included

    @property
    def board(self) -> Board:
        """The final position, with the game's moves."""
        board = Board.from_position(*self.start, max_moves=None)
        for path in self.paths:
            board.push(unpack_move(path))
        return board


def play_game(
    black: Any,
    white: Any,
    *,
    opening: str | None = None,
    rules: DrawRules = DrawRules(),  # noqa: B008 - immutable
    rng: np.random.Generator | None = None,
    engine: str = "kernel",
    seconds: float | None = None,
    stop: threading.Event | None = None,
    player_ids: tuple[int, int] = (0, 0),
) -> MatchGame:
    """Play one game between compiled players.

    Parameters
    ----------
    black, white
        Player tuples, such as :class:`agents.search.player.AlphaBeta`.
    opening
        None, moves such as ``"9-13 22-18"``, or a FEN, as for ``checkers_env.make``.
    rules
        Draw rules.
    rng
        Generator of stochastic players, which sample it in the order of their moves.
    engine
        ``"kernel"`` plays in compiled code. ``"env"`` plays through the AEC environment and
        ``act``: a thousand times slower, with the same result.
    seconds
        Time for a move in the kernel; None for no limit.
    stop
        Event that ends a game in the kernel at once.
    player_ids
        Keys of Black and White in the cache of opening moves, below LARGEST_NUMBER; 0 disables it.
        Equal keys mean equal players, whose moves depend on the position alone.

    Raises
    ------
    ValueError
        For an unknown engine, a key out of range, and for an opening that is illegal or ends the
        game.
    LateMoveError
        When a player takes too long for a move.
    CancelledError
        When `stop` ends the game.
    """
    if engine not in ENGINES:
        raise ValueError(f"engine must be one of {', '.join(ENGINES)}, not {engine!r}")
    if not all(0 <= number < LARGEST_NUMBER for number in player_ids):
        raise ValueError(
            f"player_ids must be 0 or more, and below {LARGEST_NUMBER}, not {player_ids}"
        )
    rng = rng or np.random.default_rng(0)
    if engine == "env":
        agents = (PlayerAgent("black", black, rng), PlayerAgent("white", white, rng))
        return play_through_environment(*agents, opening=opening, rules=rules)
    start, paths = opening_line(opening)
    if len(paths) >= rules.max_plies:
        raise _no_game(opening, MOVE_LIMIT)
    game = np.zeros((rules.max_plies + 1, ROW_WIDTH), np.int64)
    game[1 : len(paths) + 1, PACKED_MOVE] = paths
    players = (black, white)
    cut_cycles = not (
        rules.uses_history
        or any(is_stochastic(player) or uses_history(player) for player in players)
    )
    seats = [_seat(side, table_bits(player)) for side, player in enumerate(players)]
    for seat, number in zip(seats, player_ids, strict=True):
        seat.counts[PLAYER] = number
    first, second = sorted((BLACK, WHITE), key=lambda side: _kind(players[side]))
    pair = players[first], players[second], seats[first], seats[second]
    is_guarded = seconds is not None or stop is not None
    guard = guard_moves(seats, seconds, stop, _ply_counter(game)) if is_guarded else nullcontext()
    try:
        with defer_signals(*seats), guard:
            result = play(*pair, first, start, rules.to_array(), cut_cycles, rng, game)
    except LateMoveError as late:
        late.paths = tuple(game[1 : late.plies + 1, PACKED_MOVE].tolist())
        raise
    if result[2] <= len(paths):
        raise _no_game(opening, result[1])
    return MatchGame(Result(*result), start, tuple(game[1 : result[2] + 1, PACKED_MOVE].tolist()))


def play_through_environment(
    black: Agent, white: Agent, *, opening: str | None, rules: DrawRules
) -> MatchGame:
    """Play one game between any two agents through the AEC environment."""
    env = raw_env(opening, rules=rules)
    env.reset()
    while not any(env.terminations.values()):
        board = env.board
        agent = black if board.turn == BLACK else white
        for action in move_to_actions(agent.act(board.copy()), board.turn):
            env.step(action)
    board, reason = env.board, env.infos["player_0"]["reason"]
    reward = env.rewards["player_0"]
    winner = DRAW if reward == 0 else BLACK if reward > 0 else WHITE
    result = Result(winner, REASONS.index(reason), board.ply)
    return MatchGame(result, opening_line(opening)[0], tuple(map(pack_move, board.moves)))


def _ply_counter(history: NDArray[np.int64]) -> Callable[[], int]:
    """Return a function that counts the positions that a kernel has written behind the first."""
    plies = NOT_BEGUN

    def count() -> int:
        nonlocal plies
        while plies + 1 < len(history) and history[plies + 1, :KINGS].any():
            plies += 1
        return plies

    return count


def _kind(thing: Any) -> Any:
    """Return a sort key of a player's classes: a game of two kinds is then compiled only once."""
    if hasattr(thing, "_fields"):
        return [type(thing).__name__, *map(_kind, thing)]
    return []


def _no_game(opening: str | None, reason: int) -> ValueError:
    return ValueError(f"opening {opening!r} leaves no game to play: {REASONS[reason]}")


def _seat(side: int, bits: int) -> Workspace:
    """Return the thread's workspace of a side and a size of the table."""
    seats: dict[tuple[int, int], Workspace] = vars(_thread).setdefault("seats", {})
    if (side, bits) not in seats:
        seats[side, bits] = workspace(bits)
    return seats[side, bits]


@functools.lru_cache(1024)
def opening_line(opening: str | None) -> tuple[Position, tuple[int, ...]]:
    """Return an opening's start position and packed moves. Raise ValueError for an illegal one."""
    start, moves, _ = openings.parse_opening(opening)
    return start, tuple(map(pack_move, moves))
