"""Training of the network by Adam (Kingma and Ba, "Adam", 2015) on the squared error of its value.

The sum of a position's products costs a little, too: those that are 0 cost no time. A batch is cut
into parts, which threads can compute at once; a part adds up its gradient in a fixed order, and the
parts are added in order. So equal seeds give equal weights on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.geometry import PLACES
from agents.nnue.network import (
    BLOCKS,
    ENTRIES,
    LAYOUT,
    NODES,
    ROWS,
    SETS,
    SIZE,
    SMALL,
    Weights,
    index_blocks,
    set_of_pieces,
    split,
)
from agents.nnue.sampling import Samples
from agents.piece_sums import CONTENTS, EMPTY, OWN_MAN, THEIR_MAN
from agents.simd import tanh
from checkers_env.bits import borrowed, copy_into, lsb
from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import SQUARES

PARTS = 4
HALF = NODES // 2
_BY_BIT, NO_PIECE = index_blocks()  # the rows of the empty board
# The contents of a block's squares in each of its entries.
DIGITS = np.indices((CONTENTS,) * 4).reshape(4, -1).T.copy()
IS_FIRST = np.zeros((BLOCKS, 4), np.bool_)  # whether no block before holds a square of a block
IS_FIRST.flat[np.unique(LAYOUT, return_index=True)[1]] = True
FEATURES = _BY_BIT[np.array(SQUARES)]  # what a content on a square adds to the rows

DECAY_MEAN, DECAY_SQUARE, EPS = 0.9, 0.999, 1e-6  # of Adam
SPARSITY = 3e-5  # of a product's size in the loss of a position
WEIGHT_DECAY = 1e-4  # of a weight, times the rate (Loshchilov and Hutter 2019)


class Examples(NamedTuple):
    """Positions as the side to move sees them, by bits of the squares, and their targets."""

    boards: NDArray[np.uint32]  # (examples, 3): own pieces, the other side's, kings
    targets: NDArray[np.float32]  # (examples,)


class Learner(NamedTuple):
    """Weights, float32[SIZE], and what Adam knows of them."""

    genome: NDArray[np.float32]
    mean: NDArray[np.float32]  # of the gradient
    square: NDArray[np.float32]  # of the gradient, its mean
    # (2, BLOCKS, 4, CONTENTS, NODES + 1): both for contents of squares that a block is the first to
    # hold. They are parts of all entries with this content; the last number is their worth.
    contents: NDArray[np.float32]


class BatchPart(NamedTuple):
    """Arrays of a part of a batch for the kernels."""

    gradient: Weights
    rows: NDArray[np.int32]  # (2 * BLOCKS, padded): of all blocks, as either side sees them
    sums: NDArray[np.float32]  # (2, NODES): W x + b, then the gradient of it
    products: NDArray[np.float32]  # (NODES,): h
    active: NDArray[np.int64]  # (NODES,): places of the products that are not 0
    nodes: NDArray[np.int64]  # (NODES,): places of the nodes that have a gradient
    small: NDArray[np.float32]  # (2, SMALL): S h + s, and the gradient of it


def start_learner(rng: np.random.Generator) -> Learner:
    """Return random weights of pieces on squares, around their worth, a king's 1.4 men."""
    genome = np.zeros(SIZE, np.float32)
    weights = split(genome)
    rows = rng.normal(0, 0.15, (32, CONTENTS, NODES))
    rows[:, EMPTY] = 0
    worths = np.array([-0.5, -0.7, 0.0, 0.5, 0.7])
    for block, squares in enumerate(LAYOUT):
        entries = slice(block * ENTRIES, (block + 1) * ENTRIES)
        for place, square in enumerate(squares):
            if IS_FIRST[block, place]:
                weights.first[entries] += rows[square - 1, DIGITS[:, place]]
                weights.worths[entries] += worths[DIGITS[:, place]]
    weights.first_bias[...] = 0.3
    weights.second[...] = rng.normal(0, 1.2 / np.sqrt(NODES), weights.second.shape)
    weights.second_bias[...] = 0.2
    weights.output[:, 1:] = rng.normal(0, 0.1, (SETS, SMALL))
    contents = np.zeros((2, BLOCKS, 4, CONTENTS, NODES + 1), np.float32)
    return Learner(genome, np.zeros_like(genome), np.zeros_like(genome), contents)


def to_examples(samples: Samples) -> Examples:
    """Return samples in 16 bytes each."""
    boards = np.zeros((len(samples.targets), 3), np.uint32)
    _write_boards(samples.positions, boards)
    return Examples(boards, samples.targets)


@kernel
def _write_boards(positions: KernelArg, boards: KernelArg) -> None:
    for at in range(len(boards)):
        black, white, kings, turn = positions[at]
        pieces = black | white
        while pieces:
            bit = lsb(pieces)
            pieces &= pieces - 1
            square = np.uint32(1) << np.uint32(PLACES[bit] if turn == 0 else 31 - PLACES[bit])
            boards[at, (white >> bit & 1) ^ turn] |= square
            if kings >> bit & 1:
                boards[at, 2] |= square


