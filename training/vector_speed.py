"""Steps of the vector environments, to be timed by training/speed.py."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import checkers_env
from checkers_env.vector import sample

GAMES = 1024
STEPS = 200  # of each game


def self_play(games: int = GAMES, steps: int = STEPS) -> Callable[[], int]:
    """Record random self-play; return a function that plays it again, and returns its steps."""
    env, rng, recorded = checkers_env.make_vec(games), np.random.default_rng(0), []
    observation, _ = env.reset()
    for _ in range(steps):
        recorded.append(sample(observation["action_mask"], rng))
        observation, *_ = env.step(recorded[-1])

    def play() -> int:
        env.reset()
        for actions in recorded:
            env.step(actions)
        return games * steps

    return play
