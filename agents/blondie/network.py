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
from agents.evaluator import (
    MAX_LAYER_WIDTH,
    NO_BOUND,
    advance_state,
    evaluate,
    start_state,
    state_size,
    value_bounds,
)
from agents.simd import LANES, activate, dense, exchange, output, tanh, tanh_all_exact
from checkers_env.bits import copy_into, lsb, popcount
from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import BLACK, Position, own_and_opponent, to_view

MOST_MORE = 12  # men or kings that a side has more than the other, at most
NO_SQUARE = 8  # a row of `features` without a square, all zeros
KING_FEATURES = 35  # rows of `features`: a man on bit 0-34, then a king on bit 0-34


class Network(NamedTuple):
    """Evaluator: a network for the kernels. Use :func:`agents.blondie.architecture.decode`."""

    features: NDArray[np.int32]  # (70, width): contribution of an own piece to first-layer nodes
    bias: NDArray[np.int32]  # (width,)
    unit: np.float32  # the value of 1 in these integers
    weights: NDArray[np.float32]  # the dense layers, as for agents.simd.dense; then the bounds
    widths: NDArray[np.int64]  # padded widths of the layers, the first one included
    difference: np.float32  # weight of the piece difference at the output
    king: np.float32  # K, the worth of a king in men
    black_perspective: int = 0  # 1: Black's view for both sides; White's value is negated
    exact: bool = False  # True: tanh is float64's, rounded; False: float32's, within 4e-7
    bounds: int = 0  # where `weights` has bounds of the value by men and kings more; 0: nowhere


@state_size.register(Network)
def network_state_size(network: Network) -> int:
    return len(network.bias)


@start_state.register(Network)
def start_network_state(network: Network, position: Position, view: int, state: KernelArg) -> None:
    view = BLACK if network.black_perspective else view
    copy_into(network.bias, state)
    own, opponent = own_and_opponent(position.black, position.white, view)
    pieces = own | opponent
    while pieces:
        bit = lsb(pieces)
        pieces &= pieces - 1
        row = feature_row(bit, position.kings, view)
        plus, minus = (row, NO_SQUARE) if own >> bit & 1 else (NO_SQUARE, row)
        exchange(state, network.features[plus], network.features[minus], state)


@kernel
def feature_row(bit: int, kings: int, view: int) -> int:
    """Return the row of `features` for the piece on `bit`; White sees the board turned round."""
    row = to_view(bit, view)
    return row + KING_FEATURES if kings >> bit & 1 else row


@advance_state.register(Network)
def advance_network_state(
    network: Network, before: Position, after: Position, view: int, old: KernelArg, new: KernelArg
) -> None:
    features, view = network.features, BLACK if network.black_perspective else view
    own_before, opponent_before = own_and_opponent(before.black, before.white, before.turn)
    own_after, opponent_after = own_and_opponent(after.black, after.white, before.turn)
    captured = opponent_before & ~opponent_after
    moved = own_before ^ own_after
    left = reached = NO_SQUARE  # the capture ends on its own starting square
    if moved:
        left = feature_row(lsb(moved & own_before), before.kings, view)
        reached = feature_row(lsb(moved & own_after), after.kings, view)
    own = before.turn == view
    plus, minus = (reached, left) if own else (left, reached)
    exchange(old, features[plus], features[minus], new)
    while captured:
        row = feature_row(lsb(captured), before.kings, view)
        captured &= captured - 1
        plus, minus = (row, NO_SQUARE) if own else (NO_SQUARE, row)
        exchange(new, features[plus], features[minus], new)


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
    read_by = BLACK if network.black_perspective else view
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
    read_by = BLACK if network.black_perspective else view
    more = men * (2 * MOST_MORE + 1) + crowned
    at = np.uint64(MOST_MORE * (2 * MOST_MORE + 2) + (more if read_by == BLACK else -more))
    place = np.uint64(network.bounds) + np.uint64(2) * at  # unsigned: no index is from the end
    low, high = network.weights[place], network.weights[place + np.uint64(1)]
    return (low, high) if read_by == view else (-high, -low)
