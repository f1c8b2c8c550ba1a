"""The networks of 1999 and 2001 as genomes: which weights there are, and in which order.

A genome is one float64 vector: for each layer, for each node, its weights and then its bias; and
at the end the weight of the piece difference. K, the king's worth, is a parameter beside it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from agents.blondie.network import Network
from agents.evaluator import SCRATCH_WIDTH
from agents.geometry import rectangles
from agents.simd import LANES, WIDTHS, aligned
from checkers_env.movegen import SQUARES

FIXED_POINT_BITS = 22
PIECES = 12  # of a side, at most


class Architecture(NamedTuple):
    """A network's shape.

    ``fields[n, s]`` says whether node n of the first layer is connected to square s + 1;
    ``hidden`` are the widths of the layers behind it, the output (1) included. With ``sums`` the
    fields are no nodes but inputs: the sums of the pieces on their squares. With ``by_colour``
    Black's pieces are positive, whoever evaluates, and White's value is the negative of Black's.
    The activation of every node is tanh(`slope` x): with 1/2 that is 2 / (1 + e^-x) - 1.
    With ``unsaturated`` the sum at the output is divided by the most that it can be, so that its
    tanh tells large values apart; the order of positions is that of the sums, as it is without.
    """

    name: str
    fields: Any  # bool[nodes, 32]
    hidden: tuple[int, ...]
    sums: bool = False
    by_colour: bool = False
    slope: float = 1.0
    unsaturated: bool = False

    @property
    def weight_count(self) -> int:
        """Weights and biases, without the weight of the piece difference (N_w of the papers)."""
        count, inputs = int(self.fields.sum()) + len(self.fields), len(self.fields)
        if self.sums:
            count = 0
        for width in self.hidden:
            count, inputs = count + (inputs + 1) * width, width
        return count

    @property
    def difference(self) -> float | None:
        """What the weight of the piece difference is fixed at; None where it is evolved."""
        return 0.0 if self.sums else None

    @property
    def genome_size(self) -> int:
        """Length of a genome: the weights, the biases and the weight of the piece difference."""
        return self.weight_count + 1


def _subsquares() -> Any:
    """The playable squares in each of the 91 sub-squares of 3x3 to 8x8 (2001, section II)."""
    squares = [inside for size in range(3, 9) for inside in rectangles(size, size)]
    return np.array([np.isin(np.arange(1, 33), inside) for inside in squares])


BLONDIE_1999 = Architecture("blondie24-1999", np.ones((40, 32), bool), (10, 1))
BLONDIE_2001 = Architecture("blondie24-2001", _subsquares(), (40, 10, 1))
UNSATURATED_2001 = BLONDIE_2001._replace(name="blondie24-2001-unsaturated", unsaturated=True)
NGUYEN = Architecture("nguyen-91", _subsquares(), (40, 10, 1), sums=True, by_colour=True)
NGUYEN_LOGISTIC = NGUYEN._replace(name="nguyen-91-logistic", slope=0.5)
ARCHITECTURES = {
    shape.name: shape
    for shape in (BLONDIE_1999, BLONDIE_2001, UNSATURATED_2001, NGUYEN, NGUYEN_LOGISTIC)
}


def layers(shape: Architecture, genome: Any) -> list[tuple[Any, Any]]:
    """The genome as (weights[nodes, inputs], biases[nodes]) of each layer, float64.

    They are for nodes of tanh(x): all of them are multiplied by the architecture's slope.
    """
    genome, parts, at = shape.slope * genome, [], 0
    first, bias = np.zeros(shape.fields.shape), np.zeros(len(shape.fields))
    for node, field in enumerate(() if shape.sums else shape.fields):
        count = int(field.sum())
        first[node, field] = genome[at : at + count]
        bias[node] = genome[at + count]
        at += count + 1
    parts.append((first, bias))
    inputs = len(first)
    for width in shape.hidden:
        rows = genome[at : at + width * (inputs + 1)].reshape(width, inputs + 1)
        parts.append((rows[:, :-1], rows[:, -1]))
        at, inputs = at + width * (inputs + 1), width
    if shape.sums:  # a weighted sum of sums of squares is a weighted sum of squares
        weights, biases = parts[1]
        parts[:2] = [(weights @ shape.fields, biases)]
    return parts


def decode(shape: Architecture, genome: Any, king: float) -> Network:
    """Prepare a genome (float64[genome_size]) for the kernels.

    Raises ValueError for layers that are wider than those have room for.
    """
    (first, bias), *dense = layers(shape, np.asarray(genome, np.float64))
    difference = shape.slope * genome[-1]
    if shape.unsaturated:
        weights, biases = dense.pop()
        most = np.abs(weights).sum() + np.abs(biases).sum()
        most += abs(difference) * PIECES * max(king, 1.0)
        most = most or 1.0
        dense.append((weights / most, biases / most))
        difference /= most
    width = -(-len(first) // LANES) * LANES
    if width > SCRATCH_WIDTH or max(shape.hidden) > max(WIDTHS):
        raise ValueError(
            f"layers of {len(first)} and {shape.hidden} nodes: at most {SCRATCH_WIDTH} in the "
            f"first, and {max(WIDTHS)} in the others"
        )
    scale = _fixed_point_scale(first, bias, king)
    features, offsets = aligned((70, width), np.int32), aligned((width,), np.int32)
    features[SQUARES, : len(first)] = np.rint(first.T * scale)
    features[SQUARES + 35, : len(first)] = np.rint(first.T * (king * scale))
    offsets[: len(first)] = np.rint(bias * scale)
    widths, blocks = [width], []
    for weights, biases in dense:
        padded = min(it for it in WIDTHS if it >= len(biases))
        block = np.zeros((widths[-1] + 1, padded), np.float32)
        block[0, : len(biases)] = biases
        block[1 : weights.shape[1] + 1, : len(biases)] = weights.T
        widths.append(block.shape[1])
        blocks.append(block.ravel())
    flat = aligned((sum(map(len, blocks)),), np.float32)
    flat[:] = np.concatenate(blocks)
    return Network(
        features,
        offsets,
        np.float32(1 / scale),
        flat,
        np.array(widths),
        np.float32(difference),
        np.float32(king),
        int(shape.by_colour),
    )


def _fixed_point_scale(first: Any, bias: Any, king: float) -> float:
    """A power of two, 2^22 for small weights, with which no sum of 24 pieces leaves int32."""
    largest = np.sort(np.abs(first), axis=1)[:, -24:].sum(axis=1) * max(king, 1.0) + np.abs(bias)
    headroom = 30 - int(np.ceil(np.log2(max(largest.max(), 1e-9))))
    return float(2.0 ** min(FIXED_POINT_BITS, headroom))
