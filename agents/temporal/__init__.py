"""Temporal-difference learning in self-play, for every evaluator that is tanh of a weighted sum."""
