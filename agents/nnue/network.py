"""Efficiently updatable network: a wide first layer kept move by move, then a small one.

After Y. Nasu, "Efficiently updatable neural-network-based evaluation functions" (2018). The inputs
are 128 zeros or ones: own men, own kings, the other side's men and its kings, each by square. The
first layer has 512 nodes and is computed twice, as either side sees the board; White sees it turned
by 180 degrees. Each node of the one half is multiplied by one of the other. The second layer reads
the products of both views, the side to move first. It has 16 nodes, and weights of its own for each
of six ranges of the number of pieces, and so has the output:

    a = clip(W x + b, 0, 1);    h_i = a_i a_(i + 256);    z = clip(S h + s, 0, 1)
    value = tanh(T z + t + p x)

Weights become integers: those of W in 1/255, those of S in 1/1024. So the sums do not depend on the
order of updates, and are equal on every machine.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.evaluator import advance_state, evaluate
from agents.ntuple.indices import (
    EMPTY,
    OWN_KING,
    OWN_MAN,
    THEIR_KING,
    THEIR_MAN,
    keep_indices,
    square_content,
)
from agents.simd import aligned_zeros, exchange, output, product_layer, tanh
from checkers_env.bits import lsb, popcount
from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import SQUARES, Position, to_view

KINDS = (OWN_MAN, OWN_KING, THEIR_MAN, THEIR_KING)  # in the order of the inputs
INPUTS, NODES, SMALL, SETS = 32 * len(KINDS), 512, 16, 6
PIECES_A_SET = 4
# Of the weights, in their order in a file.
SHAPES: Any = (
    *((INPUTS, NODES), (NODES,), (SETS, NODES, SMALL), (SETS, SMALL)),
    *((SETS, SMALL + 1), (INPUTS,)),
)
SIZE = sum(map(math.prod, SHAPES))
PAIRS = NODES // 2  # of nodes, a number of the state each
SUMS = 2 * PAIRS  # place of p x in a state, for the viewing side and for the other
WIDTH = 528  # of a state: whole vectors are added more quickly
SCALE, SECOND_SCALE, PIECE_SCALE = 255, 1024, 1 << 16
UNIT = 256 / SCALE**2 / SECOND_SCALE  # of the second layer's sums


class Weights(NamedTuple):
    """Weights as they are learnt, float32, of the shapes SHAPES."""

    first: NDArray[np.float32]  # W
    first_bias: NDArray[np.float32]
    second: NDArray[np.float32]  # S
    second_bias: NDArray[np.float32]
    output: NDArray[np.float32]  # t, then T
    pieces: NDArray[np.float32]  # p


class Nnue(NamedTuple):
    """Evaluator: integers for the kernels. Use :func:`nnue` to make one.

    The state of a position holds the first layer for the viewing side, then for the other one, two
    nodes in each number: 2^16 times the second plus the first. Then come both sums p x.
    """

    features: NDArray[np.int32]  # (35, 5, WIDTH): what a content on a bit adds to a state
    empty: NDArray[np.int32]  # (WIDTH,): the state of the empty board
    second: NDArray[np.int16]  # (SETS, PAIRS, SMALL, 2)
    second_bias: NDArray[np.int32]  # (SETS, SMALL)
    output: NDArray[np.float32]  # (SETS * (SMALL + 1),)


def split(genome: NDArray[np.float32]) -> Weights:
    """Return views of the parts of all weights, float32[SIZE]."""
    parts = np.split(genome, np.cumsum([*map(math.prod, SHAPES)])[:-1])
    return Weights(*(part.reshape(shape) for part, shape in zip(parts, SHAPES, strict=True)))


def nnue(genome: NDArray[np.float32]) -> Nnue:
    """Make a network of float32[SIZE]; raise ValueError for weights whose sums can overflow."""
    weights = split(np.asarray(genome, np.float32))
    first, bias = rounded(weights.first, SCALE), rounded(weights.first_bias, SCALE)
    pieces = rounded(weights.pieces, PIECE_SCALE)
    second = rounded(weights.second, SECOND_SCALE)
    second_bias = rounded(weights.second_bias, 1 / UNIT)
    largest = np.abs(first).reshape(len(KINDS), 32, NODES).max(0).sum(0) + np.abs(bias)
    totals = np.abs(second).sum(1) * SCALE + np.abs(second_bias)
    worth = np.abs(pieces).reshape(len(KINDS), 32).max(0).sum()
    shorts, integers = max(largest.max(), np.abs(second).max()), max(totals.max(), worth)
    if shorts >= 1 << 15 or integers >= 1 << 31:
        raise ValueError("the weights are too large: sums do not fit into 16 and 32 bits")
    features = aligned_zeros((35, 1 + max(KINDS), WIDTH), np.int32)
    for number, kind in enumerate(KINDS):
        for place, bit in enumerate(SQUARES):
            own = 32 * number + place
            other = 32 * (number ^ 2) + 31 - place
            features[bit, kind, :PAIRS] = in_pairs(first[own])
            features[bit, kind, PAIRS:SUMS] = in_pairs(first[other])
            features[bit, kind, SUMS : SUMS + 2] = pieces[[own, other]]
    empty = aligned_zeros((WIDTH,), np.int32)
    empty[:PAIRS] = empty[PAIRS:SUMS] = in_pairs(bias)
    short = aligned_zeros((SETS, PAIRS, SMALL, 2), np.int16)
    short[...] = second.reshape(SETS, PAIRS, 2, SMALL).swapaxes(2, 3)
    biases = aligned_zeros((SETS, SMALL), np.int32)
    biases[...] = second_bias
    return Nnue(features, empty, short, biases, weights.output.ravel().copy())


def rounded(weights: NDArray[np.float32], scale: float) -> NDArray[np.int64]:
    """Return weights as multiples of 1 / `scale`."""
    limit = 2.0**40  # which is refused, and does not leave 64 bits
    return np.rint(np.clip(weights.astype(np.float64) * scale, -limit, limit)).astype(np.int64)


def in_pairs(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return each two numbers as one, the second counted 2^16 times."""
    return numbers[0::2] + (numbers[1::2] << 16)


