"""Former strong player `strong-2`, to measure progress by: a large n-tuple network.

- ``windows``: the parts of the board that have tables
- ``tapered``: its evaluator, with stages that blend, and pairs of pieces
"""
