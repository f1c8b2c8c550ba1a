"""Efficiently updatable network over blocks of four squares: a first layer kept move by move.

After Y. Nasu, "Efficiently updatable neural-network-based evaluation functions" (2018). The board
is seen from both sides; White sees it turned by 180 degrees. A block is the four squares around an
unused one, or a corner. Their contents are the index into a table, as with n-tuples. An entry is a
row of 256 numbers, and a worth. The rows of all blocks add up to the first layer. Each node of its
one half is multiplied by one of the other. The second layer reads the products of both views, the
side to move first. It has 16 nodes, and weights of its own for each of six ranges of the number of
pieces, and so has the output, which worths go to directly:

    a = clip(sum of rows + b, 0, 1);    h_i = a_i a_(i + 128);    z = clip(S h + s, 0, 1)
    value = tanh(T z + t + sum of worths)

Weights become integers: those of the first layer in 1/255, those of S in 1/1024. So the sums do not
depend on the order of updates, and are equal on every machine.
"""

from __future__ import annotations

import math
import zlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.evaluator import advance_state, evaluate, start_state, state_size
from agents.geometry import rectangles, rotate
from agents.ntuple.tuples import index_features
from agents.piece_sums import CONTENTS, advance_sums, start_sums
from agents.simd import BLOCK, aligned_zeros, output, product_layer, row_exchanger, tanh
from agents.weights import check_usable, inflate
from checkers_env.bits import popcount
from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import Position

CORNERS = (3, 4, 7, 8), (25, 26, 29, 30)  # with 4 and 29, which are around no unused square
LAYOUT = (*(squares for squares in rectangles(3, 3) if len(squares) == 4), *CORNERS)
BLOCKS, ENTRIES = len(LAYOUT), CONTENTS ** len(LAYOUT[0])
ROWS, NODES, SMALL, SETS = BLOCKS * ENTRIES, 4 * BLOCK, 16, 6
PIECES_A_SET = 4
# Of the weights, in their order in a file.
SHAPES: Any = (
    *((ROWS, NODES), (NODES,), (SETS, NODES, SMALL), (SETS, SMALL)),
    *((SETS, SMALL + 1), (ROWS,)),
)
SIZE = sum(map(math.prod, SHAPES))
TABLES = ROWS * NODES
PACKED_BYTES = 2 * TABLES + 4 * (SIZE - TABLES)
PAIRS = NODES // 2  # of nodes, a number of the state each
INDICES = 2 * PAIRS  # place of the rows of both sides in a state
WIDTH = INDICES + 2 * BLOCKS  # of a state, a multiple of 8
SCALE, SECOND_SCALE, WORTH_SCALE = 255, 1024, 1 << 16
UNIT = 256 / SCALE**2 / SECOND_SCALE  # of the second layer's sums


class Weights(NamedTuple):
    """Weights as they are learnt, float32, of the shapes SHAPES."""

    first: NDArray[np.float32]  # the tables of the blocks, one after the other
    first_bias: NDArray[np.float32]
    second: NDArray[np.float32]  # S
    second_bias: NDArray[np.float32]
    output: NDArray[np.float32]  # t, then T
    worths: NDArray[np.float32]


class Nnue(NamedTuple):
    """Evaluator: integers for the kernels. Use :func:`nnue` to make one.

    A state has the first layer for the viewing side, two nodes a number: 2^16 times the second
    plus the first. Then come that of the other side, and the rows of all blocks for either.
    """

    features: NDArray[np.int32]  # (35, 5, WIDTH - INDICES): what a content on a bit adds to them
    rows: NDArray[np.int32]  # (ROWS, PAIRS)
    worths: NDArray[np.int32]  # (ROWS,)
    empty: NDArray[np.int32]  # (WIDTH,): the state of the empty board
    second: NDArray[np.int16]  # (SETS, PAIRS, SMALL, 2)
    second_bias: NDArray[np.int32]  # (SETS, SMALL)
    output: NDArray[np.float32]  # (SETS * (SMALL + 1),)


