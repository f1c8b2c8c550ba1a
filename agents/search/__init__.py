"""The engine: one alpha-beta search for every evaluator.

============= ==============================================================
player        AlphaBeta: evaluator, depth, style and endgame tables
alphabeta     iterative alpha-beta search
selective     search styles, reductions, repetition, mate distance
transposition transposition table
pv            principal variation
workspace     preallocated arrays of a search
interrupt     time limits and deferred signals
guard         limits of moves, enforced from another thread
============= ==============================================================
"""
