"""OpenSpiel's bots as agents, and our agents as bots of OpenSpiel."""

import numpy as np
import pyspiel
import pytest

import agents
from agents.external.errors import EngineError, GameEndedError
from agents.external.openspiel import AgentBot, BotAgent, board_from_state, mcts
from agents.match import play_through_environment
from checkers_env.board import Board
from checkers_env.moves import Move
from checkers_env.state import DrawRules

GAME = pyspiel.load_game("checkers")


def material(seed, depth=2):
    return agents.make("material", depth=depth, seed=seed)


def their_mcts(seed, simulations=10):
    evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
    return pyspiel.MCTSBot(GAME, evaluator, 2.0, simulations, 100, True, seed, False)


def evaluated(bots, seed=0):
    """Return the final state of a game in OpenSpiel's loop."""
    state = GAME.new_initial_state()
    pyspiel.evaluate_bots(state, bots, seed)
    return state


def played(board, black, white):
    """Play in a plain loop, from `board` to its end or to a claimed draw."""
    while board.outcome() is None:
        try:
            board.push((black, white)[board.turn].act(board.copy()))
        except GameEndedError:
            break
    return board


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


class Cheat:
    def act(self, board):
        return Move((1, 32))


def test_wrapping_changes_no_move():
    """An agent plays alike in OpenSpiel's loop, and as OpenSpiel's bot in ours."""
    plies, jumps = 0, 0
    for seed in range(6):
        plain = played(Board(), material(seed), material(seed + 100))
        state = evaluated([AgentBot(material(seed)), AgentBot(material(seed + 100))])
        theirs = board_from_state(state)[0].moves
        assert theirs == plain.moves[: len(theirs)]
        assert state.returns() == [0, 0] or len(theirs) == len(plain.moves)
        plies += len(theirs)
        jumps += sum(len(move.captured) > 1 for move in theirs)

        def as_bot(game, player, chance, seed=seed):
            return AgentBot(material(seed))

        limit = len(theirs) // 2  # before OpenSpiel ends the game
        twice = played(Board(max_moves=limit), BotAgent(as_bot, "bot"), material(seed + 100))
        assert twice.moves == theirs[: 2 * limit]
    assert plies > 200
    assert jumps > 5


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


def drawn_state():
    for seed in range(100):
        state = evaluated([AgentBot(material(seed, 1)), AgentBot(material(seed + 1, 1))])
        if state.returns() == [0, 0]:
            return state
    raise AssertionError("no drawn game")


def test_draw_by_openspiels_rule_is_claimed():
    board, _ = board_from_state(drawn_state())
    assert not any(move.captured for move in board.moves[-40:])
    bot = mcts(simulations=2)
    with pytest.raises(GameEndedError, match="40 turns without a capture") as caught:
        bot.act(board)
    assert caught.value.claim == "draw"
    board.push(next(move for move in board.legal_moves))
    with pytest.raises(GameEndedError):
        bot.act(board)
    board.pop()
    board.pop()
    assert bot.act(board) in board.legal_moves  # one turn earlier the game still goes on


def test_bot_may_play_on_after_openspiels_rule():
    """In a league a draw that is claimed, and refused, would lose the game."""
    board, _ = board_from_state(drawn_state())
    moves = []
    for _ in range(2):
        bot = mcts(simulations=2, plays_on=True)
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


def test_illegal_move_is_refused():
    with pytest.raises(ValueError, match="the agent played 1-32, illegal in B:W21"):
        evaluated([AgentBot(Cheat()), their_mcts(0)])


def test_capture_begun_by_another_player_is_refused():
    state = GAME.new_initial_state()
    rng = np.random.default_rng(0)
    while board_from_state(state)[1] == ():
        state.apply_action(int(rng.choice(state.legal_actions())))
        if state.is_terminal():
            state = GAME.new_initial_state()
    with pytest.raises(ValueError, match="was another's"):
        AgentBot(material(0)).step(state)


@pytest.mark.parametrize("name", ["tic_tac_toe", "checkers(rows=10,columns=10)"])
def test_other_games_are_refused(name):
    state = pyspiel.load_game(name).new_initial_state()
    with pytest.raises(ValueError, match="is not checkers on a board of 8 by 8"):
        AgentBot(material(0)).step(state)
