"""Explanations: what an agent's evaluator sees in a position.

explain      the explanation of a position, as a structure
evaluators   explanations by kind of evaluator
picture      an explanation as SVG
"""
