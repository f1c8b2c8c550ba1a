"""Many single-agent games as a VecEnv of Stable-Baselines3."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded

from agents.single_agent.vector_env import SingleAgentVectorEnv

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:
    raise ImportError(
        f"SB3VecEnv needs torch and the extra sb3 (pip install 'checkers-laboratory[sb3]'): {error}"
    ) from error


class SB3VecEnv(VecEnv):  # type: ignore[misc]
    """One side of many games, for MaskablePPO and the other algorithms of Stable-Baselines3.

    All games are stepped in one kernel call, so it is several times as fast as
    ``make_vec_env("checkers_env/Checkers-v0", ...)``.

    Parameters
    ----------
    num_envs
        Number of games.
    **options
        As for :class:`agents.single_agent.vector_env.SingleAgentVectorEnv`, but
        ``autoreset_mode``: Stable-Baselines3 begins a new game in the step that ends one.
    """

    def __init__(self, num_envs: int, **options: Any) -> None:
        if "autoreset_mode" in options:
            raise TypeError("no autoreset_mode: a game begins in the step that ends the one before")
        self.env = SingleAgentVectorEnv(num_envs, **options)
        super().__init__(num_envs, self.env.single_observation_space, self.env.single_action_space)
        self._observation: dict[str, Any] | None = None

    def reset(self) -> dict[str, Any]:
        """Begin all games, by the seeds and options that were set before.

        Raises
        ------
        ValueError
            For options that the games do not know, or that are not the same for all.
        """
        options = self._options[0]
        if any(other != options for other in self._options):
            raise ValueError(f"all games begin with the same options, not {self._options}")
        seeds = None if all(seed is None for seed in self._seeds) else self._seeds
        self._observation, info = self.env.reset(seed=seeds, options=options)
        self.reset_infos = [{"colour": colour} for colour in info["colour"]]
        self._reset_seeds()
        self._reset_options()
        return self._observation

    def step_async(self, actions: Any) -> None:
        """Take the actions, int[n], of the next :meth:`step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[dict[str, Any], Any, Any, list[dict[str, Any]]]:
        """Play the actions."""
        self._observation, reward, over, truncated, info = self.env.step(self._actions)
        over |= truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(over).tolist():
            infos[i] = {
                "terminal_observation": info["final_obs"][i],
                "TimeLimit.truncated": bool(truncated[i]),
                "reason": info["reason"][i],
            }
            self.reset_infos[i] = {"colour": info["colour"][i]}
        return self._observation, reward.astype(np.float32), over, infos

    def action_masks(self) -> Any:
        """Return which actions are legal, bool, shape (n, 128), as MaskablePPO asks for them."""
        if self._observation is None:
            raise ResetNeeded("the games were not begun: call reset()")
        return self._observation["action_mask"].astype(bool)

    def env_method(
        self, method_name: str, *args: Any, indices: Any = None, **options: Any
    ) -> list[Any]:
        """Call a method of this object, and return the results of the games at `indices`."""
        results = getattr(self, method_name)(*args, **options)
        return [results[i] for i in self._get_indices(indices)]

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of this object once for each game at `indices`."""
        value = None if attr_name == "render_mode" else getattr(self, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Raise an error: the games have no attributes of their own."""
        raise AttributeError(f"the games share one environment: {attr_name} cannot be set")

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """Return False for each game at `indices`."""
        return [False for _ in self._get_indices(indices)]

    def close(self) -> None:
        """Do nothing: there is nothing to close."""
