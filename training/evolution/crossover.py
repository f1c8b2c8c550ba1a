"""Crossover of T. P. Nguyen's "A neuroevolutionary approach to draughts", section III.C.4."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agents.blondie.architecture import NetworkLayout


def crossover(
    layout: NetworkLayout,
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    lead: float,
    dominant: float,
    rng: np.random.Generator,
) -> list[NDArray[np.float64]]:
    """Swap the dominant weights into one random hidden node; return two reciprocal children.

    Genomes have shape (genome_size,). `lead` is the points of the first parent beyond the second's.
    The leader's weights decide which are swapped; at 0 the leader is random. Weights and a bias
    beyond `dominant`, of either sign, are dominant.
    """
    leader = first if lead > 0 or (lead == 0 and rng.random() < 0.5) else second
    nodes = node_weights(layout)
    weights = nodes[int(rng.integers(len(nodes) - 1))]  # the last is the output node
    swapped = weights[np.abs(leader[weights]) > dominant]
    child, reciprocal = first.copy(), second.copy()
    child[swapped], reciprocal[swapped] = second[swapped], first[swapped]
    return [child, reciprocal]


def node_weights(layout: NetworkLayout) -> list[NDArray[np.int64]]:
    """Return the genome's indices of the weights and the bias of each node, hidden nodes first.

    Every node must see all of the layer before, with ``layout.subsquare_inputs`` too.
    """
    nodes, start, inputs = [], 0, len(layout.fields)
    for width in layout.hidden:
        for _ in range(width):
            nodes.append(np.arange(start, start + inputs + 1))
            start += inputs + 1
        inputs = width
    return nodes
