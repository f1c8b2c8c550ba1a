"""A policy network apart from its learner: what chooses actions, for many positions at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch


class Actor(NamedTuple):
    """The layers of a policy network: tanh after each but the last."""

    weights: tuple[torch.Tensor, ...]  # float32[out, in]
    biases: tuple[torch.Tensor, ...]  # float32[out]


def actor_of(policy: Any) -> Actor:
    """A copy of the policy network in a policy of sb3-contrib ("MlpPolicy")."""
    layers = [*list(policy.mlp_extractor.policy_net)[::2], policy.action_net]
    return Actor(
        tuple(layer.weight.detach().clone() for layer in layers),
        tuple(layer.bias.detach().clone() for layer in layers),
    )


def logits(actor: Actor, seen: Any) -> Any:
    """What the actor thinks of each action: float32[n, 128] for features, float32[n, 161]."""
    here = torch.from_numpy(seen)
    last = len(actor.weights) - 1
    for depth, (weight, bias) in enumerate(zip(*actor, strict=True)):
        here = torch.nn.functional.linear(here, weight, bias)
        if depth < last:
            here = here.tanh_()
    return here.numpy()


def best(scores: Any, mask: Any) -> Any:
    """The legal action with the highest score in each row: int64[n]."""
    return np.where(mask != 0, scores, -np.inf).argmax(axis=1)


def drawn(scores: Any, mask: Any, rng: np.random.Generator) -> tuple[Any, Any]:
    """A legal action for each row, int64[n], by its chances; and their logarithms, float32[n]."""
    legal = np.where(mask != 0, scores, np.float32(-np.inf))
    legal -= legal.max(axis=1, keepdims=True)
    sums = np.exp(legal).cumsum(axis=1)
    total = sums[:, -1:]
    # In (0, total]: the first sum to reach it is that of an action with a chance above 0.
    actions = (sums >= (1 - rng.random((len(sums), 1))) * total).argmax(axis=1)
    rows = np.arange(len(sums))
    return actions, legal[rows, actions] - np.log(total[:, 0])
