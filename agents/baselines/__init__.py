"""Baseline players and simple evaluators.

- ``heuristic``: the random player, and the hand-made one of the performance curve
- ``material``: the piece counter
- ``weighted_pieces``: a piece counter with a weight for each square
- ``piece_squares``: weights of men and kings for each square, many pieces and few
- ``samuel``: a weighted sum of features made by hand
"""
