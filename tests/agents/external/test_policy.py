"""Policies as agents and models of MaskablePPO."""

import base64
import json
import pickle
import sys
import zipfile

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import agents
import checkers_env
from agents.external.policy import PolicyAgent, sb3_agent
from agents.match import play_through_environment
from checkers_env.board import Board
from checkers_env.errors import EngineError
from checkers_env.state import DrawRules

RULES = [
    {},
    {"max_moves": None, "repetition": 3, "no_progress": 10},
    {"max_moves": 30, "opening": "11-15 23-19"},
    {"max_moves": 60, "repetition": 2, "opening": "W:W18,24,K31:B12,K3"},
]


def random_policy(seed):
    rng = np.random.default_rng(seed)
    return lambda observation, mask: rng.choice(np.flatnonzero(mask))


@pytest.mark.parametrize("rules", RULES)
def test_policy_gets_the_observation_of_the_environment(rules):
    """The board gives at each turn the observation of a game in the environment's own loop."""
    env = checkers_env.raw_env(**rules)
    policies = {"player_0": random_policy(1), "player_1": random_policy(2)}
    for seed in range(3):
        env.reset(seed=seed)
        while not any(env.terminations.values()):
            agent, ply = env.agent_selection, env.board.ply
            board, shown = env.board.copy(), []
            while env.agent_selection == agent and env.board.ply == ply:
                if any(env.terminations.values()):
                    break
                seen = env.observe(agent)
                action = policies[agent](seen["observation"], seen["action_mask"])
                shown.append((seen, action))
                env.step(action)
            player = PolicyAgent(Replay(shown))
            assert player.act(board) == env.board.moves[ply]
            assert not player.policy.shown


class Replay:
    """Policy that compares its inputs with a record, and plays the record's actions."""

    def __init__(self, shown):
        self.shown = list(shown)

    def __call__(self, observation, mask):
        seen, action = self.shown.pop(0)
        np.testing.assert_array_equal(observation, seen["observation"])
        np.testing.assert_array_equal(mask, seen["action_mask"])
        assert (observation.dtype, mask.dtype) == (np.float32, np.int8)
        return action


@pytest.mark.parametrize("kind", [int, np.int64, np.asarray, lambda a: np.array([a])])
def test_policy_may_overwrite_its_inputs_and_return_any_integer(kind):
    def spoil(observation, mask):
        action = kind(mask.argmax())
        observation[:] = 7
        mask[:] = 1
        return action

    board = Board()
    assert PolicyAgent(spoil).act(board) == PolicyAgent(lambda o, m: m.argmax()).act(board)
    assert board == Board()


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (0, r"mine chose action 0 \(1 forward right .*\), illegal in B:W21.*: the legal ones are"),
        (128, "mine chose action 128, illegal"),
        (3.0, r"mine chose 3\.0, which is no whole number"),
        (None, "mine chose None, which is no whole number"),
        ("35", "which is no whole number: return the number of one action that the mask allows"),
        (np.zeros(128), r"mine chose an array of shape \(128,\), which is no whole number"),
    ],
)
def test_illegal_action_is_refused(action, message):
    with pytest.raises(EngineError, match=message):
        PolicyAgent(lambda observation, mask: action, "mine").act(Board())


def test_finished_game_is_refused():
    board = Board("B:W25,K32:BK1", repetition=2)
    for move in ("1-6", "32-27", "6-1", "27-32"):
        board.push(move)
    with pytest.raises(ValueError, match=r"the game is over .*: repetition"):
        PolicyAgent(random_policy(0)).act(board)


# Models of MaskablePPO.

OWN = {":serialized:": "", "__module__": "my.own"}
PPO = {":serialized:": "", "__module__": "stable_baselines3.common.policies"}
PICKLED = {
    "policy_class": {"__module__": "sb3_contrib.common.maskable.policies"},
    "observation_space": {"_shape": None},
    "action_space": {},
    "lr_schedule": {},
    "_last_obs": {},
}


def write_zip(path, **changes):
    """Write a zip with entries as MaskablePPO saves them."""
    entries = {key: {":serialized:": "no base64"} | entry for key, entry in PICKLED.items()}
    entries |= {"n_steps": 2048, "policy_kwargs": {}, "env": "evil:Env"} | changes
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data", json.dumps({k: v for k, v in entries.items() if v is not None}))
    return str(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"policy_class": OWN}, "trust=True reads it"),
        ({"policy_class": PPO}, "is of another algorithm, such as PPO: .*, policy:file.py:name"),
        ({"policy_class": None}, "is not one of sb3-contrib's own"),
    ],
)
@pytest.mark.sb3
def test_unsuitable_models_are_refused(tmp_path, changes, message):
    path = write_zip(tmp_path / "model.zip", **changes)
    with pytest.raises(ValueError, match=rf"cannot load .*model\.zip as a model.*{message}"):
        sb3_agent(path)


