"""Strong player: a large n-tuple network that learns from deep searches of its own games.

- ``network``: the evaluator
- ``learner``: TD(lambda) and TreeStrap updates
- ``selfplay``: the games
- ``codec``: compressed tables for weight files
"""
