"""The crossover of T. P. Nguyen's "A neuroevolutionary approach to draughts", section III.C.4."""

from __future__ import annotations

from typing import Any

import numpy as np

from agents.blondie.architecture import Architecture


def crossover(
    shape: Architecture,
    first: Any,
    second: Any,
    lead: float,
    dominant: float,
    rng: np.random.Generator,
) -> list[Any]:
    """Two reciprocal children: dominant weights into one hidden node change places.

    Parameters
    ----------
    first, second
        Genomes, float64[genome_size].
    lead
        By how many points the first leads the second. Who has more is the dominant parent: its
        weights say which are exchanged. At 0 chance decides.
    dominant
        Weights and a bias beyond this, of either sign, are dominant.
    """
    leader = first if lead > 0 or (lead == 0 and rng.random() < 0.5) else second
    nodes = node_weights(shape)
    weights = nodes[int(rng.integers(len(nodes) - 1))]  # the last is the output node
    swapped = weights[np.abs(leader[weights]) > dominant]
    one, other = first.copy(), second.copy()
    one[swapped], other[swapped] = second[swapped], first[swapped]
    return [one, other]


def node_weights(shape: Architecture) -> list[Any]:
    """Where in a genome the weights and the bias of each node stand, hidden nodes first.

    For networks over sums (Architecture.sums), in which every node sees all of the layer before.
    """
    nodes, at, inputs = [], 0, len(shape.fields)
    for width in shape.hidden:
        for _ in range(width):
            nodes.append(np.arange(at, at + inputs + 1))
            at += inputs + 1
        inputs = width
    return nodes
