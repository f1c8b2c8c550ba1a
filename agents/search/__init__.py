"""The engine: one alpha-beta search for every evaluator.

============= ==============================================================
player        AlphaBeta: evaluator, depth, style and endgame tables
alphabeta     iterative alpha-beta search
selective     search styles, reductions, repetition, mate distance
transposition transposition table
root_order    order of the root's moves, and the choice between equal ones
pv            principal variation
workspace     preallocated arrays of a search
interrupt     limits of time and deferred signals
============= ==============================================================
"""
