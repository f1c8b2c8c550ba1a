"""Where a run stands between two generations: all that the next one depends on."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from training.population import Population


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
    playouts: dict[str, Any] = {}  # noqa: RUF012 - never written to


def remembered(rng: np.random.Generator) -> str:
    """The state of a generator as text."""
    return json.dumps(rng.bit_generator.state)


def generator(text: str) -> np.random.Generator:
    """A generator in a remembered state."""
    rng = np.random.default_rng()
    rng.bit_generator.state = json.loads(text)
    return rng
