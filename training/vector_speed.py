"""Steps of the vector environments, to be timed by training/speed.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import checkers_env
from agents.single_vector import SingleAgentVectorEnv
from checkers_env.vector import sample

GAMES = 1024
STEPS = 200  # of each game


def self_play(games: int = GAMES, steps: int = STEPS) -> Callable[[], int]:
    """Random self-play to be repeated: a function that plays it and returns its steps."""
    return _replay(checkers_env.make_vec(games), steps, None)


def single_agent(
    opponent: str, depth: int | None = None, games: int = GAMES, steps: int = STEPS
) -> Callable[[], int]:
    """The same against an opponent, whose moves are no steps."""
    env = SingleAgentVectorEnv(games, opponent, "black", depth=depth)
    return _replay(env, steps, 0)


def _replay(env: Any, steps: int, seed: int | None) -> Callable[[], int]:
    """Record random actions; return a function that resets the games and steps through them.

    A seed is needed where anything but the actions is left to chance; it takes time.
    """
    rng, recorded = np.random.default_rng(0), []
    observation, _ = env.reset(seed=seed)
    for _ in range(steps):
        recorded.append(sample(observation["action_mask"], rng))
        observation, *_ = env.step(recorded[-1])

    def play() -> int:
        env.reset(seed=seed)
        for actions in recorded:
            env.step(actions)
        return env.num_envs * steps

    return play
