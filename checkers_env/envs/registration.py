"""Names of the environments for ``pettingzoo.make`` and ``gymnasium.make``."""

from __future__ import annotations

import gymnasium
import pettingzoo

AEC_ID = "checkers_env/checkers-v0"
SINGLE_AGENT_ID = "checkers_env/Checkers-v0"
SELF_PLAY_ID = "checkers_env/SelfPlay-v0"  # a vector environment, of gymnasium.make_vec only


def register() -> None:
    """Register the environments, unless that was done before (a second time would warn)."""
    if AEC_ID in pettingzoo.aec_registry:
        return
    pettingzoo.register("aec", AEC_ID, "checkers_env.envs.aec:env")
    gymnasium.register(
        SINGLE_AGENT_ID,
        "agents.single_agent.env:SingleAgentEnv",
        vector_entry_point="agents.single_agent.vector_env:SingleAgentVectorEnv",
    )
    gymnasium.register(
        SELF_PLAY_ID, vector_entry_point="checkers_env.envs.vector:SelfPlayVectorEnv"
    )
