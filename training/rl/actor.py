"""A policy network without its learner: actions for many positions at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray


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
    """Sample a legal action for each row.

    Parameters
    ----------
    logits
        float32[n, actions].
    mask
        int8[n, actions], 0 for illegal actions; each row has a legal one.
    rng
        Source of randomness.

    Returns
    -------
    The actions, int64[n], and the logarithms of their probabilities, float32[n].
    """
    legal = np.where(mask != 0, logits, np.float32(-np.inf))
    legal -= legal.max(axis=1, keepdims=True)
    sums = np.exp(legal).cumsum(axis=1)
    total = sums[:, -1:]
    # The threshold is above 0, so that the first sum to reach it is that of a possible action.
    actions = (sums >= (1 - rng.random((len(sums), 1))) * total).argmax(axis=1)
    rows = np.arange(len(sums))
    return actions, legal[rows, actions] - np.log(total[:, 0])