def learn(
    learner: Learner,
    examples: Examples,
    batches: Iterable[NDArray[np.int64]],
    rates: NDArray[np.float32],
    steps: int,
    run: Callable[[Callable[..., Any], Iterable[Any]], Iterable[Any]] = map,
) -> tuple[Learner, float]:
    """Return the learner after a step for each batch, and the mean squared error before each step.

    A batch, int64[a multiple of PARTS], holds places among the examples; `rates` are the step sizes
    and `steps` the number of steps so far. `run` is ``map``, or that of an executor of threads.
    """
    learner = Learner(*(array.copy() for array in learner))
    weights, total = split(learner.genome), 0.0
    gradients = np.zeros((PARTS, SIZE), np.float32)
    parts = [_part(gradient) for gradient in gradients]
    for batch, rate in zip(batches, rates, strict=True):
        steps += 1
        places = batch.reshape(PARTS, -1)

        def add(number: int, places: Any = places) -> float:
            return add_gradient(weights, examples, places[number], parts[number])

        total += sum(run(add, range(PARTS))) / len(batch)
        corrections = 1 - DECAY_MEAN**steps, 1 - DECAY_SQUARE**steps
        # The rate, the shares of what the means hold that comes from gradients, and an example's.
        scales = rate, *map(np.float32, corrections), np.float32(1 / len(batch))
        list(run(partial(move_block, learner, gradients, scales), range(BLOCKS + 1)))
    return learner, total / len(rates)


def _part(gradient: NDArray[np.float32]) -> BatchPart:
    return BatchPart(
        split(gradient),
        NO_PIECE.copy(),
        np.zeros((2, NODES), np.float32),
        np.zeros(NODES, np.float32),
        np.zeros(NODES, np.int64),
        np.zeros(NODES, np.int64),
        np.zeros((2, SMALL), np.float32),
    )


@kernel
def add_gradient(weights: Weights, examples: Examples, places: KernelArg, part: BatchPart) -> float:
    """Add the gradients of the squared errors of some examples; return the sum of these errors."""
    weights, part = borrowed(weights), borrowed(part)
    total = 0.0
    for place in places:
        number = set_of_pieces(write_rows(examples.boards, place, part.rows))
        value, found = forward(weights, number, part)
        error = value - examples.targets[place]
        total += error * error
        slope = np.float32(2.0) * error * (np.float32(1.0) - value * value)
        backward(weights, number, found, slope, part)
    return total


@kernel
def write_rows(boards: KernelArg, place: int, rows: KernelArg) -> int:
    """Write the rows of all blocks, as either side sees them; return the number of pieces."""
    copy_into(NO_PIECE, rows)
    count = 0
    for side in range(2):
        pieces: KernelArg = np.int64(boards[place, side])
        while pieces:
            square = lsb(pieces)
            pieces &= pieces - 1
            man = THEIR_MAN if side else OWN_MAN
            added = FEATURES[square, man + (np.int64(boards[place, 2]) >> square & 1)]
            for i in range(len(rows)):
                rows[i] += added[i]
            count += 1
    return count


@kernel
def clipped(number: KernelArg) -> KernelArg:
    """Return a number clipped to 0..1."""
    return min(max(number, np.float32(0.0)), np.float32(1.0))


@kernel
def is_within(number: float) -> KernelArg:
    """Return whether a number is not clipped."""
    return np.float32(0.0) < number < np.float32(1.0)


@kernel
def forward(weights: Weights, number: int, part: BatchPart) -> tuple[float, int]:
    """Return the value of a position and how many products are not 0; `part` keeps the layers."""
    sums, products, small, active = part.sums, part.products, part.small, part.active
    found = 0
    for view in range(2):
        add_rows(weights, part.rows[view * BLOCKS :], sums[view])
        for j in range(HALF):
            products[view * HALF + j] = clipped(sums[view, j]) * clipped(sums[view, j + HALF])
    for k in range(NODES):
        active[found] = k
        found += products[k] > 0
    for j in range(SMALL):
        small[0, j] = weights.second_bias[number, j]
    for i in range(found):
        k = active[i]
        for j in range(SMALL):
            small[0, j] += weights.second[number, k, j] * products[k]
    total = weights.output[number, 0]
    for j in range(SMALL):
        total += weights.output[number, j + 1] * clipped(small[0, j])
    for i in range(BLOCKS):
        total += weights.worths[part.rows[i]]
    return tanh(total), found


