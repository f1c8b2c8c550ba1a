"""Past policies of a learner, sampled by prioritised fictitious self-play."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from training.rl.actor import Actor

INITIAL_SCORE = 0.5  # against a policy that was not met yet
DECAY = 0.99  # factor a game of older results in the score
MIN_WEIGHT = 0.01  # weight of a policy that loses all games; one that wins all has 1


@dataclass
class OpponentPool:
    """Past policies from the oldest on, and the learner's recent score against each."""

    actors: list[Actor] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)

    def add(self, actor: Actor) -> None:
        """Add a policy."""
        self.actors.append(actor)
        self.scores.append(INITIAL_SCORE)

    def update_score(self, index: int, rewards: NDArray[np.float64]) -> None:
        """Update the score against a policy by the learner's rewards (-1, 0 or 1), float64[n]."""
        weight = DECAY ** len(rewards)
        if len(rewards):
            mean = (float(np.mean(rewards)) + 1) / 2
            self.scores[index] = weight * self.scores[index] + (1 - weight) * mean

    def sample(self, count: int, rng: np.random.Generator) -> list[int]:
        """Sample the indices of policies to meet next; none where the pool is empty."""
        if not self.actors:
            return []
        chances = pfsp_probabilities(self.scores)
        return rng.choice(len(self.actors), size=count, p=chances).tolist()


def pfsp_probabilities(scores: list[float]) -> NDArray[np.float64]:
    """Return the probability of meeting each policy, given the learner's scores against them.

    Strong policies are met more often: the weight is (1 - score)^2, as in prioritised fictitious
    self-play (Vinyals et al., Nature 575, 2019). No weight is below ``MIN_WEIGHT``.
    """
    weights = np.maximum((1 - np.array(scores)) ** 2, MIN_WEIGHT)
    return weights / weights.sum()
