"""The names under which PettingZoo and Gymnasium make the game."""

from __future__ import annotations

import gymnasium
import pettingzoo

AEC_ID = "checkers_env/checkers-v0"
SINGLE_AGENT_ID = "checkers_env/Checkers-v0"


def register() -> None:
    """Register both environments, unless that was done before (a second time would warn)."""
    if AEC_ID not in pettingzoo.aec_registry:
        pettingzoo.register("aec", AEC_ID, "checkers_env.aec:env")
    if SINGLE_AGENT_ID not in gymnasium.registry:
        gymnasium.register(SINGLE_AGENT_ID, "agents.single:SingleAgentEnv")
