"""Monte Carlo tree search: pure, and with early playout termination.

======= ===============================================
player  MonteCarlo: evaluator, simulations and options
tree    search tree: select, expand, backpropagate
playout simulated games
======= ===============================================
"""
