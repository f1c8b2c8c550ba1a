"""A weight file as a searching player."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from agents.alphabeta import AlphaBeta
from agents.blondie.genome import ARCHITECTURES, decode
from agents.weights import load_weights

LARGEST_WEIGHT = 1e6  # far beyond what evolution reaches, and within what float32 can add up


def load_player(path: Path | str, depth: int | None = None) -> AlphaBeta:
    """The player of a weight file, at its training depth unless another is given.

    Raises ValueError for a file that cannot be read, or whose genome does not fit its network.
    """
    genome, provenance = load_weights(path)
    shape = ARCHITECTURES.get(provenance.architecture)
    if shape is None:
        known = ", ".join(ARCHITECTURES)
        raise ValueError(f"{str(path)!r} is for {provenance.architecture!r}; known are {known}")
    if genome.shape != (shape.genome_size,):
        raise ValueError(
            f"{str(path)!r} holds {genome.shape} weights; {shape.name} has {shape.genome_size}"
        )
    if not np.all(np.abs(genome) <= LARGEST_WEIGHT):
        raise ValueError(f"{str(path)!r} has weights that are no numbers, or too large to use")
    network = decode(shape, genome, provenance.king)
    return AlphaBeta(network, depth or provenance.depth, own_leaves=provenance.own_leaves)
