"""Where a run stands between two generations: all that the next one depends on."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np

from agents.architectures import evaluator_for
from agents.search.player import AlphaBeta


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


def make_players(
    shape: Any, population: Population, depth: int, own_leaves: bool
) -> list[AlphaBeta]:
    """The members as players, their genomes of the given shape (agents.architectures)."""
    return [
        AlphaBeta(evaluator_for(shape, genome, king), depth, own_leaves=own_leaves)
        for genome, king in zip(population.genomes, population.kings, strict=True)
    ]


@dataclass(frozen=True)
class State:
    """The members, best first, and the state of the generator that everything is drawn from."""

    generation: int
    population: Population
    scores: Any  # float64[members]: what each scored in the last tournament; 0 for new ones
    rng: str  # JSON
    extra: dict[str, Any] = field(default_factory=dict)  # arrays of the regime's own


class Champion(NamedTuple):
    """What a weight file is made of."""

    architecture: str
    genome: Any  # vector, as agents.weights keeps it
    king: float
    options: dict[str, Any] = {}  # noqa: RUF012 - never written to
    mcts_options: dict[str, Any] = {}  # noqa: RUF012 - never written to


def rng_to_json(rng: np.random.Generator) -> str:
    """The state of a generator as text."""
    return json.dumps(rng.bit_generator.state)


def rng_from_json(text: str) -> np.random.Generator:
    """A generator in a remembered state."""
    rng = np.random.default_rng()
    rng.bit_generator.state = json.loads(text)
    return rng
