"""A population of networks with self-adaptive step sizes, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from agents.alphabeta import AlphaBeta
from agents.shapes import evaluator_for


@dataclass(frozen=True)
class Population:
    """Members in order: arrays of numbers, a row a member."""

    genomes: Any  # [members, genome_size]
    steps: Any  # [members, genome_size]: self-adaptive step sizes
    kings: Any  # [members]: K

    @property
    def size(self) -> int:
        """How many members there are."""
        return len(self.genomes)

    def pick(self, members: Any) -> Self:
        """The given members (indices), in that order."""
        return type(self)(self.genomes[members], self.steps[members], self.kings[members])

    def join(self, others: Self) -> Self:
        """These members, then the others."""
        return type(self)(
            np.concatenate([self.genomes, others.genomes]),
            np.concatenate([self.steps, others.steps]),
            np.concatenate([self.kings, others.kings]),
        )

    def put(self, member: int, other: Self) -> Self:
        """These members, one of them replaced by the only member of `other`."""
        made = self.pick(slice(None))
        made = type(self)(made.genomes.copy(), made.steps.copy(), made.kings.copy())
        made.genomes[member], made.steps[member] = other.genomes[0], other.steps[0]
        made.kings[member] = other.kings[0]
        return made


def random_population(
    genome_size: int,
    members: int,
    weight: float,
    step: float,
    king: float,
    rng: np.random.Generator,
) -> Population:
    """Weights uniform in [-weight, weight], and the same step size and K for all."""
    size = (members, genome_size)
    genomes = rng.uniform(-weight, weight, size)
    return Population(genomes, np.full(size, step), np.full(members, king))


def players_of(shape: Any, population: Population, depth: int, own_leaves: bool) -> list[AlphaBeta]:
    """The members as players, their genomes of the given shape (agents.shapes)."""
    return [
        AlphaBeta(evaluator_for(shape, genome, king), depth, own_leaves=own_leaves)
        for genome, king in zip(population.genomes, population.kings, strict=True)
    ]
