"""Ratings and statistics of games.

- ``elo``: Elo ratings of a league, with intervals
- ``anchor``: the player that fixes the scale
- ``bradley_terry``: the regression behind them
- ``clusters``: games that depend on each other
- ``intervals``: score of a match, with its interval
- ``pentanomial``: results of pairs of games, and normalized Elo
- ``sprt``: sequential test that stops a match early
- ``thesis_ratings``: ratings by the rules of the thesis
"""
