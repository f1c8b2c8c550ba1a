"""Self-play in 256 games at once, all stepped by one call. Here the policy is random."""

import numpy as np

import checkers_env

rng, results = np.random.default_rng(0), []
env = checkers_env.make_vec(256, opening="three-move")
observation, info = env.reset(seed=0)
for _ in range(400):
    actions = checkers_env.sample(
        observation["action_mask"], rng
    )  # each is for the side info["to_move"]
    observation, reward, over, _, info = env.step(actions)
    results += info["rewards"][over, 0].tolist()  # Black's, of the games that ended

won, lost = results.count(1), results.count(-1)
print(f"{len(results)} games: Black won {won}, drew {results.count(0)} and lost {lost}")
