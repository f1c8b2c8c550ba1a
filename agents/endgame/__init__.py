"""Endgame tables: perfect play with few pieces.

========== =================================================
indexing   one index for each position of few pieces
retrograde work out the tables from the ends of games back
tables     load the tables, or work them out and cache them
probe      look positions up, in kernels and for boards
evaluator  an evaluator with tables, for the search
========== =================================================
"""
