"""Models of sb3-contrib: one that learns from features, and its policy as a file for anyone."""

from __future__ import annotations

import io
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import torch
from gymnasium import spaces
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import Logger

from checkers_env.actions import ACTIONS
from checkers_env.observation import PLANES
from training.rl.buffer import ZeroSumBuffer
from training.rl.config import Learning
from training.rl.features import COUNT, spread

FIRST_LAYERS = ("mlp_extractor.policy_net.0.weight", "mlp_extractor.value_net.0.weight")


def new_model(learning: Learning, games: int, seed: int, rng: np.random.Generator) -> MaskablePPO:
    """A model that has learned nothing; `rng` orders the samples of its updates."""
    model = _model(
        spaces.Box(0, 1, (COUNT,), np.float32),
        list(learning.hidden),
        games,
        learning_rate=lambda left: learning.rate * left,
        n_steps=learning.rollout,
        batch_size=learning.batch,
        n_epochs=learning.epochs,
        gamma=learning.gamma,
        gae_lambda=learning.trace,
        clip_range=learning.clip,
        rollout_buffer_class=ZeroSumBuffer,
        rollout_buffer_kwargs={"rng": rng},
        seed=seed,
    )
    model.set_logger(Logger(None, []))
    return model


def as_zip(model: MaskablePPO) -> bytes:
    """The policy as a file of Stable-Baselines3, for whole observations, float32[8, 8, 8].

    The first layers get a weight for everything that is observed, 0 for what is no feature: it acts
    as the learner does. Nothing that is pickled in the file is needed to load it.
    """
    weights = dict(model.policy.state_dict())
    for name in FIRST_LAYERS:
        weights[name] = torch.from_numpy(spread(weights[name].numpy()))
    space = spaces.Box(0, 1, (PLANES, 8, 8), np.float32)
    whole = _model(space, model.policy_kwargs["net_arch"], 1, n_steps=2, batch_size=2)
    whole.policy.load_state_dict(weights)
    file, packed = io.BytesIO(), io.BytesIO()
    whole.save(file)
    with ZipFile(file) as plain, ZipFile(packed, "w", ZIP_DEFLATED) as smaller:
        for name in plain.namelist():
            smaller.writestr(name, plain.read(name))
    return packed.getvalue()


def _model(space: spaces.Box, hidden: list[int], games: int, **options: Any) -> MaskablePPO:
    """A model without an environment: what it needs to know of one is told here."""
    kwargs = {"net_arch": hidden}  # plain numbers, which a file keeps without pickling them
    model = MaskablePPO(
        "MlpPolicy",
        None,
        policy_kwargs=kwargs,
        device="cpu",
        _init_setup_model=False,
        **options,
    )
    model.observation_space, model.action_space = space, spaces.Discrete(ACTIONS)
    model.n_envs = games
    model._setup_model()
    return model
