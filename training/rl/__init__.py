"""MaskablePPO in self-play, of which all modules but config need torch and the extra ``sb3``.

- ``config``: options and hyperparameters of a run
- ``loop``: the run, from its start to its last checkpoint
- ``learner``: models, rollouts of a zero-sum game, updates, and the policy as a file
- ``policy``: the policy network's features, and its actions for many positions
- ``game_pool``: the games played at once, and past policies as opponents
- ``evaluation``: games against fixed players, and the learning curve
- ``checkpoint``: the run on disk
"""