@kernel
def add_rows(weights: Weights, rows: KernelArg, sums: KernelArg) -> None:
    """Write the first layer's sums; four rows at a time save a third of the time."""
    first = weights.first
    for j in range(NODES):
        sums[j] = weights.first_bias[j]
    for i in range(0, BLOCKS, 4):
        a, b, c, d = rows[i], rows[i + 1], rows[i + 2], rows[i + 3]
        for j in range(NODES):
            sums[j] += first[a, j] + first[b, j] + first[c, j] + first[d, j]


@kernel
def backward(weights: Weights, number: int, found: int, slope: float, part: BatchPart) -> None:
    """Add `slope` times the gradient of the output, which is 0 where a product is 0."""
    gradient, small, nodes, at = part.gradient, part.small, part.nodes, 0
    gradient.output[number, 0] += slope
    for i in range(BLOCKS):
        gradient.worths[part.rows[i]] += slope
    for j in range(SMALL):
        node = small[0, j]
        gradient.output[number, j + 1] += slope * clipped(node)
        small[1, j] = slope * weights.output[number, j + 1] if is_within(node) else 0.0
        gradient.second_bias[number, j] += small[1, j]
    for view in range(2):
        sums, filled = part.sums[view], 0
        while at < found and part.active[at] < (view + 1) * HALF:
            k = part.active[at]
            total = np.float32(SPARSITY)
            for j in range(SMALL):
                gradient.second[number, k, j] += small[1, j] * part.products[k]
                total += weights.second[number, k, j] * small[1, j]
            one, other = k - view * HALF, k - view * HALF + HALF
            first, second = sums[one], sums[other]
            for node, value, partner in ((one, first, second), (other, second, first)):
                if is_within(value):
                    sums[node] = clipped(partner) * total
                    nodes[filled] = node
                    filled += 1
            at += 1
        for n in range(filled):
            gradient.first_bias[nodes[n]] += sums[nodes[n]]
        for i in range(BLOCKS):
            row = part.rows[view * BLOCKS + i]
            for n in range(filled):
                gradient.first[row, nodes[n]] += sums[nodes[n]]


@kernel
def move_block(
    learner: Learner, gradients: KernelArg, scales: tuple[float, float, float, float], block: int
) -> None:
    """Take a step of Adam for the entries of a block; block BLOCKS are all other weights.

    An entry also moves with all others that have the same content on a square: rare ones learn.
    """
    genome, mean, square, contents = learner
    if block == BLOCKS:
        for at in range(ROWS * NODES, SIZE - ROWS):
            slope = take_slope(gradients, at, scales)
            genome[at] -= step_of_adam(mean, square, at, slope, scales)
            genome[at] -= scales[0] * np.float32(WEIGHT_DECAY) * genome[at]
        return
    slopes = np.zeros(NODES + 1, np.float32)
    totals = np.zeros((4, CONTENTS, NODES + 1), np.float32)
    means, squares = contents[0, block], contents[1, block]
    for entry in range(ENTRIES):
        row = block * ENTRIES + entry
        for j in range(NODES):
            at = row * NODES + j
            slopes[j] = take_slope(gradients, at, scales)
            genome[at] -= step_of_adam(mean, square, at, slopes[j], scales)
        at = SIZE - ROWS + row
        slopes[NODES] = take_slope(gradients, at, scales)
        genome[at] -= step_of_adam(mean, square, at, slopes[NODES], scales)
        for place in range(4):
            if IS_FIRST[block, place]:
                total = totals[place, DIGITS[entry, place]]
                for j in range(NODES + 1):
                    total[j] += slopes[j]
    for place in range(4):
        for content in range(CONTENTS):
            total = totals[place, content]
            for j in range(NODES + 1):
                total[j] = step_of_adam(
                    means[place, content], squares[place, content], j, total[j], scales
                )
    for entry in range(ENTRIES):
        row = block * ENTRIES + entry
        for place in range(4):
            if IS_FIRST[block, place]:
                total = totals[place, DIGITS[entry, place]]
                for j in range(NODES):
                    genome[row * NODES + j] -= total[j]
                genome[SIZE - ROWS + row] -= total[NODES]


@kernel
def take_slope(gradients: KernelArg, at: int, scales: KernelArg) -> float:
    """Return the mean gradient of a weight over a batch, and set those of the parts to 0."""
    slope = np.float32(0.0)
    for number in range(PARTS):
        slope += gradients[number, at]
        gradients[number, at] = 0.0
    return slope * scales[3]


@kernel
def step_of_adam(
    mean: KernelArg, square: KernelArg, at: int, slope: float, scales: KernelArg
) -> float:
    """Return how far a weight moves against its gradient; `scales` are those of :func:`learn`."""
    rate, mean_weight, square_weight, _ = scales
    mean[at] += np.float32(1.0 - DECAY_MEAN) * (slope - mean[at])
    square[at] += np.float32(1.0 - DECAY_SQUARE) * (slope * slope - square[at])
    size = np.sqrt(square[at] / square_weight) + np.float32(EPS)
    return rate * (mean[at] / mean_weight / size)
