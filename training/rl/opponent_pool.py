"""The policies that a learner once had, and which of them it is to meet again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from training.rl.actor import Actor

UNKNOWN = 0.5  # the score against a policy that was not met yet
MEMORY = 0.99  # what a game leaves of what was known before it
LEAST = 0.01  # the weight of a policy that is always beaten, where one never beaten has 1


@dataclass
class Pool:
    """Former policies, in the order of their age, and the learner's recent score against each."""

    actors: list[Actor] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)

    def keep(self, actor: Actor) -> None:
        """Add a policy."""
        self.actors.append(actor)
        self.scores.append(UNKNOWN)

    def note(self, index: int, rewards: Any) -> None:
        """Remember the learner's rewards, of -1, 0 and 1, in some games with a policy."""
        weight = MEMORY ** len(rewards)
        if len(rewards):
            mean = (float(np.mean(rewards)) + 1) / 2
            self.scores[index] = weight * self.scores[index] + (1 - weight) * mean

    def draw(self, count: int, rng: np.random.Generator) -> list[int]:
        """Policies to meet next, with chances as :func:`chances` has them."""
        if not self.actors:
            return []
        return rng.choice(len(self.actors), size=count, p=chances(self.scores)).tolist()


def chances(scores: list[float]) -> Any:
    """How likely each policy is to be met: the better it does, the more.

    The weight (1 - score)^2 is that of prioritised fictitious self-play (Vinyals et al., Nature
    575, 2019); none is quite forgotten.
    """
    weights = np.maximum((1 - np.array(scores)) ** 2, LEAST)
    return weights / weights.sum()
