"""The single-agent environment against Gymnasium's checks and the AEC environment."""

import os
import re
import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

import agents
import checkers_env
from checkers_env.actions import move_to_actions
from checkers_env.board import Board
from checkers_env.envs.single_agent import SingleAgentEnv
from checkers_env.errors import GameEndedError
from checkers_env.moves import Move
from checkers_env.state import DrawRules
from tests import DATA, ROOT

ID = "checkers_env/Checkers-v0"
STRANGER = f"{DATA / 'strangers.py'}:Draws"
SIDES = [("black", "player_0"), ("white", "player_1")]


class First:
    """Agent that plays the first legal move, and records its positions."""

    def __init__(self):
        self.shown = []

    def act(self, board):
        self.shown.append(board.fen())
        move = board.legal_moves[0]
        board.push(move)  # which changes nothing outside
        return move


class Cheat:
    """Agent that plays the same move everywhere."""

    def act(self, board):
        return Move((11, 15))


class Quitter(First):
    """Agent that ends the game at its third move."""

    def __init__(self, claim):
        super().__init__()
        self.claim = claim

    def act(self, board):
        if board.ply >= 4:
            raise GameEndedError("that is enough", self.claim)
        return super().act(board)


def play_on(env, seed, chooser=0):
    """Play random legal actions to the end of a game; return all outputs."""
    rng = np.random.default_rng(chooser)
    observation, info = env.reset(seed=seed)
    reward, over, seen = 0.0, False, []
    while True:
        assert env.observation_space.contains(observation)
        assert env.action_masks().tolist() == observation["action_mask"].tolist()
        planes = observation["observation"].tolist()
        seen.append([planes, env.action_masks().tolist(), reward, over, info, env.board.fen()])
        if over:
            return seen
        action = rng.choice(np.flatnonzero(env.action_masks()))
        observation, reward, over, truncated, info = env.step(action)
        assert not truncated


@pytest.mark.parametrize("colour", [None, "black", "white"])
@pytest.mark.parametrize("opponent", ["random", First(), agents.make("heuristic")])
def test_environment_passes_gymnasiums_checks(opponent, colour):
    env = gymnasium.make(ID, opponent=opponent, colour=colour, opening="three-move")
    check_env(env.unwrapped)


@pytest.mark.parametrize(("colour", "agent"), SIDES)
@pytest.mark.parametrize("seed", range(2))
def test_game_equals_that_of_the_aec_environment(colour, agent, seed):
    rules = {"max_moves": 60, "no_progress": 10}
    env = SingleAgentEnv(First(), colour, rules=DrawRules(max_moves=60), no_progress=10)
    seen = play_on(env, seed, chooser=seed)
    game, rng = checkers_env.raw_env(**rules), np.random.default_rng(seed)
    game.reset()
    for planes, mask, reward, over, info, fen in seen:
        while game.agent_selection != agent and not game.terminations[agent]:
            for action in move_to_actions(game.board.legal_moves[0], game.board.turn):
                game.step(action)
        expected = game.observe(agent)
        assert planes == expected["observation"].tolist()
        assert mask == expected["action_mask"].tolist()
        assert (reward, over, fen) == (
            game.rewards[agent],
            game.terminations[agent],
            game.board.fen(),
        )
        if over:
            assert info == game.infos[agent]
        else:
            game.step(rng.choice(np.flatnonzero(expected["action_mask"])))
    assert game.terminations[agent]


def test_illegal_action_ends_the_episode():
    env = SingleAgentEnv("random", "black")
    env.reset(seed=0)
    observation, reward, terminated, truncated, info = env.step(0)
    assert (reward, terminated, truncated) == (-1.0, True, False)
    assert info == {"reason": "illegal action", "illegal": "1 forward right (1-5)"}
    assert not observation["action_mask"].any()
    assert not env.action_masks().any()
    with pytest.raises(ResetNeeded, match="reset"):
        env.step(32)
    env.reset()
    assert env.action_masks().sum() == 7


@pytest.mark.parametrize("action", [-1, 128, 3.5, True, "11-15", None])
def test_invalid_action_is_refused(action):
    env = SingleAgentEnv("random", "black")
    env.reset(seed=0)
    with pytest.raises(ValueError, match="whole number from 0 to 127"):
        env.step(action)
    assert env.action_masks().sum() == 7


@pytest.mark.parametrize("opponent", ["random", "strong@depth=4", STRANGER])
def test_equal_seeds_give_equal_games(opponent):
    first, second = (SingleAgentEnv(opponent, opening="three-move") for _ in range(2))
    games = [play_on(first, 7), play_on(first, None), play_on(first, None)]
    play_on(second, 8)
    assert [play_on(second, 7), play_on(second, None), play_on(second, None)] == games
    assert games[0] != games[1]


def test_illegal_move_of_the_opponent_is_an_error():
    env = SingleAgentEnv(Cheat(), "white")
    env.reset()
    with pytest.raises(ValueError, match=r"opponent \(Cheat\): .* 11-15, which is illegal .*8-11"):
        env.step(np.flatnonzero(env.action_masks())[0])
    with pytest.raises(ResetNeeded):
        env.step(np.flatnonzero(env.action_masks())[0])


REFUSED = " and claimed a draw, which was refused"


