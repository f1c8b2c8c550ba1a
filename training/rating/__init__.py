"""Ratings and statistics of games.

- ``elo``: Elo ratings of a league, with intervals and an anchor
- ``bradley_terry``: the regression behind them
- ``zoo_scale``: known ratings of the zoo, its baselines and its levels
- ``placement``: the games that place an agent on that scale
- ``intervals``: score of a match, with its interval
- ``pentanomial``: pairs of games, normalized Elo and the sequential test
- ``thesis_ratings``: ratings by the rules of the thesis
"""
