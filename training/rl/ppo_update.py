"""Learning by PPO from games in which every action of the learner, on either side, is a sample."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO

from training.rl.actor import drawn
from training.rl.config import Learning
from training.rl.game_pool import Ended, Games

LAST_ENTROPY = 0.1  # of the weight at the start
MEASURED = (
    "train/approx_kl",
    "train/clip_fraction",
    "train/entropy_loss",
    "train/explained_variance",
    "train/learning_rate",
    "train/policy_gradient_loss",
    "train/value_loss",
)


def roll_out(model: MaskablePPO, games: Games, rng: np.random.Generator) -> list[Ended]:
    """Fill the buffer of the model with what it does in the games; return those that ended."""
    buffer: Any = model.rollout_buffer
    buffer.reset()
    starts, ended = np.zeros(games.count, np.bool_), []
    for step in range(model.n_steps):
        seen, mask, buffer.views[step] = games.seen, games.mask, games.views
        logits, values = thoughts(model, seen)
        actions, logs = drawn(logits.numpy(), mask, rng)
        rewards, over, done = games.step(actions)
        known = values, torch.from_numpy(logs)
        buffer.add(seen, actions, rewards, starts, *known, action_masks=mask)
        starts = over
        ended.append(done)
    _, values = thoughts(model, games.seen)
    buffer.finish(values.flatten().numpy(), games.views, starts)
    return ended


@torch.no_grad()
def thoughts(model: MaskablePPO, seen: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits, float32[n, 128], and values, float32[n, 1], of features, float32[n, 161]."""
    policy: Any = model.policy
    for_actions, for_values = policy.mlp_extractor(torch.from_numpy(seen))
    return policy.action_net(for_actions), policy.value_net(for_values)


def update(model: MaskablePPO, learning: Learning, left: float) -> dict[str, float]:
    """Learn from the buffer; return what MaskablePPO measures.

    `left` is the share of the run that is still to come, by which rates fall.
    """
    model._current_progress_remaining = left
    model.ent_coef = learning.entropy * (LAST_ENTROPY + (1 - LAST_ENTROPY) * left)
    model.train()
    measured = {name: float(model.logger.name_to_value[name]) for name in MEASURED}
    model.logger.dump()
    return measured
