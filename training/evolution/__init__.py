"""Operators on populations of players.

- state: populations and the state of a run
- mutation, crossover, safe_mutation: variation
- tournament: pairings, payoffs, truncation selection
- game_runner: games of a generation on an executor
- evaluation: games against opponents that do not change
- metrics: measurements of a generation
"""
