"""The single-agent vector environment against the environment for one game."""

import copy
import pickle
from collections import Counter

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode

import agents
from agents.agent import PlayerAgent
from agents.baselines.material import Material
from agents.blondie.architecture import BLONDIE_1999
from agents.search.player import AlphaBeta
from agents.search.selective import Selective
from agents.single_agent.vector_env import SingleAgentVectorEnv
from checkers_env.envs.opponents import COLOURS
from checkers_env.envs.single_agent import SingleAgentEnv
from checkers_env.envs.vector import sample
from checkers_env.openings import BALLOTS
from tests.agents.search.test_alphabeta import network
from tests.checkers_env.envs.test_vector import DOUBLE_JUMP, KINGS, same

ID = "checkers_env/Checkers-v0"
SAME, DISABLED = AutoresetMode.SAME_STEP, AutoresetMode.DISABLED
BLOCKED = "W:W11,12,32:B4,24"  # after 12-8 24-27 32x23, Black cannot move
COUNTER = PlayerAgent("counter", AlphaBeta(Material(), 2))
CAREFUL = PlayerAgent("careful", AlphaBeta(network(BLONDIE_1999, 0), 4, style=Selective()))


class First:
    """Agent with legal moves that is not a compiled player."""

    def act(self, board):
        return board.legal_moves[0]


GAMES = [  # and the ends that they come to
    ({"opponent": "random"}, {"no pieces"}),
    ({"opponent": "material", "depth": 2, "opening": "three-move", "max_moves": 12}, {"max moves"}),
    (
        {"opponent": "heuristic", "colour": "white", "opening": "two-move", "no_progress": 4},
        {"no pieces", "no progress"},
    ),
    (
        {"opponent": "material", "depth": 1, "colour": "black", "opening": DOUBLE_JUMP},
        {"no pieces"},
    ),
    (
        {"opponent": COUNTER, "opening": KINGS, "max_moves": 20, "repetition": 2, "no_progress": 6},
        {"no pieces", "no progress"},
    ),
    (
        {"opponent": "random", "opening": BLOCKED, "blocked_draws": True},
        {"no pieces", "no legal move"},
    ),
    (
        {"opponent": ["random", COUNTER, "heuristic"], "opening": "two-move", "repetition": 2},
        {"no pieces", "repetition"},
    ),
    ({"opponent": First(), "colour": "white", "max_moves": 12}, {"max moves"}),
    ({"opponent": lambda board: str(board.legal_moves[0]), "max_moves": 12}, {"max moves"}),
    ({"opponent": CAREFUL, "opening": KINGS, "max_moves": 40}, {"no pieces"}),
]


class Common:
    """Opponent that uses one generator in all its games."""

    def __init__(self, given, depth, entropy):
        agent = agents.make(given, depth=depth) if isinstance(given, str) else given
        self.act = getattr(agent, "act", agent)
        if isinstance(agent, PlayerAgent):
            rng = np.random.default_rng(entropy)
            self.act = PlayerAgent(agent.name, agent.player, rng).act


class Referee:
    """One game in the environment for one game."""

    def __init__(self, seed, opponents, colour, **rules):
        self.rng, self.opening = np.random.default_rng(seed), rules.pop("opening", None)
        self.cards = BALLOTS.get(self.opening, (self.opening,))
        self.colours = COLOURS if colour is None else (colour,)
        self.envs = {
            (opponent, name): SingleAgentEnv(opponent, name, **rules)
            for opponent in opponents
            for name in self.colours
        }
        self.opponents = opponents

    def begin(self):
        bases = len(self.cards), len(self.colours), len(self.opponents)
        number = int(self.rng.integers(np.prod(bases)))
        card, colour, opponent = np.unravel_index(number, bases, order="F")
        self.env = self.envs[self.opponents[opponent], self.colours[colour]]
        self.view, self.info = self.env.reset(options={"opening": self.cards[card]})
        self.reward, self.over = 0.0, False

    def step(self, action):
        self.view, self.reward, self.over, _, self.info = self.env.step(action)


def check_views(observation, referees):
    for key in ("observation", "action_mask"):
        assert same(observation[key], np.stack([referee.view[key] for referee in referees]))


def check_beginnings(info, referees):
    """Check the games that have, or have not, just begun."""
    begun = ["colour" in referee.info for referee in referees]
    assert ("colour" in info) == any(begun)
    if any(begun):
        assert info["_colour"].tolist() == begun
        assert info["colour"].tolist() == [referee.info.get("colour") for referee in referees]


def begin_those_over(referees):
    for referee in referees:
        if referee.over:
            referee.begin()