@kernel
def set_of_pieces(count: int) -> int:
    """Return which of the sets of weights a position with so many pieces reads."""
    return min(max(count - 1, 0) // PIECES_A_SET, SETS - 1)


@evaluate.register(Nnue)
def evaluate_nnue(
    network: Nnue, position: Position, view: int, state: KernelArg, scratch: KernelArg
) -> float:
    small, pieces = sums_at_output(network, position, view, state, scratch)
    worth = tanh(small + pieces)
    return worth if position.turn == view else -worth


@kernel
def sums_at_output(
    network: Nnue, position: Position, view: int, state: KernelArg, scratch: KernelArg
) -> KernelArg:
    """Return T z + t and p x for the side to move; write z to the start of `scratch`."""
    number = set_of_pieces(popcount(position.black | position.white))
    is_viewer = position.turn == view
    starts = (0, PAIRS) if is_viewer else (PAIRS, 0)
    weights, biases = network.second[number], network.second_bias[number]
    product_layer(state, starts, PAIRS // 2, weights, biases, scratch, np.float32(UNIT))
    pieces = np.float32(state[SUMS + (0 if is_viewer else 1)]) * np.float32(1 / PIECE_SCALE)
    return output(network.output, number * (SMALL + 1), scratch, 0, SMALL), pieces


keep_indices(Nnue)


@advance_state.register(Nnue)
def advance_nnue(
    network: Nnue, before: Position, after: Position, view: int, old: KernelArg, new: KernelArg
) -> None:
    changed = (before.black ^ after.black) | (before.white ^ after.white)
    left = (before.black | before.white) & changed
    entered = (after.black | after.white) & changed
    source = old
    while entered | left:  # once for a step: one square to leave, and one to enter
        plus = minus = network.features[0, EMPTY]
        if entered:
            bit = lsb(entered)
            entered &= entered - 1
            plus = network.features[to_view(bit, view), square_content(after, bit, view)]
        if left:
            bit = lsb(left)
            left &= left - 1
            minus = network.features[to_view(bit, view), square_content(before, bit, view)]
        exchange(source, plus, minus, new)
        source = new