@pytest.mark.parametrize(
    ("claim", "consents", "reward", "reason"),
    [
        ("draw", None, 1, f"the opponent ended the game{REFUSED}: that is enough"),
        ("draw", False, 1, f"the opponent ended the game{REFUSED}: that is enough"),
        ("draw", True, 0, "draw agreed, claimed by the opponent: that is enough"),
        ("loss", True, 1, "the opponent ended the game: that is enough"),
        ("win", True, 1, "the opponent ended the game: that is enough"),
        ("nothing", None, 1, "the opponent ended the game: that is enough"),
    ],
)
def test_opponent_that_ends_the_game_draws_by_consent_only(claim, consents, reward, reason):
    asked = []

    def accept_draw(board):
        asked.append(board)
        return bool(consents)

    accept = None if consents is None else accept_draw
    env = gymnasium.make(ID, opponent=Quitter(claim), colour="white", accept_draw=accept).unwrapped
    last = play_on(env, 1)[-1]
    assert last[1:5] == [[False] * 128, reward, True, {"reason": reason}]
    assert len(asked) == (claim == "draw" and consents is not None)
    assert all(board == env.board for board in asked)
    with pytest.raises(ResetNeeded):
        env.step(0)
    with pytest.raises(ValueError, match=f"leaves white no turn to play: {reason}"):
        env.reset(options={"opening": "9-13 22-18 13-17 21x14"})
    assert play_on(env, 1)[-1] == last


def test_opening_ended_by_the_opponent_is_refused():
    message = "can end before the agent's first turn: no pieces after the opponent's 1x10"
    for colour in ("white", None):
        with pytest.raises(ValueError, match=message):
            SingleAgentEnv(First(), colour, opening="B:W6:B1")
        env = SingleAgentEnv(First(), colour)
        with pytest.raises(ValueError, match=message):
            env.reset(options={"opening": "B:W6:B1"})
    SingleAgentEnv(First(), "black", opening="B:W6:B1").reset()
    # Only some of White's replies end this game.
    with pytest.raises(ValueError, match="first turn: no legal move after"):
        SingleAgentEnv("random", "black", opening="W:WK6,K22,25:BK29")


@pytest.mark.parametrize(("arguments", "message"), [
    ({"colour": "red"}, "colour must be None or one of"),
    ({"opponent": "nobody"}, "unknown agent 'nobody'"),
    ({"opponent": 3}, "must be a text, a function of a board, or an object"),
    ({"opponent": []}, "opponent must name at least one"),
    ({"opponent": First(), "depth": 3}, "depth is for opponents given by name"),
    ({"depth": 3}, "does not search"),
    ({"opening": "B:W:B9"}, "leaves no game to play: no pieces"),
    ({"accept_draw": True}, "accept_draw must be None or a function, not True"),
    ({"max_moves": 0}, "max_moves must be"),
    ({"render_mode": "svg"}, "render_mode must be"),
])  # fmt: skip
def test_invalid_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        SingleAgentEnv(**{"opponent": "random"} | arguments)


def test_board_is_a_copy():
    env = SingleAgentEnv(First(), "black", render_mode="ansi")
    with pytest.raises(ResetNeeded, match="reset"):
        env.step(32)
    env.reset(seed=0)
    assert "Black to move" in env.render()
    env.board.push("12-16")
    assert env.board == Board()
    env.step(int(env.action_masks().argmax()))
    assert env.board.ply == 2


@pytest.mark.parametrize(("name", "meant"), [("color", "colour"), ("opponnent", "opponent")])
def test_misspelt_argument_is_told(name, meant):
    message = f"unexpected argument '{name}'; did you mean '{meant}'?"
    with pytest.raises(TypeError, match=re.escape(message)):
        gymnasium.make("checkers_env/Checkers-v0", **{name: "black"})
    with pytest.raises(TypeError, match=re.escape(message)):
        gymnasium.make_vec("checkers_env/Checkers-v0", 2, **{name: "black"})


ALONE = """
import sys, gymnasium, checkers_env

class Mine:
    def act(self, board):
        return board.legal_moves[0]

for opponent in ("random", lambda board: str(board.legal_moves[-1]), ["random", Mine()]):
    env = gymnasium.make("checkers_env/Checkers-v0", opponent=opponent)
    env.reset(seed=1)
    env.step(int(env.unwrapped.action_masks().argmax()))
assert not {"agents", "training"} & set(sys.modules)
for make in (gymnasium.make, lambda name, **it: gymnasium.make_vec(name, 2, **it)):
    try:
        make("checkers_env/Checkers-v0", opponent="blondie24")
    except ImportError as error:
        print(error)
"""


def test_a_folder_of_that_name_leaves_the_environment_whole(tmp_path):
    foreign = tmp_path / "agents" / "__init__.py"
    foreign.parent.mkdir()
    foreign.write_text("OWNER = 'the user'\n")
    script = tmp_path / "own.py"
    script.write_text(ALONE)
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, script]
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told = done.stdout.splitlines()
    assert len(told) == 2
    assert all(f"Python finds agents at {foreign}. Rename or uninstall" in line for line in told)
    command = [sys.executable, "-c", "import training.benchmark"]
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True)
    hides = f"error: <module 'agents' from '{foreign}'> hides this project's agents: rename"
    assert done.stderr.startswith(hides)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
