"""Opponents of the single-agent environments, as texts name them."""

from __future__ import annotations

from typing import Any

from agents.agent import Agent
from agents.agent_spec import AgentSpec
from agents.registry import make


def make_named(text: str, depth: int | None) -> Agent:
    """Make an opponent; bots of OpenSpiel play on where their own rule gives a draw."""
    is_bot = AgentSpec.parse(text).kind == "openspiel"
    own: dict[str, Any] = {"plays_on": True} if is_bot else {}
    return make(text, depth=depth, **own)
