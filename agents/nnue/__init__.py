"""Strong player: a small network that learns from the searches of its own games.

- ``network``: the evaluator, updated move by move in small integers
- ``learner``: training by gradients
- ``sampling``: self-play recorded as positions and search values
"""
