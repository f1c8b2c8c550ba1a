"""OpenSpiel's bots as agents."""

import numpy as np
import pyspiel
import pytest

import agents
from agents.external.openspiel import BotAgent, mcts
from agents.match import play_through_environment
from checkers_env.board import Board
from checkers_env.errors import EngineError, GameEndedError
from checkers_env.movegen import BLACK, WHITE
from checkers_env.state import DrawRules

GAME = pyspiel.load_game("checkers")


def material(seed, depth=2):
    return agents.make("material", depth=depth, seed=seed)


class Tracker(pyspiel.Bot):
    """Random bot that keeps a state of its own from the moves it is told."""

    def __init__(self, seed):
        super().__init__()
        self.rng = np.random.default_rng(seed)
        self.state = None
        self.restarts = 0

    def restart(self):
        self.restarts += 1
        self.state = GAME.new_initial_state()

    def inform_action(self, state, player, action):
        assert state.current_player() == player
        self.state.apply_action(action)

    def step(self, state):
        assert state.history() == self.state.history()
        action = int(self.rng.choice(state.legal_actions()))
        self.state.apply_action(action)
        return action


class Fixed(pyspiel.Bot):
    """Agent that plays the same action everywhere."""

    def __init__(self, action):
        super().__init__()
        self.action = action

    def restart(self):
        pass

    def step(self, state):
        return self.action


@pytest.mark.parametrize("colour", [BLACK, WHITE])
def test_bot_plays_on_our_board(colour):
    for seed in range(3):
        board = Board()
        board.push("9-13")
        board.push("22-18")
        players = (mcts(simulations=10, seed=seed), material(seed))
        while board.outcome() is None:
            board.push(players[board.turn ^ colour].act(board.copy()))
        assert board.ply > 20


def test_bot_receives_all_moves_of_the_opponent():
    bots = []

    def make(game, player, seed):
        bots.append(Tracker(seed))
        return bots[-1]

    agent = BotAgent(make, "tracker")
    for opening in ("9-13 22-18", None, "11-15"):
        rules = DrawRules(max_moves=30)
        play_through_environment(agent, agent, opening=opening, rules=rules)
        play_through_environment(agent, material(1), opening=opening, rules=rules)
    assert [bot.restarts for bot in bots] == [6, 3]


def drawn_board():
    """Return a game that OpenSpiel's rule has drawn, and ours have not."""
    for seed in range(100):
        board, players = Board(max_moves=None), (material(seed, 1), material(seed + 1, 1))
        while board.legal_moves and not is_drawn(board):
            board.push(players[board.turn].act(board))
        if board.legal_moves:
            return board
    raise AssertionError("no drawn game")


def is_drawn(board):
    return board.ply >= 40 and not any(move.captured for move in board.moves[-40:])


def test_draw_by_openspiels_rule_is_claimed():
    board = drawn_board()
    bot = BotAgent(lambda game, player, seed: Tracker(seed), "tracker")
    with pytest.raises(GameEndedError, match="40 turns without a capture") as caught:
        bot.act(board)
    assert caught.value.claim == "draw"
    board.push(next(move for move in board.legal_moves))
    with pytest.raises(GameEndedError):
        bot.act(board)
    board.pop()
    board.pop()
    assert bot.act(board) in board.legal_moves  # one turn earlier the game still goes on


def test_mcts_plays_on_after_openspiels_rule():
    """In a league a draw that is claimed, and refused, would lose the game."""
    board, moves = drawn_board(), []
    for _ in range(2):
        bot = mcts(simulations=2)
        bot.new_game(np.random.default_rng(4))
        moves.append(bot.act(board))
    assert moves[0] == moves[1]
    assert moves[0] in board.legal_moves


def test_bot_is_made_by_name():
    bot = agents.make("openspiel:mcts", simulations=3, seed=1)
    assert bot.act(Board()) in Board().legal_moves
    with pytest.raises(ValueError, match="simulations must be at least 1, not 0"):
        mcts(simulations=0)


def test_positions_unknown_to_openspiel_are_refused():
    bot = mcts(simulations=2)
    with pytest.raises(ValueError, match="cannot play a game that began with W:W18"):
        bot.act(Board("W:W18,24,K31:B12,K3"))
    with pytest.raises(ValueError, match="has no legal move"):
        bot.act(Board("B:W18:B"))


def test_illegal_action_is_refused():
    agent = BotAgent(lambda game, player, seed: Fixed(0), "fixed")
    for _ in range(2):
        with pytest.raises(EngineError, match="fixed chose an illegal action in B:W21"):
            agent.act(Board())