def index_blocks() -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return what a content on a bit adds to the rows of both sides, and those of no piece."""
    # The other side sees the board turned, and another owner of each piece.
    turned = tuple(map(rotate, LAYOUT))
    digits = [range(CONTENTS)] * BLOCKS + [(3, 4, 2, 0, 1)] * BLOCKS
    offsets = 2 * [*range(0, ROWS, ENTRIES)]
    return index_features(LAYOUT + turned, offsets, digits)


def split(genome: NDArray[np.float32]) -> Weights:
    """Return views of the parts of all weights, float32[SIZE]."""
    parts = np.split(genome, np.cumsum([*map(math.prod, SHAPES)])[:-1])
    return Weights(*(part.reshape(shape) for part, shape in zip(parts, SHAPES, strict=True)))


def nnue(genome: NDArray[np.float32]) -> Nnue:
    """Make a network of float32[SIZE]; raise ValueError for weights whose sums can overflow."""
    weights = split(np.asarray(genome, np.float32))
    first, bias = rounded(weights.first, SCALE), rounded(weights.first_bias, SCALE)
    worths = rounded(weights.worths, WORTH_SCALE)
    second = rounded(weights.second, SECOND_SCALE)
    second_bias = rounded(weights.second_bias, 1 / UNIT)
    largest = np.abs(first).reshape(BLOCKS, ENTRIES, NODES).max(1).sum(0) + np.abs(bias)
    totals = np.abs(second).sum(1) * SCALE + np.abs(second_bias)
    worth = np.abs(worths).reshape(BLOCKS, ENTRIES).max(1).sum()
    shorts, integers = max(largest.max(), np.abs(second).max()), max(totals.max(), worth)
    if shorts >= 1 << 15 or integers >= 1 << 31:
        raise ValueError("the weights are too large: sums do not fit into 16 and 32 bits")
    rows = aligned_zeros((ROWS, PAIRS), np.int32)
    rows[...] = in_pairs(first)
    features, indices = index_blocks()
    empty = aligned_zeros((WIDTH,), np.int32)
    empty[INDICES:] = indices
    empty[:INDICES] = np.tile(in_pairs(bias) + rows[indices[:BLOCKS]].sum(0), 2)
    short = aligned_zeros((SETS, PAIRS, SMALL, 2), np.int16)
    short[...] = second.reshape(SETS, PAIRS, 2, SMALL).swapaxes(2, 3)
    biases = aligned_zeros((SETS, SMALL), np.int32)
    biases[...] = second_bias
    last = weights.output.ravel().copy()
    return Nnue(features, rows, worths.astype(np.int32), empty, short, biases, last)


def pack_genome(genome: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Return the content of a weight file; raise ValueError for weights that cannot be used."""
    check_usable(genome)
    nnue(genome)
    # All low bytes of the tables in whole numbers, all high bytes, and the other weights.
    planes = rounded(genome[:TABLES], SCALE).astype("<i2").view(np.uint8).reshape(-1, 2).T
    content = planes.tobytes() + genome[TABLES:].astype("<f4").tobytes()
    return np.frombuffer(zlib.compress(content), np.uint8)


def unpack_genome(packed: bytes) -> NDArray[np.float32]:
    """Return the weights, float32[SIZE]; raise ValueError for other bytes."""
    content = inflate(packed, PACKED_BYTES)
    if len(content) != PACKED_BYTES:
        raise ValueError(f"it is for another network: {len(content)} bytes, not {PACKED_BYTES}")
    planes = np.frombuffer(content, np.uint8, 2 * TABLES).reshape(2, TABLES)
    levels = np.ascontiguousarray(planes.T).view("<i2").ravel()
    others = np.frombuffer(content, "<f4", offset=2 * TABLES)
    check_usable(others)
    return np.concatenate([levels / np.float32(SCALE), others])


def rounded(weights: NDArray[np.float32], scale: float) -> NDArray[np.int64]:
    """Return weights as multiples of 1 / `scale`."""
    limit = 2.0**40  # which is refused, and does not leave 64 bits
    return np.rint(np.clip(weights.astype(np.float64) * scale, -limit, limit)).astype(np.int64)


def in_pairs(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return each two numbers as one, the second counted 2^16 times."""
    return numbers[..., 0::2] + (numbers[..., 1::2] << 16)


@kernel
def set_of_pieces(count: int) -> int:
    """Return which of the sets of weights a position with so many pieces reads."""
    return min(max(count - 1, 0) // PIECES_A_SET, SETS - 1)


@evaluate.register(Nnue)
def evaluate_nnue(
    network: Nnue, position: Position, view: int, state: KernelArg, scratch: KernelArg
) -> float:
    small, worths = sums_at_output(network, position, view, state, scratch)
    worth = tanh(small + worths)
    return worth if position.turn == view else -worth


@kernel
def sums_at_output(
    network: Nnue, position: Position, view: int, state: KernelArg, scratch: KernelArg
) -> KernelArg:
    """Return T z + t and the sum of worths for the side to move; write z to `scratch`."""
    number = set_of_pieces(popcount(position.black | position.white))
    side = int(position.turn != view)
    starts = side * PAIRS, (1 - side) * PAIRS
    weights, biases = network.second[number], network.second_bias[number]
    product_layer(state, starts, weights, biases, scratch, np.float32(UNIT))
    rows, worth = state[INDICES + side * BLOCKS :], 0
    for block in range(BLOCKS):
        worth += network.worths[rows[block]]
    worths = np.float32(worth) * np.float32(1 / WORTH_SCALE)
    return output(network.output, number * (SMALL + 1), scratch, 0, SMALL), worths


exchange_rows = row_exchanger(PAIRS, BLOCKS)


state_size.register(Nnue)(lambda network: WIDTH)


@start_state.register(Nnue)
def start_nnue(network: Nnue, position: Position, view: int, state: KernelArg) -> None:
    start_sums(network.features, network.empty[INDICES:], position, view, state[INDICES:])
    write_sums(network, network.empty, state)


@advance_state.register(Nnue)
def advance_nnue(
    network: Nnue, before: Position, after: Position, view: int, old: KernelArg, new: KernelArg
) -> None:
    advance_sums(network.features, before, after, view, old[INDICES:], new[INDICES:])
    write_sums(network, old, new)


@kernel
def write_sums(network: Nnue, old: KernelArg, new: KernelArg) -> None:
    """Write the sums of a state whose rows are written, from another state."""
    exchange_rows(network.rows, old, new)