@pytest.mark.parametrize("content", [None, b"", b"hello", b"PK\3\4 and no more"])
@pytest.mark.sb3
def test_damaged_files_are_refused(tmp_path, content):
    path = tmp_path / "model.zip"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ValueError, match=r"cannot load .*model\.zip"):
        sb3_agent(str(path))


def test_missing_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sb3_contrib", None)
    with pytest.raises(ValueError, match=r"Stable-Baselines3: .*'checkers-laboratory\[sb3\]'"):
        sb3_agent(write_zip(tmp_path / "model.zip"))


def sb3_env(planes_only=False):
    """Return a game for MaskablePPO, with the whole observation or the planes."""
    from stable_baselines3.common.vec_env import VecExtractDictObs

    from agents.single_agent.sb3_env import SB3VecEnv

    env = SB3VecEnv(1, opponent="random")
    return VecExtractDictObs(env, "observation") if planes_only else env


class Bomb:
    """Object that executes code when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def with_bombs(source, target, bomb):
    """Copy a saved model so that unpickling any part creates the file `bomb`."""
    payload = base64.b64encode(pickle.dumps(Bomb(bomb))).decode()
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "data":
                entries = json.loads(content)
                pickled = [e for e in entries.values() if isinstance(e, dict)]
                for entry in (entry for entry in pickled if ":serialized:" in entry):
                    entry[":serialized:"] = payload
                content = json.dumps(entries).encode()
            new.writestr(name, content)


@pytest.mark.sb3
@pytest.mark.parametrize("planes_only", [False, True])
def test_trained_model_plays_what_it_predicts(tmp_path, planes_only):
    """Train with sb3-contrib, save, load without the pickles, and play."""
    import torch
    from sb3_contrib import MaskablePPO

    torch.set_num_threads(1)  # a small network gains nothing from more
    env = sb3_env(planes_only)
    policy = "MlpPolicy" if planes_only else "MultiInputPolicy"
    model = MaskablePPO(policy, env, n_steps=128, batch_size=64, n_epochs=2, seed=0, device="cpu")
    model.learn(256)
    model.save(tmp_path / "model.zip")
    bomb = tmp_path / "exploded"
    with_bombs(tmp_path / "model.zip", tmp_path / "bombs.zip", bomb)

    def predicted(observation, mask):
        seen = observation if planes_only else {"observation": observation, "action_mask": mask}
        return model.predict(seen, action_masks=mask, deterministic=True)[0]

    games = []
    for file in ("model.zip", "bombs.zip"):
        agent = agents.make(str(tmp_path / file))
        opponent = agents.make("heuristic", seed=1)
        games.append(play_through_environment(agent, opponent, opening=None, rules=DrawRules()))
    opponent = agents.make("heuristic", seed=1)
    expected = PolicyAgent(predicted)
    games.append(play_through_environment(expected, opponent, opening=None, rules=DrawRules()))
    assert games[0] == games[1] == games[2]
    assert games[0].result.plies > 20
    assert not bomb.exists()

    one, two = (
        sb3_agent(str(tmp_path / "model.zip"), deterministic=False, seed=seed) for seed in (1, 2)
    )
    two.new_game(np.random.default_rng(1))
    moves = [one.act(Board()) for _ in range(60)]
    assert moves == [two.act(Board()) for _ in range(60)]
    assert len(set(moves)) > 3


class OtherGame(gymnasium.Env):
    """Game of as many actions, with other observations."""

    observation_space = spaces.Box(-1.0, 1.0, (4,))
    action_space = spaces.Discrete(128)


@pytest.mark.sb3
def test_models_of_other_classes_are_refused_or_need_trust(tmp_path):
    from sb3_contrib import MaskablePPO
    from torch.nn import ReLU

    env = sb3_env()
    path = str(tmp_path / "model.zip")
    options = {"n_steps": 64, "seed": 0, "device": "cpu"}
    MaskablePPO("MultiInputPolicy", env, policy_kwargs={"net_arch": [16]}, **options).save(path)
    assert sb3_agent(path).act(Board()) in Board().legal_moves
    MaskablePPO("MultiInputPolicy", env, policy_kwargs={"activation_fn": ReLU}, **options).save(
        path
    )
    with pytest.raises(ValueError, match="policy_kwargs are pickled"):
        sb3_agent(path)
    assert sb3_agent(path, trust=True).act(Board()) in Board().legal_moves
    MaskablePPO("MlpPolicy", OtherGame(), **options).save(path)
    with pytest.raises(ValueError, match=r"cannot load .*model\.zip.*trained on observations"):
        sb3_agent(path)
