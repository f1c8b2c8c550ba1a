"""N-tuple networks: sums of look-up table entries, evolved or learnt by temporal differences.

- ``tuples``: the squares of each tuple, and its index
- ``network``: the evaluator
- ``td``: a player that learns by TD(lambda) or TD-leaf in games against itself
"""