def follow(rules, mode, count, steps):
    """Play at random, sometimes illegally, and compare all outputs; return the ends."""
    env = SingleAgentVectorEnv(count, autoreset_mode=mode, **rules)
    rules = {"colour": None} | rules
    given, depth, seeds = rules.pop("opponent"), rules.pop("depth", None), range(3, 3 + count)
    pool = given if isinstance(given, list) else [given]
    opponents = [Common(each, depth, [k, *seeds]) for k, each in enumerate(pool)]
    referees = [Referee(seed, opponents, **rules) for seed in seeds]
    rng, ends = np.random.default_rng(0), Counter()
    observation, info = env.reset(seed=3)
    for referee in referees:
        referee.begin()
    check_views(observation, referees)
    check_beginnings(info, referees)
    for _ in range(steps):
        actions = sample(observation["action_mask"], rng)
        slips = rng.random(count) < 0.004
        actions[slips] = rng.integers(128, size=slips.sum())
        observation, reward, over, truncated, info = env.step(actions)
        for referee, action in zip(referees, actions, strict=True):
            referee.begin() if referee.over else referee.step(action)
        assert env.observation_space.contains(observation)
        assert same(over, np.array([referee.over for referee in referees]))
        assert same(reward, np.array([referee.reward for referee in referees]))
        assert not truncated.any()
        ends.update(referee.info["reason"] for referee in referees if referee.over)
        assert ("reason" in info) == over.any()
        if over.any():
            reasons = [referee.info.get("reason") for referee in referees]
            assert info["reason"].tolist() == reasons
        illegal = [referee.info.get("illegal") for referee in referees]
        assert ("illegal" in info) == any(illegal)
        if any(illegal):
            assert info["illegal"].tolist() == illegal
            assert info["_illegal"].tolist() == [words is not None for words in illegal]
        if over.any() and mode == SAME:
            for referee, view in zip(referees, info["final_obs"], strict=True):
                assert (view is None) != referee.over
                for key in view or ():
                    assert same(view[key], referee.view[key])
            assert info["final_info"]["reason"].tolist() == reasons
            begin_those_over(referees)
        check_views(observation, referees)
        check_beginnings(info, referees)
        if over.any() and mode == DISABLED:
            observation, info = env.reset(options={"reset_mask": over})
            begin_those_over(referees)
            check_views(observation, referees)
    return ends


@pytest.mark.parametrize("number", range(len(GAMES)))
def test_each_game_equals_that_of_the_single_environment(number):
    (rules, expected), modes = GAMES[number], list(AutoresetMode)
    ends = follow(rules, modes[number % len(modes)], count=20, steps=120)
    assert ends.total() >= 40
    assert expected | {"illegal action"} <= ends.keys()


# Seeds


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copy_plays_on_identically(clone):
    env = SingleAgentVectorEnv(20, [COUNTER, "random"], opening="two-move")
    observation, _ = env.reset(seed=2)
    twin, rng = clone(env), np.random.default_rng(3)
    for _ in range(80):
        actions = sample(observation["action_mask"], rng)
        outcome = env.step(actions)
        assert pickle.dumps(outcome) == pickle.dumps(twin.step(actions))
        observation = outcome[0]


# As Gymnasium has it


@pytest.mark.parametrize("mode", [None, "vector_entry_point", "sync"])
def test_gymnasium_make_vec_makes_many_games(mode):
    env = gymnasium.make_vec(ID, num_envs=3, vectorization_mode=mode, opponent=COUNTER, depth=None)
    assert isinstance(env.unwrapped, SingleAgentVectorEnv) == (mode != "sync")
    assert env.spec is not None
    single = SingleAgentEnv(COUNTER)
    assert env.single_observation_space == single.observation_space
    assert env.single_action_space == single.action_space
    observation, info = env.reset(seed=0)
    assert env.observation_space.contains(observation)
    assert set(info) == {"colour", "_colour"}
    env.step(sample(observation["action_mask"], np.random.default_rng(0)))
    env.close()


# Arguments


@pytest.mark.parametrize(("arguments", "message"), [
    ({"opponent": First}, "opponent is the class First: give an object of it"),
    ({"opponent": agents.make("mcts", seconds=1)}, "has a time limit"),
    ({"num_envs": 0}, "num_envs must be"),
])  # fmt: skip
def test_invalid_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        SingleAgentVectorEnv(**{"num_envs": 2, "opponent": "random"} | arguments)


def test_opening_ended_by_the_opponent_is_refused():
    message = "can end before the agent's first turn: no pieces"
    with pytest.raises(ValueError, match=message):
        SingleAgentVectorEnv(2, "random", "white", opening="B:W6:B1")
    env = SingleAgentVectorEnv(2, "random", "white")
    observation, _ = env.reset()
    with pytest.raises(ValueError, match=message):
        env.reset(options={"opening": "B:W6:B1"})
    env.step(observation["action_mask"].argmax(1))


def test_several_opponents_take_turns_by_chance():
    seen = []

    def spy(board):
        seen.append(board)
        return str(board.legal_moves[0])

    env = gymnasium.make(ID, opponent=[spy, First()], colour="white")
    env.reset(seed=0)
    for _ in range(30):
        env.reset()
    assert 5 < len(seen) < 26


class Sampler:
    """Agent that cannot play without a generator."""

    def __init__(self):
        self.generators = 0

    def new_game(self, rng):
        self.rng = rng
        self.generators += 1

    def act(self, board):
        return board.legal_moves[self.rng.integers(len(board.legal_moves))]


@pytest.mark.parametrize("seed", [None, [1, None]])
def test_opponent_in_python_gets_a_generator_without_a_seed(seed):
    opponent = Sampler()
    env = SingleAgentVectorEnv(2, opponent, "black")
    observation, _ = env.reset(seed=seed)
    env.step(observation["action_mask"].argmax(1))
    env.reset()
    assert opponent.generators == 1
    env.reset(seed=1)
    assert opponent.generators == 2


def test_board_before_the_first_game_is_refused():
    env = SingleAgentVectorEnv(2, "random")
    with pytest.raises(ResetNeeded, match="reset"):
        env.step([32, 32])
    with pytest.raises(ResetNeeded, match="game 1 was not begun"):
        env.board(1)
    with pytest.raises(ResetNeeded, match="the games were not begun"):
        env.reset(options={"reset_mask": np.array([True, False])})
    env.reset()
    assert env.board(0).outcome() is None
