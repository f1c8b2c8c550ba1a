"""Many Gymnasium environments for one side of the game; an agent plays the other.

- ``sb3_env``: many games as a VecEnv of Stable-Baselines3
- ``vector_env``: many games, with the opponents' moves inside the kernels
"""
