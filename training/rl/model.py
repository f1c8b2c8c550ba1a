"""MaskablePPO models: one that learns from features, and its policy as a file for any program."""

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
from training.rl.config import PPOConfig
from training.rl.features import NUM_FEATURES, expand_weights

FIRST_LAYERS = ("mlp_extractor.policy_net.0.weight", "mlp_extractor.value_net.0.weight")


def new_model(config: PPOConfig, rng: np.random.Generator) -> MaskablePPO:
    """Return an untrained model; `rng` orders the samples of its updates."""
    model = _build_model(
        spaces.Box(0, 1, (NUM_FEATURES,), np.float32),
        list(config.hidden_sizes),
        config.num_envs,
        learning_rate=lambda progress_remaining: config.learning_rate * progress_remaining,
        n_steps=config.num_steps,
        batch_size=config.minibatch_size,
        n_epochs=config.update_epochs,
        gamma=config.gamma,
        gae_lambda=config.gae_lambda,
        clip_range=config.clip_coef,
        rollout_buffer_class=ZeroSumBuffer,
        rollout_buffer_kwargs={"rng": rng},
        seed=config.seed,
    )
    model.set_logger(Logger(None, []))
    return model


def model_to_zip(model: MaskablePPO) -> bytes:
    """Return the policy as a file of Stable-Baselines3 for whole observations, float32[8, 8, 8].

    The first layers get weights of 0 for inputs that are no feature, so that the policy acts as the
    learner does. The file loads without reading the pickles in it.
    """
    weights = dict(model.policy.state_dict())
    for name in FIRST_LAYERS:
        weights[name] = torch.from_numpy(expand_weights(weights[name].numpy()))
    space = spaces.Box(0, 1, (PLANES, 8, 8), np.float32)
    whole = _build_model(space, model.policy_kwargs["net_arch"], 1, n_steps=2, batch_size=2)
    whole.policy.load_state_dict(weights)
    file, packed = io.BytesIO(), io.BytesIO()
    whole.save(file)
    with ZipFile(file) as plain, ZipFile(packed, "w", ZIP_DEFLATED) as smaller:
        for name in plain.namelist():
            smaller.writestr(name, plain.read(name))
    return packed.getvalue()


def _build_model(
    space: spaces.Box, hidden_sizes: list[int], num_envs: int, **options: Any
) -> MaskablePPO:
    """Return a model without an environment: spaces and number of games are set here."""
    kwargs = {"net_arch": hidden_sizes}  # plain numbers, which a file keeps without pickling them
    model = MaskablePPO(
        "MlpPolicy",
        None,
        policy_kwargs=kwargs,
        device="cpu",
        _init_setup_model=False,
        **options,
    )
    model.observation_space, model.action_space = space, spaces.Discrete(ACTIONS)
    model.n_envs = num_envs
    model._setup_model()
    return model
