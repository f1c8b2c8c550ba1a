"""Evolved networks as evaluators: incremental first layer, then dense layers of tanh nodes.

The first layer is a sum over the pieces on the board. It is updated move by move in fixed point:
integer sums do not depend on the order of the moves, so the search may skip any of them. The other
layers are computed when a position is evaluated.

The output node adds a weighted piece difference to a sum of a few nodes, each within -1 and +1. So
the pieces alone bound the value, and a search can often do without the layers
(:func:`agents.blondie.architecture.with_bounds`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.baselines.material import piece_difference
from agents.evaluator import MAX_LAYER_WIDTH, NO_BOUND, evaluate, value_bounds
from agents.piece_sums import board_view, keep_sums
from agents.simd import LANES, activate, dense, output, tanh, tanh_all_exact
from checkers_env.bits import popcount
from checkers_env.jit import KernelArg
from checkers_env.movegen import BLACK, Position

MOST_MORE = 12  # men or kings that a side has more than the other, at most


class Network(NamedTuple):
    """Evaluator: a network for the kernels. Use :func:`agents.blondie.architecture.decode`."""

    features: NDArray[np.int32]  # (35, 5, width): what a content on a bit adds to first-layer nodes
    empty: NDArray[np.int32]  # (width,): their biases
    unit: np.float32  # the value of 1 in these integers
    weights: NDArray[np.float32]  # the dense layers, as for agents.simd.dense; then the bounds
    widths: NDArray[np.int64]  # padded widths of the layers, the first one included
    difference: np.float32  # weight of the piece difference at the output
    king: np.float32  # K, the worth of a king in men
    black_perspective: int = 0  # 1: Black's view for both sides; White's value is negated
    exact: bool = False  # True: tanh is float64's, rounded; False: float32's, within 4e-7
    bounds: int = 0  # where `weights` has bounds of the value by men and kings more; 0: nowhere


keep_sums(Network)
board_view.register(Network)(lambda network, view: BLACK if network.black_perspective else view)


@evaluate.register(Network)
def evaluate_network(
    network: Network, position: Position, view: int, state: KernelArg, scratch: KernelArg
) -> float:
    widths, at, source, target = network.widths, LANES, 0, MAX_LAYER_WIDTH
    activate(state, network.unit, widths[0], scratch, network.exact)
    last = len(widths) - 2
    for layer in range(last):
        count, width = widths[layer], widths[layer + 1]
        at = dense(network.weights, at, scratch, source, count, target, width, network.exact)
        source, target = target, source
    value = output(network.weights, at, scratch, source, widths[last])
    read_by = board_view(network, view)
    value += network.difference * piece_difference(position, read_by, network.king)
    if network.exact:
        scratch[0] = value
        tanh_all_exact(scratch, 8)
        value = scratch[0]
    else:
        value = tanh(value)
    return value if read_by == view else -value


@value_bounds.register(Network)
def network_value_bounds(network: Network, position: Position, view: int) -> tuple[float, float]:
    if not network.bounds:
        return -NO_BOUND, NO_BOUND
    black, white, kings = position.black, position.white, position.kings
    men = popcount(black & ~kings) - popcount(white & ~kings)
    crowned = popcount(black & kings) - popcount(white & kings)
    read_by = board_view(network, view)
    more = men * (2 * MOST_MORE + 1) + crowned
    at = np.uint64(MOST_MORE * (2 * MOST_MORE + 2) + (more if read_by == BLACK else -more))
    place = np.uint64(network.bounds) + np.uint64(2) * at  # unsigned: no index is from the end
    low, high = network.weights[place], network.weights[place + np.uint64(1)]
    return (low, high) if read_by == view else (-high, -low)
