"""OpenSpiel's bots as agents (needs open_spiel).

OpenSpiel rotates the board by 180 degrees: its a1 is square 4. A multi-jump is several actions of
one player. A game is drawn after 40 turns without a capture. Player 0 is Black.
"""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from agents.agent import Agent, PlayerAgent
from agents.mcts.player import monte_carlo
from checkers_env.board import Board
from checkers_env.errors import EngineError, GameEndedError
from checkers_env.fen import START
from checkers_env.moves import Move

try:
    pyspiel: Any = importlib.import_module("pyspiel")
except ImportError as error:
    raise ImportError(f"OpenSpiel is not installed (pip install open_spiel): {error}") from error

SQUARES = {
    f"{letter}{rank}": 4 * rank - 3 + (7 - column) // 2
    for rank in range(1, 9)
    for column, letter in enumerate("abcdefgh")
    if (column + rank) % 2
}
SQUARE_NAMES = {square: name for name, square in SQUARES.items()}

BotFactory = Callable[[Any, int, int], Any]
"""From OpenSpiel's game, a player (0 or 1) and a seed to a bot."""


def mcts(*, simulations: int = 100, seed: int | None = None, exploration: float = 2.0) -> BotAgent:
    """Make OpenSpiel's Monte Carlo tree search, with one random playout a simulation.

    `exploration` is the constant of UCT. Where OpenSpiel's rule draws the game, our pure Monte
    Carlo tree search plays the rest with as many simulations.
    """
    if simulations < 1:
        raise ValueError(f"simulations must be at least 1, not {simulations}")

    def make_bot(game: Any, player: int, seed: int) -> Any:
        evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
        megabytes, solve, verbose = 1000, True, False
        return pyspiel.MCTSBot(
            game, evaluator, exploration, simulations, megabytes, solve, seed, verbose
        )

    rest = PlayerAgent("mcts", monte_carlo(simulations=simulations, cut=0))
    return BotAgent(make_bot, f"openspiel mcts {simulations}", seed=seed, rest=rest)


class BotAgent:
    """A bot of OpenSpiel as an agent.

    It plays games from the usual start only: OpenSpiel's states cannot be set up from Python. Where
    OpenSpiel's rule draws the game, the agent claims the draw by GameEndedError, or the agent
    `rest` plays on. `seed` seeds the bots' seeds.
    """

    def __init__(
        self, make_bot: BotFactory, name: str, *, seed: int | None = None, rest: Agent | None = None
    ) -> None:
        self.name = name
        self._rest = rest
        self._make_bot = make_bot
        self._rng = np.random.default_rng(seed)
        self._game = pyspiel.load_game("checkers")
        self._games: dict[int, _BotGame] = {}

    def new_game(self, rng: np.random.Generator) -> None:
        """Make new bots for the next game, with seeds from `rng`."""
        self._rng = rng
        self._games = {}
        if new_game := getattr(self._rest, "new_game", None):
            new_game(rng)

    def act(self, board: Board) -> Move:
        """Return the bot's move. Raise EngineError if its action is illegal.

        A game that is over, or began with another position, is a ValueError.
        """
        if not board.legal_moves:
            raise ValueError(f"{self.name} has no legal move in {board.fen()}")
        start = board.root().fen()
        if start != START:
            raise ValueError(f"{self.name} cannot play a game that began with {start}")
        if board.turn not in self._games:
            bot = self._make_bot(self._game, board.turn, int(self._rng.integers(2**31)))
            self._games[board.turn] = _BotGame(bot, self._game)
        game = self._games[board.turn]
        if not game.catch_up(board.moves):
            if self._rest:
                return self._rest.act(board)
            message = "OpenSpiel ends a game after 40 turns without a capture"
            raise GameEndedError(f"{self.name} claims a draw: {message}", "draw")
        squares = game.play_turn()
        for move in board.legal_moves:
            if move.squares == squares:
                return move
        raise EngineError(f"{self.name} chose an illegal action in {board.fen()}")


class _BotGame:
    """A bot and OpenSpiel's state of its game."""

    def __init__(self, bot: Any, game: Any) -> None:
        self._bot = bot
        self._game = game
        self._state = game.new_initial_state()
        self._turns: list[tuple[int, ...]] = []  # the squares of each

    def catch_up(self, moves: list[Move]) -> bool:
        """Play `moves` from where the state is; return whether OpenSpiel's game goes on."""
        turns = [move.squares for move in moves]
        ply = len(self._turns)
        if not ply or turns[:ply] != self._turns:
            self._state, self._turns, ply = self._game.new_initial_state(), [], 0
            self._bot.restart()
        for squares in turns[ply:]:
            for step in itertools.pairwise(squares):
                if self._state.is_terminal():
                    return False
                action = _action(self._state, step)
                self._bot.inform_action(self._state, self._state.current_player(), action)
                self._state.apply_action(action)
            self._turns.append(squares)
        return not self._state.is_terminal()

    def play_turn(self) -> tuple[int, ...]:
        """Return the squares of the bot's turn, or none for an illegal action."""
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


def _step(state: Any, player: int, action: int) -> tuple[int, int]:
    """Return the start and end square of an action."""
    name = state.action_to_string(player, action)
    return SQUARES[name[:2]], SQUARES[name[2:]]


def _action(state: Any, step: tuple[int, ...]) -> int:
    """Return the action from one square to another."""
    return int(state.string_to_action("".join(SQUARE_NAMES[square] for square in step)))
