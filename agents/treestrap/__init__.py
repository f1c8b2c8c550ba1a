"""Strong player: a large n-tuple network that learns from deep searches of its own games.

- ``network``: the evaluator that learns by temporal differences
- ``learner``: its self-play, with TD(lambda) and TreeStrap updates
- ``tapered``: the same windows, with stages that blend, and pairs of pieces
- ``sampling``: self-play recorded as positions and search values
- ``fitting``: a tapered network fitted to them
- ``codec``: compressed tables for weight files
"""
