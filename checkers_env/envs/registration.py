"""Names of the environments for ``pettingzoo.make`` and ``gymnasium.make``; :func:`make_vec`."""

from __future__ import annotations

from typing import Any, NoReturn

import gymnasium
import pettingzoo

from checkers_env.envs.opponents import import_agents
from checkers_env.envs.vector import SelfPlayVectorEnv

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
        vector_entry_point="checkers_env.envs.registration:make_vec",
    )


def make_vec(num_envs: int, *, device: str = "cpu", **arguments: Any) -> SelfPlayVectorEnv:
    """Many games at once, stepped in one kernel call; the side to move acts in each of them.

    Observations, actions and draw rules are those of :mod:`checkers_env.envs.aec`, for the side to
    move: ``{"observation": float32[n, 8, 8, 8], "action_mask": int8[n, 128]}``, in fresh arrays at
    each call. The reward is that of the side that has just acted.

    Parameters
    ----------
    num_envs
        Number of games.
    device
        ``"cpu"``, or ``"cuda"`` for arrays on the device that the next call but one overwrites. It
        is tested in numba's simulator.
    opening
        As for :func:`checkers_env.make`.
    autoreset_mode
        A :class:`gymnasium.vector.AutoresetMode` or its value: ``"SameStep"``, ``"NextStep"`` or
        ``"Disabled"``.
    max_episode_steps
        Steps after which a game is truncated; None for no limit.
    rules, **changes
        The draw rules, as for :class:`checkers_env.Board`.
    planes
        Of a device: ``"float32"``, ``"int8"`` or ``"bits"``.
    as_array
        Of a device: what converts its arrays, such as ``torch.as_tensor``.

    Raises
    ------
    ValueError
        For invalid arguments, and for actions outside 0-127.
    ClosedEnvironmentError
        For a step or a reset after ``close()``.
    ResetNeeded
        For a step in a game that is over and does not begin anew by itself.

    Notes
    -----
    The information of a step has ``"to_move"`` (int8[n], the side to move now: 0 for Black, 1 for
    White) and ``"rewards"`` (float64[n, 2], of Black and White). Where a game has ended it also has
    ``"reason"``, and in the same-step mode ``"final_obs"`` and ``"final_info"``. An illegal action
    ends its game with -1 for the side that chose it and 0 for the other; the reason is "illegal
    action", and ``"illegal"`` has the action in words. Each of these has its mask, such as
    ``"_illegal"`` (bool[n]).
    """
    if device == "cpu":
        return SelfPlayVectorEnv(num_envs, **arguments)
    if device == "cuda":
        from checkers_env.envs.cuda import CudaVectorEnv

        return CudaVectorEnv(num_envs, **arguments)
    raise ValueError(f"device must be 'cpu' or 'cuda', not {device!r}")


def make_single_agent_vector(*args: Any, **kwargs: Any) -> Any:
    """Make many games against an opponent; their kernels are in the package `agents`."""
    return import_agents("single_agent.vector_env").SingleAgentVectorEnv(*args, **kwargs)


def refuse_single_game(**kwargs: object) -> NoReturn:
    """Raise an error that names what makes self-play environments."""
    call = f'call gymnasium.make_vec("{SELF_PLAY_ID}", num_envs=...)'
    raise gymnasium.error.Error(f"many games at once: {call}; one is checkers_env.make()")
