"""The policy network without its learner: its features, and actions for many positions at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from checkers_env.observation import PLANES

CLOCK = 5  # plane of the move limit; the planes after it belong to rules that are off here
CELLS = PLANES * 64


def _feature_indices() -> NDArray[np.int64]:
    """Return the indices of the features in a flat observation, int64[161]."""
    dark = np.indices((8, 8)).sum(axis=0) % 2 == 1
    planes = np.zeros((PLANES, 8, 8), np.bool_)
    planes[:CLOCK] = dark
    planes[CLOCK, 0, 1] = True
    return np.flatnonzero(planes)


FEATURE_INDICES = _feature_indices()
NUM_FEATURES = len(FEATURE_INDICES)


def select_features(planes: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the features, float32[n, 161], of observations, float32[n, 8, 8, 8]."""
    return planes.reshape(-1, CELLS)[:, FEATURE_INDICES]


def expand_weights(weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """Expand weights for features, float32[m, 161], to whole observations, float32[m, 512]."""
    whole = np.zeros((len(weights), CELLS), np.float32)
    whole[:, FEATURE_INDICES] = weights
    return whole


class Actor(NamedTuple):
    """Layers of a policy network, with tanh after each but the last."""

    weights: tuple[torch.Tensor, ...]  # float32[out, in]
    biases: tuple[torch.Tensor, ...]  # float32[out]


def copy_actor(policy: Any) -> Actor:
    """Copy the policy network of a ``MlpPolicy`` of sb3-contrib."""
    layers = [*list(policy.mlp_extractor.policy_net)[::2], policy.action_net]
    return Actor(
        tuple(layer.weight.detach().clone() for layer in layers),
        tuple(layer.bias.detach().clone() for layer in layers),
    )


def policy_logits(actor: Actor, features: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the logit of each action, float32[n, 128], for features, float32[n, 161]."""
    hidden = torch.from_numpy(features)
    last = len(actor.weights) - 1
    for layer, (weight, bias) in enumerate(zip(*actor, strict=True)):
        hidden = torch.nn.functional.linear(hidden, weight, bias)
        if layer < last:
            hidden = hidden.tanh_()
    return hidden.numpy()


def greedy_actions(logits: NDArray[np.float32], mask: NDArray[np.int8]) -> NDArray[np.int64]:
    """Return the legal action with the highest logit in each row, int64[n]."""
    return np.where(mask != 0, logits, -np.inf).argmax(axis=1)


def sample_actions(
    logits: NDArray[np.float32], mask: NDArray[np.int8], rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Sample a legal action for each row, int64[n], and its log probability, float32[n]."""
    legal = np.where(mask != 0, logits, np.float32(-np.inf))
    legal -= legal.max(axis=1, keepdims=True)
    sums = np.exp(legal).cumsum(axis=1)
    total = sums[:, -1:]
    # The threshold is above 0, so that the first sum to reach it is that of a possible action.
    actions = (sums >= (1 - rng.random((len(sums), 1))) * total).argmax(axis=1)
    rows = np.arange(len(sums))
    return actions, legal[rows, actions] - np.log(total[:, 0])
