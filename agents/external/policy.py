"""Policies as agents: functions of observation and mask, and networks of Stable-Baselines3."""

from __future__ import annotations

import importlib
import json
import operator
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from checkers_env.actions import ACTIONS, describe_action
from checkers_env.board import Board
from checkers_env.envs.aec import observation_space
from checkers_env.errors import EngineError
from checkers_env.files import open_regular
from checkers_env.moves import Move
from checkers_env.observation import PLANES, observe

Policy = Callable[[NDArray[np.float32], NDArray[np.int8]], Any]
"""From planes, float32[8, 8, 8], and a mask, int8[128], to an action that the mask allows."""

MASKABLE_POLICIES = "sb3_contrib.common.maskable.policies"


class PolicyAgent:
    """A policy for :mod:`checkers_env.envs.aec` as an agent.

    The policy sees the environment's observation of the side to move, with the draw clocks of the
    board. It plays a multi-jump jump by jump. A method ``new_game(rng)`` is optional. By default
    the agent has the name of the function or class.
    """

    def __init__(self, policy: Policy, name: str | None = None) -> None:
        self.policy = policy
        self.name = name or getattr(policy, "__name__", type(policy).__name__)

    def new_game(self, rng: np.random.Generator) -> None:
        """Pass the generator of the next game to a policy with this method."""
        if hasattr(self.policy, "new_game"):
            self.policy.new_game(rng)

    def act(self, board: Board) -> Move:
        """Return the move of the policy. Raise EngineError if its action is illegal."""
        if outcome := board.outcome():
            raise ValueError(f"the game is over in {board.fen()}: {outcome.reason}")
        after = board.copy()
        while after.ply == board.ply:
            action = self._action(self.policy(*observe(after)))
            if action not in after.legal_actions:
                known = 0 <= action < ACTIONS
                step = f" ({describe_action(action, board.turn)})" if known else ""
                raise EngineError(
                    f"{self.name} chose action {action}{step}, illegal in {board.fen()}: "
                    f"the legal ones are {after.legal_actions}"
                )
            after.push_action(action)
        return after.moves[-1]

    def _action(self, action: Any) -> int:
        try:
            return operator.index(np.asarray(action).item())
        except (TypeError, ValueError):
            is_array = isinstance(action, np.ndarray) and action.ndim
            what = f"an array of shape {action.shape}" if is_array else repr(action)
            raise EngineError(
                f"{self.name} chose {what}, which is no whole number: return the number of one "
                "action that the mask allows"
            ) from None


def sb3_agent(
    path: str, *, deterministic: bool = True, seed: int | None = None, trust: bool = False
) -> PolicyAgent:
    """Load a zip file of sb3-contrib's MaskablePPO as an agent (needs the extra `sb3`).

    Parameters
    ----------
    path
        File of ``model.save(path)``. The model was trained on ``checkers_env/Checkers-v0``: on the
        whole observation ("MultiInputPolicy"), or on the planes alone, float32[8, 8, 8] or flat
        ("MlpPolicy").
    deterministic
        Play the most probable action; otherwise sample one, by `seed`.
    trust
        Unpickle the Python objects in the file, which executes their code: only for files of your
        own. Without it they stay unread. That is enough for sb3-contrib's own policies with
        `policy_kwargs` of plain numbers and lists.

    Raises
    ------
    ValueError
        Without the extra, and for a file that cannot be loaded.
    """
    model = _load(Path(path), trust)
    return PolicyAgent(MaskablePolicy(model, deterministic, seed), Path(path).stem)


class MaskablePolicy:
    """A model of MaskablePPO as a policy."""

    def __init__(self, model: Any, deterministic: bool, seed: int | None) -> None:
        self._model = model
        self._deterministic = deterministic
        self._rng = np.random.default_rng(seed)

    def new_game(self, rng: np.random.Generator) -> None:
        """Sample actions by `rng` from now on."""
        self._rng = rng

    def __call__(self, planes: NDArray[np.float32], mask: NDArray[np.int8]) -> int:
        """Return the action for planes, float32[8, 8, 8], and a mask, int8[128]."""
        space = self._model.observation_space
        if isinstance(space, spaces.Dict):
            observation: Any = {"observation": planes, "action_mask": mask}
        else:
            observation = planes.reshape(space.shape)
        policy = self._model.policy
        tensor = policy.obs_to_tensor(observation)[0]
        probabilities = np.array(
            policy.get_distribution(tensor, mask).distribution.probs.tolist()[0]
        )
        if self._deterministic:
            return int(probabilities.argmax())
        return int(self._rng.choice(ACTIONS, p=probabilities / probabilities.sum()))


def _load(path: Path, trust: bool) -> Any:
    try:
        sb3_contrib = importlib.import_module("sb3_contrib")
    except ImportError as error:
        raise ValueError(
            f"{path} needs Stable-Baselines3: install torch and the extra sb3 "
            f"(pip install 'checkers-laboratory[sb3]'): {error}"
        ) from error
    algorithm = sb3_contrib.MaskablePPO
    try:
        open_regular(path).close()  # a pipe would never end
        replacements = {} if trust else _replace_pickles(path, algorithm.policy_aliases)
        unused = {"env": None, "n_steps": 1, "n_envs": 1}  # keeps the training buffer small
        model = algorithm.load(path, device="cpu", custom_objects=replacements | unused)
        space = model.observation_space
        if space != observation_space() and space.shape not in ((PLANES, 8, 8), (PLANES * 64,)):
            raise ValueError(f"it was trained on observations {space}, not on those of this game")
    except Exception as error:
        raise ValueError(f"cannot load {path} as a model of MaskablePPO: {error}") from error
    model.policy.set_training_mode(False)
    return model


def _replace_pickles(path: Path, policies: dict[str, Any]) -> dict[str, Any]:
    """Return a value for each pickled entry. Raise ValueError if the entry itself is needed."""
    with zipfile.ZipFile(path) as archive:
        entries = json.loads(archive.read("data"))
    pickled = {
        key: entry
        for key, entry in entries.items()
        if isinstance(entry, dict) and ":serialized:" in entry
    }
    module = pickled.get("policy_class", {}).get("__module__", "")
    if module.startswith("stable_baselines3."):
        raise ValueError(
            "its policy is of another algorithm, such as PPO: play it by a policy of your own, "
            "policy:file.py:name"
        )
    if module != MASKABLE_POLICIES:
        raise ValueError("its policy is not one of sb3-contrib's own: trust=True reads it")
    if "policy_kwargs" in pickled:
        raise ValueError("its policy_kwargs are pickled Python objects: trust=True reads them")
    shape = pickled["observation_space"].get("_shape")
    known = {
        "policy_class": policies["MlpPolicy" if shape else "MultiInputPolicy"],
        "observation_space": spaces.Box(0, 1, shape, np.float32) if shape else observation_space(),
        "action_space": spaces.Discrete(ACTIONS),
        "learning_rate": 0.0,
        "clip_range": 0.0,
    }
    return {key: known.get(key) for key in pickled}
