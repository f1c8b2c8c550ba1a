"""Agents that play checkers: baselines, evolved networks, and anything with ``act(board)``."""

from agents.agent import Agent, PlayerAgent
from agents.analysis import Analysis, analyse
from agents.explanation.explain import Explanation, explain
from agents.registry import available, make

__all__ = [
    "Agent",
    "Analysis",
    "Explanation",
    "PlayerAgent",
    "analyse",
    "available",
    "explain",
    "make",
]
