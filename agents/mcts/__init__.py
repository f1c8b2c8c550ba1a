"""Monte Carlo tree search: pure, and with early playout termination.

- ``player``: MonteCarlo: evaluator, simulations and options
- ``tree``: simulations: select, expand, play out, backpropagate
"""
