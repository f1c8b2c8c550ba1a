"""Names of the environments for ``pettingzoo.make`` and ``gymnasium.make``."""

from __future__ import annotations

from typing import Any, NoReturn

import gymnasium
import pettingzoo

from checkers_env.envs.opponents import import_agents

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
        "checkers_env.envs.single_agent:SingleAgentEnv",
        vector_entry_point="checkers_env.envs.registration:make_single_agent_vector",
    )
    gymnasium.register(
        SELF_PLAY_ID,
        refuse_single_game,
        vector_entry_point="checkers_env.envs.vector:SelfPlayVectorEnv",
    )


def make_single_agent_vector(*args: Any, **kwargs: Any) -> Any:
    """Make many games against an opponent; their kernels are in the package `agents`."""
    return import_agents("single_agent.vector_env").SingleAgentVectorEnv(*args, **kwargs)


def refuse_single_game(**kwargs: object) -> NoReturn:
    """Raise an error that names what makes self-play environments."""
    call = f'call gymnasium.make_vec("{SELF_PLAY_ID}", num_envs=...)'
    raise gymnasium.error.Error(f"many games at once: {call}; one is checkers_env.make()")
