"""Agents that play checkers: baselines, evolved networks, and anything with ``act(board)``."""

from agents.agent import Agent, PlayerAgent
from agents.analysis import Thought, analyse
from agents.registry import available, make

__all__ = ["Agent", "PlayerAgent", "Thought", "analyse", "available", "make"]
