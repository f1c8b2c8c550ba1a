"""Checks of orders and actions, in one wrapper."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo.utils import wrappers
from pettingzoo.utils.env_logger import EnvLogger

from checkers_env.actions import ACTIONS

ILLEGAL_ACTION, ILLEGAL_REWARD = "illegal action", -1


class CheckedEnv(wrappers.OrderEnforcingWrapper):  # type: ignore[misc]
    """The game with the checks of PettingZoo's three wrappers, in one.

    - OrderEnforcingWrapper: nothing can be read or played before ``reset()``, a step after the end
      gives a warning, and ``agent_iter()`` needs a step in each turn.
    - AssertOutOfBoundsWrapper: an action that is not in the action space raises AssertionError.
    - TerminateIllegalWrapper: an illegal action ends the game with a warning, and loses.

    Errors and warnings are those of the wrappers.
    """

    agents = property(
        lambda self: self.env.agents if self._has_reset else self.__getattr__("agents")
    )
    # Before reset() the game has none of these: then the wrapper's own error follows.
    agent_selection, rewards, terminations, truncations, infos = (
        property(operator.attrgetter(f"env.{name}"))
        for name in ("agent_selection", "rewards", "terminations", "truncations", "infos")
    )

    def __str__(self) -> str:
        return str(self.env)

    def last(self, observe: bool = True) -> Any:
        """Return observation, reward, termination, truncation and info of the agent to move."""
        if not self._has_reset:
            return super().last(observe)  # which raises the error
        return self.env.last(observe)

    def step(self, action: Any) -> None:
        """Play an action of the agent to move (None when the game is over)."""
        if not self._has_reset:
            EnvLogger.error_step_before_reset()
        game = self.env
        self._has_updated = True
        if not game.agents:
            EnvLogger.warn_step_after_terminated_truncated()
            return
        agent = game.agent_selection
        is_over = game.terminations[agent] or game.truncations[agent]
        if not ((action is None and is_over) or _is_action(action, game.action_spaces[agent])):
            raise AssertionError("action is not in action space")
        if is_over:
            game.step(action)
        elif not game.play(to_int(action)):
            EnvLogger.warn_on_illegal_move()
            game.forfeit()


def _is_action(action: Any, space: spaces.Space[Any]) -> bool:
    """Return what ``space.contains(action)`` does, which takes longer than the rest of a step."""
    is_plain = isinstance(action, (int, np.int64)) and 0 <= action < ACTIONS
    return bool(is_plain) or space.contains(action)


def to_int(action: Any) -> int:
    """Return a whole number as an int. Raise ValueError for anything else, bool included."""
    if type(action) is int:  # the common case
        return action
    try:
        if not isinstance(action, (bool, np.bool_)):
            return operator.index(action)
    except TypeError:
        pass
    raise ValueError(f"action {action!r} is not a whole number")
