"""OpenSpiel's bots as agents, and our agents as its bots (needs open_spiel).

OpenSpiel shows the board turned by 180 degrees (its a1 is square 4), plays a multi-jump as several
actions of one player, and draws a game after 40 turns without a capture, whatever else was moved.
Its player 0 is our Black.
"""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from agents.agent import Agent
from agents.external.errors import EngineError, GameEndedError
from checkers_env.board import Board
from checkers_env.fen import START
from checkers_env.moves import Move, format_moves

try:
    pyspiel: Any = importlib.import_module("pyspiel")
except ImportError as error:
    raise ImportError(f"OpenSpiel is not installed (pip install open_spiel): {error}") from error

SIZE = {"rows": 8, "columns": 8}
SQUARES = {
    f"{letter}{rank}": 4 * rank - 3 + (7 - column) // 2
    for rank in range(1, 9)
    for column, letter in enumerate("abcdefgh")
    if (column + rank) % 2
}
NAMES = {square: name for name, square in SQUARES.items()}

MakeBot = Callable[[Any, int, int], Any]
"""From OpenSpiel's game, a player (0 or 1) and a seed to a bot that plays for it."""


def mcts(*, simulations: int = 100, seed: int | None = None, exploration: float = 2.0) -> BotAgent:
    """OpenSpiel's Monte Carlo tree search with one random playout a simulation.

    Raises ValueError for less than one simulation.
    """
    if simulations < 1:
        raise ValueError(f"simulations must be at least 1, not {simulations}")

    def make_bot(game: Any, player: int, seed: int) -> Any:
        evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
        megabytes, solve, verbose = 1000, True, False
        return pyspiel.MCTSBot(
            game, evaluator, exploration, simulations, megabytes, solve, seed, verbose
        )

    return BotAgent(make_bot, f"openspiel mcts {simulations}", seed=seed)


class BotAgent:
    """A bot of OpenSpiel as an agent.

    It plays games from the usual start only, since OpenSpiel's states cannot be set up from Python.
    Where OpenSpiel's own rule has drawn the game, it claims the draw by GameEndedError.
    """

    def __init__(self, make_bot: MakeBot, name: str, *, seed: int | None = None) -> None:
        self.name = name
        self._make_bot = make_bot
        self._rng = np.random.default_rng(seed)
        self._game = pyspiel.load_game("checkers")
        self._seats: dict[int, _Seat] = {}

    def new_game(self, rng: np.random.Generator) -> None:
        """Play the game to come with new bots, whose seeds are drawn from `rng`."""
        self._rng = rng
        self._seats = {}

    def act(self, board: Board) -> Move:
        """The bot's move.

        Raises EngineError for an illegal action, ValueError for a game that is over or had another
        start.
        """
        if not board.legal_moves:
            raise ValueError(f"{self.name} has no legal move in {board.fen()}")
        start = board.root().fen()
        if start != START:
            raise ValueError(f"{self.name} cannot play a game that began with {start}")
        if board.turn not in self._seats:
            bot = self._make_bot(self._game, board.turn, int(self._rng.integers(2**31)))
            self._seats[board.turn] = _Seat(bot, self._game)
        seat = self._seats[board.turn]
        if not seat.follow(board.moves):
            message = "OpenSpiel ends a game after 40 turns without a capture"
            raise GameEndedError(f"{self.name} claims a draw: {message}", "draw")
        squares = seat.turn()
        for move in board.legal_moves:
            if move.squares == squares:
                return move
        raise EngineError(f"{self.name} chose an illegal action in {board.fen()}")


class _Seat:
    """A bot and the game as it knows it."""

    def __init__(self, bot: Any, game: Any) -> None:
        self._bot = bot
        self._game = game
        self._state = game.new_initial_state()
        self._turns: list[tuple[int, ...]] = []  # the squares of each

    def follow(self, moves: list[Move]) -> bool:
        """Come to the position after `moves`; return whether OpenSpiel's game goes on there."""
        turns = [move.squares for move in moves]
        known = len(self._turns)
        if not known or turns[:known] != self._turns:
            self._state, self._turns, known = self._game.new_initial_state(), [], 0
            self._bot.restart()
        for squares in turns[known:]:
            for step in itertools.pairwise(squares):
                if self._state.is_terminal():
                    return False
                action = _action(self._state, step)
                self._bot.inform_action(self._state, self._state.current_player(), action)
                self._state.apply_action(action)
            self._turns.append(squares)
        return not self._state.is_terminal()

    def turn(self) -> tuple[int, ...]:
        """Let the bot play a turn; return its squares, or none when an action is illegal."""
        player, squares = self._state.current_player(), list[int]()
        while not self._state.is_terminal() and self._state.current_player() == player:
            action = self._bot.step(self._state)
            if action not in self._state.legal_actions():
                self._turns = []
                return ()
            squares += _step(self._state, player, action)[bool(squares) :]
            self._state.apply_action(action)
        self._turns.append(tuple(squares))
        return tuple(squares)


class AgentBot(pyspiel.Bot):  # type: ignore[misc]  # OpenSpiel has no types
    """An agent as a bot for OpenSpiel's checkers, as in ``pyspiel.evaluate_bots``.

    The agent meets boards without draw rules: OpenSpiel ends the game. Raises ValueError for a game
    other than checkers on 8 by 8, and when the agent plays an illegal move.
    """

    def __init__(self, agent: Agent) -> None:
        super().__init__()
        self._agent = agent
        self._move: Move | None = None

    def restart(self) -> None:
        """Begin a game anew."""
        self._move = None

    def restart_at(self, state: Any) -> None:
        """Go on from another state."""
        self._move = None

    def inform_action(self, state: Any, player: int, action: int) -> None:
        """Take note of another's action: states hold all of them."""

    def step(self, state: Any) -> int:
        """The agent's action in a state: its move, or the next jump of it."""
        board, made = board_of(state)
        if not made:
            self._move = self._agent.act(board.copy())
            if self._move not in board.legal_moves:
                raise ValueError(
                    f"the agent played {self._move}, illegal in {board.fen()}: the legal moves are "
                    f"{format_moves(board.legal_moves)}"
                )
        if self._move is None or self._move.squares[: len(made)] != made:
            raise ValueError(f"the first jump of this turn, {made[0]}x{made[1]}, was another's")
        at = max(len(made) - 1, 0)
        return _action(state, self._move.squares[at : at + 2])


def board_of(state: Any) -> tuple[Board, tuple[int, ...]]:
    """The board at the start of a state's turn, and the squares of jumps already made in it.

    Raises ValueError for a state of another game.
    """
    game = state.get_game()
    size = {name: game.get_parameters().get(name) for name in SIZE}
    if game.get_type().short_name != "checkers" or size != SIZE:
        raise ValueError(f"{game} is not checkers on a board of 8 by 8")
    board = Board(max_moves=None)
    for player, turn in itertools.groupby(state.full_history(), lambda step: step.player):
        squares: tuple[int, ...] = ()
        for step in turn:
            squares += _step(state, player, step.action)[bool(squares) :]
        for move in board.legal_moves:
            if move.squares == squares:
                board.push(move)
                break
        else:
            return board, squares
    return board, ()


def _step(state: Any, player: int, action: int) -> tuple[int, int]:
    """The squares that an action leads from and to."""
    name = state.action_to_string(player, action)
    return SQUARES[name[:2]], SQUARES[name[2:]]


def _action(state: Any, step: tuple[int, ...]) -> int:
    """The action that leads from one square to another."""
    action: int = state.string_to_action("".join(NAMES[square] for square in step))
    return action
