"""Rollout and update: every action of the learner, on either side, is a sample."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO

from training.rl.actor import sample_actions
from training.rl.config import PPOConfig
from training.rl.game_pool import FinishedGames, GamePool

FINAL_ENTROPY_SHARE = 0.1
TRAIN_METRICS = (
    "train/approx_kl",
    "train/clip_fraction",
    "train/entropy_loss",
    "train/explained_variance",
    "train/learning_rate",
    "train/policy_gradient_loss",
    "train/value_loss",
)


def collect_rollout(
    model: MaskablePPO, games: GamePool, rng: np.random.Generator
) -> list[FinishedGames]:
    """Fill the model's buffer by playing.

    Parameters
    ----------
    model
        Model whose buffer is filled.
    games
        Games in progress.
    rng
        Samples the actions.

    Returns
    -------
    The games that ended in each step.
    """
    buffer: Any = model.rollout_buffer
    buffer.reset()
    starts, finished = np.zeros(games.count, np.bool_), []
    for step in range(model.n_steps):
        features, mask, buffer.signs[step] = games.features, games.mask, games.signs
        logits, values = forward(model, features)
        actions, log_probs = sample_actions(logits.numpy(), mask, rng)
        rewards, over, ended = games.step(actions)
        estimates = values, torch.from_numpy(log_probs)
        buffer.add(features, actions, rewards, starts, *estimates, action_masks=mask)
        starts = over
        finished.append(ended)
    _, values = forward(model, games.features)
    buffer.compute_advantages(values.flatten().numpy(), games.signs, starts)
    return finished


@torch.no_grad()
def forward(model: MaskablePPO, features: NDArray[np.float32]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return logits, float32[n, 128], and values, float32[n, 1], of features, float32[n, 161]."""
    policy: Any = model.policy
    for_actions, for_values = policy.mlp_extractor(torch.from_numpy(features))
    return policy.action_net(for_actions), policy.value_net(for_values)


def update(model: MaskablePPO, config: PPOConfig, progress_remaining: float) -> dict[str, float]:
    """Update the model by its buffer.

    Parameters
    ----------
    model
        The model.
    config
        Options of the run.
    progress_remaining
        Share of the run that is left; learning rate and entropy weight fall with it.

    Returns
    -------
    Metrics of MaskablePPO by name.
    """
    model._current_progress_remaining = progress_remaining
    share = FINAL_ENTROPY_SHARE + (1 - FINAL_ENTROPY_SHARE) * progress_remaining
    model.ent_coef = config.ent_coef * share
    model.train()
    metrics = {name: float(model.logger.name_to_value[name]) for name in TRAIN_METRICS}
    model.logger.dump()
    return metrics
