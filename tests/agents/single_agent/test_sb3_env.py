"""The VecEnv of Stable-Baselines3 against the vector environment, and in training."""

import importlib
import sys

import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from agents.single_agent.vector_env import SingleAgentVectorEnv
from checkers_env.envs.vector import sample

OPTIONS = {"opponent": ["random", "material"], "depth": None, "opening": "two-move"}


@pytest.mark.sb3
def test_steps_are_those_of_the_vector_environment():
    from agents.single_agent.sb3_env import SB3VecEnv

    env, expected = SB3VecEnv(6, **OPTIONS), SingleAgentVectorEnv(6, **OPTIONS)
    with pytest.raises(ResetNeeded):
        env.action_masks()
    env.seed(3)
    shown, (observation, info) = env.reset(), expected.reset(seed=3)
    colours = info["colour"].tolist()
    rng, endings = np.random.default_rng(0), 0
    for _ in range(400):
        for name in observation:
            np.testing.assert_array_equal(shown[name], observation[name])
        assert (np.stack(env.env_method("action_masks")) == observation["action_mask"]).all()
        actions = sample(observation["action_mask"], rng)
        shown, rewards, over, infos = env.step(actions)
        observation, reward, terminated, _, info = expected.step(actions)
        np.testing.assert_array_equal(rewards, reward)
        np.testing.assert_array_equal(over, terminated)
        for i in range(6):
            assert bool(infos[i]) == terminated[i]
            if terminated[i]:
                endings += 1
                last = infos[i]["terminal_observation"]["observation"]
                np.testing.assert_array_equal(last, info["final_obs"][i]["observation"])
                assert infos[i]["reason"] == info["reason"][i]
                colours[i] = info["colour"][i]
        assert env.reset_infos == [{"colour": colour} for colour in colours]
    assert endings > 10


def test_without_the_extra_the_import_names_it(monkeypatch):
    for name in ("stable_baselines3", "stable_baselines3.common.vec_env"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "agents.single_agent.sb3_env", raising=False)
    with pytest.raises(ImportError, match=r"pip install 'checkers-laboratory\[sb3\]'"):
        importlib.import_module("agents.single_agent.sb3_env")


@pytest.mark.sb3
def test_truncated_games_are_named_so():
    from agents.single_agent.sb3_env import SB3VecEnv

    env = SB3VecEnv(3, opponent="random", max_episode_steps=2)
    env.reset()
    for expected in (False, True):
        _, _, done, infos = env.step(env.action_masks().argmax(1))
        assert done.tolist() == [expected] * 3
    assert all(info["TimeLimit.truncated"] for info in infos)
    assert {info["reason"] for info in infos} == {"max episode steps"}


@pytest.mark.sb3
def test_options_are_those_of_the_next_reset():
    from agents.single_agent.sb3_env import SB3VecEnv

    env = SB3VecEnv(2, opponent="random", colour="black")
    env.set_options({"opening": "9-13 22-18"})
    env.reset()
    assert [len(env.env.board(i).moves) for i in range(2)] == [2, 2]
    env.reset()
    assert [len(env.env.board(i).moves) for i in range(2)] == [0, 0]
    env.set_options([{"opening": "9-13 22-18"}, {}])
    with pytest.raises(ValueError, match="begin with the same options"):
        env.reset()
    env.set_options({"card": 1})
    with pytest.raises(ValueError, match="options must be None or a dictionary with"):
        env.reset()
    with pytest.raises(TypeError, match="no autoreset_mode"):
        SB3VecEnv(2, autoreset_mode="NextStep")
