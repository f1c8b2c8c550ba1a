"""Monte Carlo tree search: pure, and with early playout termination.

- ``player``: MonteCarlo: evaluator, simulations and options
- ``tree``: simulations: select, expand, play out, backpropagate
- ``policy_value``: PolicyValue: a network with a policy, and simulations by it
"""
