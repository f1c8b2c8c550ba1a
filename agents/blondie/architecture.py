"""Layouts of the 1999 and 2001 networks and their relatives; genomes, and the forward pass.

A genome is one float64 vector: for each layer and each node the weights, then the bias; at the end
the weight of the piece difference. K, the king's worth, is a parameter beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agents.blondie.network import MOST_MORE, Network
from agents.evaluator import MAX_LAYER_WIDTH
from agents.geometry import rectangles
from agents.piece_sums import OWN_MAN, THEIR_MAN
from agents.simd import LANES, WIDTHS, aligned_zeros
from checkers_env.movegen import SQUARES

FIXED_POINT_BITS = 22
SUM_ERROR = 1e-5  # of the sum at the output, relative to its largest terms: rounding in float32
VALUE_ERROR = 2e-6  # of the kernels' tanh
LOOSEST = 2.5  # reach of the output's nodes in men, from which on bounds cost more than they save

Layer = tuple[NDArray[np.floating], NDArray[np.floating]]
"""Weights, shape (nodes, inputs), and biases, shape (nodes,)."""


class NetworkLayout(NamedTuple):
    """Connections and activation of a network."""

    name: str  # the architecture's name in weight files
    # bool, shape (nodes, 32): the receptive field of each first-layer node; `fields[n, s]` connects
    # node n to square s + 1.
    fields: NDArray[np.bool_]
    hidden: tuple[int, ...]  # widths of the following layers, the output (1) included
    # The fields are inputs, not nodes: the sums of the pieces on their squares.
    subsquare_inputs: bool = False
    # Black's pieces are always positive, and White's value is the negative of Black's.
    black_perspective: bool = False
    slope: float = 1.0  # the activation is tanh(slope * x); 1/2 makes it 2 / (1 + e^-x) - 1
    # Divide the sum at the output by its maximum, so that tanh tells large values apart. The order
    # of positions does not change.
    unsaturated: bool = False
    # tanh is that of float64, rounded to float32. Otherwise it is float32's own, which is not
    # monotone in its last bits and nowhere quite 1.
    exact: bool = False

    @property
    def weight_count(self) -> int:
        """Weights and biases without the weight of the piece difference (N_w of the papers)."""
        count, inputs = int(self.fields.sum()) + len(self.fields), len(self.fields)
        if self.subsquare_inputs:
            count = 0
        for width in self.hidden:
            count, inputs = count + (inputs + 1) * width, width
        return count

    @property
    def genome_size(self) -> int:
        """Length of a genome: weights, biases and the weight of the piece difference."""
        return self.weight_count + 1


def _subsquares() -> NDArray[np.bool_]:
    """Return the 91 sub-squares of 3x3 to 8x8 (2001, section II), shape (91, 32)."""
    squares = [inside for size in range(3, 9) for inside in rectangles(size, size)]
    return np.array([np.isin(np.arange(1, 33), inside) for inside in squares])


BLONDIE_1999 = NetworkLayout("blondie24-1999", np.ones((40, 32), bool), (10, 1))
BLONDIE_2001 = NetworkLayout("blondie24-2001", _subsquares(), (40, 10, 1))
UNSATURATED_2001 = BLONDIE_2001._replace(name="blondie24-2001-unsaturated", unsaturated=True)
_EXACT = [it._replace(name=f"{it.name}-exact", exact=True) for it in (BLONDIE_1999, BLONDIE_2001)]
NGUYEN = NetworkLayout(
    "nguyen-91", _subsquares(), (40, 10, 1), subsquare_inputs=True, black_perspective=True
)
NGUYEN_LOGISTIC = NGUYEN._replace(name="nguyen-91-logistic", slope=0.5)
_LAYOUTS = (BLONDIE_1999, BLONDIE_2001, UNSATURATED_2001, *_EXACT, NGUYEN, NGUYEN_LOGISTIC)
NETWORK_LAYOUTS = {layout.name: layout for layout in _LAYOUTS}


def layers(layout: NetworkLayout, genome: NDArray[np.float64]) -> list[Layer]:
    """Return the layers of a genome for nodes of tanh(x), all multiplied by the slope.

    With ``layout.subsquare_inputs`` the first layer already combines the sums of sub-squares with
    the next layer's weights.
    """
    parts: list[Layer] = []
    genome, at = layout.slope * genome, 0
    first, bias = np.zeros(layout.fields.shape), np.zeros(len(layout.fields))
    if not layout.subsquare_inputs:  # node by node, the weights and then the bias
        ends = np.cumsum(layout.fields.sum(axis=1) + 1)
        at = int(ends[-1])
        first[layout.fields] = np.delete(genome[:at], ends - 1)
        bias = genome[ends - 1]
    parts.append((first, bias))
    inputs = len(first)
    for width in layout.hidden:
        rows = genome[at : at + width * (inputs + 1)].reshape(width, inputs + 1)
        parts.append((rows[:, :-1], rows[:, -1]))
        at, inputs = at + width * (inputs + 1), width
    if layout.subsquare_inputs:
        weights, biases = parts[1]
        parts[:2] = [(weights @ layout.fields, biases)]
    return parts


def scaled_layers(
    layout: NetworkLayout, genome: ArrayLike, king: float
) -> tuple[list[Layer], float]:
    """Return the layers of a genome and the weight of the piece difference.

    An unsaturated layout scales the output to stay within +-1.
    """
    genome = np.asarray(genome, np.float64)
    parts, difference = layers(layout, genome), float(layout.slope * genome[-1])
    if layout.unsaturated:
        weights, biases = parts.pop()
        most = np.abs(weights).sum() + np.abs(biases).sum()
        most += abs(difference) * MOST_MORE * max(king, 1.0)
        most = most or 1.0
        parts.append((weights / most, biases / most))
        difference /= most
    return parts, difference


def forward(layers: Sequence[Layer], inputs: NDArray[np.floating]) -> list[NDArray[np.floating]]:
    """Compute the weighted sums of all nodes, layer by layer; activations are their tanh.

    `inputs` has the shape (inputs,) for one position or (positions, inputs) for several; the result
    has an array of such a shape for each layer.
    """
    sums: list[NDArray[np.floating]] = []
    for weights, biases in layers:
        sums.append(inputs @ weights.T + biases)
        inputs = np.tanh(sums[-1])
    return sums


def decode(layout: NetworkLayout, genome: ArrayLike, king: float) -> Network:
    """Prepare a genome for the kernels; raise ValueError for layers that are too wide for them."""
    ((first, bias), *dense), difference = scaled_layers(layout, genome, king)
    width = -(-len(first) // LANES) * LANES
    if width > MAX_LAYER_WIDTH or max(layout.hidden) > max(WIDTHS):
        raise ValueError(
            f"layers of {len(first)} and {layout.hidden} nodes: at most {MAX_LAYER_WIDTH} in the "
            f"first, and {max(WIDTHS)} in the others"
        )
    scale = _fixed_point_scale(first, bias, king)
    features, offsets = aligned_zeros((35, 5, width), np.int32), aligned_zeros((width,), np.int32)
    for kind, worth in enumerate((1.0, king)):
        features[SQUARES, OWN_MAN + kind, : len(first)] = np.rint(first.T * (worth * scale))
        features[SQUARES, THEIR_MAN + kind] = -features[SQUARES, OWN_MAN + kind]
    offsets[: len(first)] = np.rint(bias * scale)
    widths, blocks = [width], []
    padded = [min(it for it in WIDTHS if it >= len(biases)) for _, biases in dense[:-1]]
    for (weights, biases), nodes in zip(dense, [*padded, 1], strict=True):
        block = np.zeros((widths[-1] + 1, nodes), np.float32)
        block[0, : len(biases)] = biases
        block[1 : weights.shape[1] + 1, : len(biases)] = weights.T
        widths.append(block.shape[1])
        blocks.append(block.ravel())
    flat = aligned_zeros((LANES + sum(map(len, blocks)),), np.float32)
    flat[LANES:] = np.concatenate(blocks)
    return Network(
        features,
        offsets,
        np.float32(1 / scale),
        flat,
        np.array(widths),
        np.float32(difference),
        np.float32(king),
        int(layout.black_perspective),
        layout.exact,
    )


def with_bounds(network: Any) -> Any:
    """Return a network with bounds of its value for each piece difference.

    A full-width search then leaves out evaluations that cannot matter. It visits a few more
    positions; its moves are the same. No side may have more than 12 pieces. Other evaluators are
    returned as they are, and networks whose piece difference has so little weight that bounds would
    rarely help.
    """
    if not isinstance(network, Network):
        return network
    weights, biases = dense_layers(network)[-1]
    bias, reach = float(biases[0]), float(np.abs(weights[0]).sum(dtype=np.float64))
    difference = float(network.difference)
    if network.bounds or not reach <= LOOSEST * abs(difference):
        return network
    more = np.arange(-MOST_MORE, MOST_MORE + 1)
    centre = bias + difference * (more[:, None] + float(network.king) * more)
    slack = reach + SUM_ERROR * (abs(bias) + reach + np.abs(centre))
    low, high = np.tanh(centre - slack) - VALUE_ERROR, np.tanh(centre + slack) + VALUE_ERROR
    bounds, at = np.stack((low, high), axis=-1).ravel(), len(network.weights)
    flat = aligned_zeros((at + len(bounds),), np.float32)
    flat[:at], flat[at:] = network.weights, bounds
    return network._replace(weights=flat, bounds=at)


def dense_layers(network: Network) -> list[Layer]:
    """Return the layers behind the first one of a prepared network, padded with zeros."""
    parts, at = [], LANES
    for inputs, nodes in pairwise(network.widths):
        block = network.weights[at : at + (inputs + 1) * nodes].reshape(-1, nodes)
        parts.append((block[1:].T, block[0]))
        at += block.size
    return parts


def _fixed_point_scale(
    first: NDArray[np.floating], bias: NDArray[np.floating], king: float
) -> float:
    """Return the power of two, 2^22 at most, with which a sum of 24 pieces fits int32."""
    largest = np.sort(np.abs(first), axis=1)[:, -24:].sum(axis=1) * max(king, 1.0) + np.abs(bias)
    headroom = 30 - int(np.ceil(np.log2(max(largest.max(), 1e-9))))
    return float(2.0 ** min(FIXED_POINT_BITS, headroom))
