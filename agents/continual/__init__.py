"""Continual learning (thesis, chapter 5): the pool of strategies, and the agent that plays it."""

from agents.continual.agent import ContinualAgent, make_continual

__all__ = ["ContinualAgent", "make_continual"]
