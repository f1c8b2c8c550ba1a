"""The loop of every RL library: observation and mask in, action out. Here the policy is random."""

import numpy as np

import checkers_env

rng = np.random.default_rng(0)
env = checkers_env.make(opening="three-move")
for game in range(5):
    env.reset(seed=game)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        if termination or truncation:
            env.step(None)
        else:
            env.step(int(rng.choice(np.flatnonzero(observation["action_mask"]))))
        if agent == "player_0":
            result = reward
    print(f"game {game}: {result:+d} for Black, {info['reason']}")
