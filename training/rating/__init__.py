"""Ratings and statistics of games.

- ``elo``: Elo ratings of a league, with intervals
- ``bradley_terry``: the regression behind them
- ``clusters``: games that depend on each other
- ``intervals``: score of a match, with its interval
- ``sprt``: sequential test that stops a match early
- ``thesis_ratings``: ratings by the rules of the thesis
"""
