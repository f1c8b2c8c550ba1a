"""State of a run between two generations, and populations of genomes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

Arrays = Mapping[str, NDArray[Any]]
Indices = slice | Sequence[int] | NDArray[np.int64]


@dataclass(frozen=True)
class Population:
    """Genomes with their step sizes and kings, a row a member.

    Attributes
    ----------
    genomes
        Weights, shape (members, genome_size).
    steps
        Self-adaptive step size of each weight, shape (members, genome_size).
    kings
        K, the worth of a king, shape (members,).
    """

    genomes: NDArray[np.float64]
    steps: NDArray[np.float64]
    kings: NDArray[np.float64]

    @classmethod
    def from_arrays(cls, arrays: Arrays, prefix: str = "") -> Self:
        """Read the arrays that :meth:`to_arrays` has written under a prefix."""
        return cls(*(arrays[prefix + name] for name in ("genomes", "steps", "kings")))

    def to_arrays(self, prefix: str = "") -> dict[str, NDArray[Any]]:
        """Return the arrays by name, for a :class:`State`."""
        return {prefix + name: array for name, array in vars(self).items()}

    @property
    def size(self) -> int:
        """Number of members."""
        return len(self.genomes)

    def pick(self, members: Indices) -> Self:
        """Return the members of these indices, in that order."""
        return type(self)(self.genomes[members], self.steps[members], self.kings[members])

    def join(self, others: Self) -> Self:
        """Return these members followed by the others."""
        return type(self)(
            np.concatenate([self.genomes, others.genomes]),
            np.concatenate([self.steps, others.steps]),
            np.concatenate([self.kings, others.kings]),
        )

    def put(self, member: int, other: Self) -> Self:
        """Return these members with one of them replaced by the only member of `other`."""
        copy = type(self)(self.genomes.copy(), self.steps.copy(), self.kings.copy())
        copy.genomes[member], copy.steps[member] = other.genomes[0], other.steps[0]
        copy.kings[member] = other.kings[0]
        return copy


@dataclass(frozen=True)
class State:
    """Everything that the next generation depends on.

    Attributes
    ----------
    generation
        Generations so far.
    rng
        State of the random generator, as JSON.
    arrays
        The regime's own arrays by name. Regimes that evolve a population keep it and its scores
        here (:attr:`population`, :attr:`scores`), best first.
    """

    generation: int
    rng: str
    arrays: Arrays

    def validate(self) -> None:
        """Raise an error for a wrong generation, or a generator that cannot be restored."""
        if type(self.generation) is not int or self.generation < 0:
            raise ValueError(f"its generation is {self.generation!r}, not a number from 0")
        rng_from_json(self.rng)

    @property
    def population(self) -> Population:
        """Members, best first."""
        return Population.from_arrays(self.arrays)

    @property
    def scores(self) -> NDArray[np.float64]:
        """Score of each member in the last tournament, shape (members,); 0 for new members."""
        return self.arrays["scores"]


class ChampionWeights(NamedTuple):
    """Content of a weight file.

    Attributes
    ----------
    architecture
        Name of the network or table (:mod:`agents.architectures`).
    genome
        Weights as :mod:`agents.weights` saves them, one-dimensional.
    king
        K, the worth of a king.
    options
        Options of the architecture.
    mcts_options
        Options of Monte Carlo tree search, if the champion plays by it.
    search_options
        Options of its alpha-beta search that are not the defaults.
    score
        Score in the last tournament; 0 without one.
    """

    architecture: str
    genome: NDArray[Any]
    king: float
    options: dict[str, Any] = {}  # noqa: RUF012 - never written to
    mcts_options: dict[str, Any] = {}  # noqa: RUF012 - never written to
    search_options: dict[str, Any] = {}  # noqa: RUF012 - never written to
    score: float = 0.0


def rng_to_json(rng: np.random.Generator) -> str:
    """Return the state of a generator as JSON."""
    return json.dumps(rng.bit_generator.state)


def rng_from_json(text: str) -> np.random.Generator:
    """Return a generator in the state that :func:`rng_to_json` has saved."""
    rng = np.random.default_rng()
    rng.bit_generator.state = json.loads(text)
    return rng
