"""MaskablePPO in self-play, of which all modules but config need torch and the extra ``sb3``.

- ``config``: options and hyperparameters of a run
- ``loop``: the run, from its start to its last checkpoint
- ``game_pool``: the games played at once, against oneself and against opponents
- ``opponent_pool``: past policies, and how often each is met
- ``actor``: a policy network that chooses actions for many positions
- ``features``: the network's inputs, out of an observation
- ``model``: MaskablePPO models, and the policy as a file
- ``buffer``: rollouts of a zero-sum game
- ``ppo_update``: rollout and update
- ``evaluation``: games against fixed players
- ``checkpoint``: the run on disk
- ``plots``: the learning curve
"""
