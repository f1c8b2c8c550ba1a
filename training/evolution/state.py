"""State of a run between two generations, and populations of genomes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from agents.weights import WeightsMetadata

Arrays = Mapping[str, NDArray[Any]]
Indices = slice | Sequence[int] | NDArray[np.int64]


@dataclass(frozen=True)
class Population:
    """Genomes with their step sizes and kings: arrays with a row a member."""

    genomes: NDArray[np.float64]  # weights, shape (members, genome_size)
    steps: NDArray[np.float64]  # self-adaptive step size of each weight, shape of the genomes
    kings: NDArray[np.float64]  # K, the worth of a king, shape (members,)

    @classmethod
    def from_arrays(cls, arrays: Arrays, prefix: str = "") -> Self:
        """Read the arrays that :meth:`to_arrays` has written under a prefix."""
        return cls(*(arrays[prefix + field.name] for field in fields(cls)))

    def to_arrays(self, prefix: str = "") -> dict[str, NDArray[Any]]:
        """Return the arrays by name, for a :class:`State`."""
        return {prefix + name: array for name, array in vars(self).items()}

    @property
    def size(self) -> int:
        """Number of members."""
        return len(self.genomes)

    def pick(self, members: Indices) -> Self:
        """Return the members of these indices, in that order."""
        return type(self)(*(array[members] for array in vars(self).values()))

    def join(self, others: Self) -> Self:
        """Return these members followed by the others."""
        pairs = zip(vars(self).values(), vars(others).values(), strict=True)
        return type(self)(*map(np.concatenate, pairs))

    def put(self, member: int, other: Population) -> Self:
        """Return these members with one of them replaced by the only member of `other`."""
        copy = type(self)(*(array.copy() for array in vars(self).values()))
        for name, array in vars(copy).items():
            array[member] = getattr(other, name)[0]
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


class Champion(NamedTuple):
    """Weights of a player, one-dimensional, and the header of their file."""

    genome: NDArray[Any]
    metadata: WeightsMetadata


def rng_to_json(rng: np.random.Generator) -> str:
    """Return the state of a generator as JSON."""
    return json.dumps(rng.bit_generator.state)


def rng_from_json(text: str) -> np.random.Generator:
    """Return a generator in the state that :func:`rng_to_json` has saved."""
    rng = np.random.default_rng()
    rng.bit_generator.state = json.loads(text)
    return rng
