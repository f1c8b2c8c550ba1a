"""Agents that play checkers: baselines, evolved networks, and anything with ``act(board)``."""

from agents.agent import Agent, PlayerAgent
from agents.make import available, make
from agents.thought import Thought, analyse

__all__ = ["Agent", "PlayerAgent", "Thought", "analyse", "available", "make"]
