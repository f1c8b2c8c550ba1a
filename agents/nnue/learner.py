"""Training of the network by Adam (Kingma and Ba, "Adam", 2015) on the squared error of its value.

A batch is cut into parts, which threads can compute at once; a part adds up its gradient in a fixed
order, and the parts are added in order. So equal seeds give equal weights on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.geometry import PLACES
from agents.nnue.network import INPUTS, NODES, SETS, SIZE, SMALL, Weights, set_of_pieces, split
from agents.nnue.sampling import Samples
from agents.simd import tanh
from checkers_env.bits import borrowed, lsb
from checkers_env.jit import KernelArg, kernel

PARTS = 4
HALF = NODES // 2
MOST_PIECES = 32
DECAY_MEAN, DECAY_SQUARE, EPS = 0.9, 0.999, 1e-8  # of Adam
WEIGHT_DECAY = 1e-4  # of a weight, times the rate (Loshchilov and Hutter 2019)


class Examples(NamedTuple):
    """Positions as the side to move sees them, by bits of the squares, and their targets."""

    boards: NDArray[np.uint32]  # (examples, 3): own pieces, the other side's, kings
    targets: NDArray[np.float32]  # (examples,)


class Learner(NamedTuple):
    """Weights and what Adam knows of them, float32[SIZE] each."""

    genome: NDArray[np.float32]
    mean: NDArray[np.float32]  # of the gradient
    square: NDArray[np.float32]  # of the gradient, its mean


class BatchPart(NamedTuple):
    """Arrays of a part of a batch for the kernels."""

    gradient: Weights
    inputs: NDArray[np.int64]  # (2, MOST_PIECES): those that are 1, as either side sees them
    sums: NDArray[np.float32]  # (2, NODES): W x + b, then the gradient of it
    products: NDArray[np.float32]  # (NODES,): h
    active: NDArray[np.int64]  # (NODES,): places of the products that are not 0
    nodes: NDArray[np.int64]  # (NODES,): places of the nodes that have a gradient
    small: NDArray[np.float32]  # (2, SMALL): S h + s, and the gradient of it


def start_learner(rng: np.random.Generator) -> Learner:
    """Return random weights around the worth of the pieces, a king's 1.4 men."""
    genome = np.zeros(SIZE, np.float32)
    weights = split(genome)
    weights.first[...] = rng.normal(0, 0.15, weights.first.shape)
    weights.first_bias[...] = 0.3
    weights.second[...] = rng.normal(0, 1.2 / np.sqrt(NODES), weights.second.shape)
    weights.second_bias[...] = 0.2
    weights.output[:, 1:] = rng.normal(0, 0.1, (SETS, SMALL))
    weights.pieces[...] = np.repeat([0.5, 0.7, -0.5, -0.7], INPUTS // 4)
    return Learner(genome, np.zeros_like(genome), np.zeros_like(genome))


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
        move(learner, gradients, rate, *map(np.float32, corrections), np.float32(1 / len(batch)))
    return learner, total / len(rates)


def _part(gradient: NDArray[np.float32]) -> BatchPart:
    return BatchPart(
        split(gradient),
        np.zeros((2, MOST_PIECES), np.int64),
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
        count = write_inputs(examples.boards, place, part.inputs)
        number = set_of_pieces(count)
        value, found = forward(weights, number, count, part)
        error = value - examples.targets[place]
        total += error * error
        slope = np.float32(2.0) * error * (np.float32(1.0) - value * value)
        backward(weights, number, count, found, slope, part)
    return total


@kernel
def write_inputs(boards: KernelArg, place: int, inputs: KernelArg) -> int:
    """Write which inputs are 1, as either side sees the board; return how many there are."""
    count = 0
    for side in range(2):
        pieces: KernelArg = np.int64(boards[place, side])
        while pieces:
            square = lsb(pieces)
            pieces &= pieces - 1
            kind = 2 * side + (np.int64(boards[place, 2]) >> square & 1)
            inputs[0, count] = 32 * kind + square
            inputs[1, count] = 32 * (kind ^ 2) + 31 - square
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
def forward(weights: Weights, number: int, count: int, part: BatchPart) -> tuple[float, int]:
    """Return the value of a position, float32, and how many products are not 0.

    `part` keeps what the layers hold.
    """
    sums, products, small, active = part.sums, part.products, part.small, part.active
    found = 0
    for view in range(2):
        add_rows(weights, part.inputs[view], count, sums[view])
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
    for i in range(count):
        total += weights.pieces[part.inputs[0, i]]
    return tanh(total), found


@kernel
def add_rows(weights: Weights, rows: KernelArg, count: int, sums: KernelArg) -> None:
    """Write the first layer's sums; four rows at a time save a third of the time."""
    for j in range(NODES):
        sums[j] = weights.first_bias[j]
    for i in range(0, count - 3, 4):
        a, b, c, d = rows[i], rows[i + 1], rows[i + 2], rows[i + 3]
        for j in range(NODES):
            total = sums[j] + weights.first[a, j] + weights.first[b, j]
            sums[j] = total + weights.first[c, j] + weights.first[d, j]
    for i in range(count - count % 4, count):
        for j in range(NODES):
            sums[j] += weights.first[rows[i], j]


@kernel
def backward(
    weights: Weights, number: int, count: int, found: int, slope: float, part: BatchPart
) -> None:
    """Add `slope` times the gradient of the output, which is 0 where a product is 0."""
    gradient, small, nodes, at = part.gradient, part.small, part.nodes, 0
    gradient.output[number, 0] += slope
    for i in range(count):
        gradient.pieces[part.inputs[0, i]] += slope
    for j in range(SMALL):
        node = small[0, j]
        gradient.output[number, j + 1] += slope * clipped(node)
        small[1, j] = slope * weights.output[number, j + 1] if is_within(node) else 0.0
        gradient.second_bias[number, j] += small[1, j]
    for view in range(2):
        sums, filled = part.sums[view], 0
        while at < found and part.active[at] < (view + 1) * HALF:
            k = part.active[at]
            total = np.float32(0.0)
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
        for i in range(count):
            row = part.inputs[view, i]
            for n in range(filled):
                gradient.first[row, nodes[n]] += sums[nodes[n]]


@kernel
def move(
    learner: Learner,
    gradients: KernelArg,
    rate: float,
    mean_weight: float,
    square_weight: float,
    share: float,
) -> None:
    """Take a step of Adam with the gradients of the parts, and set them to 0.

    The weights are the shares of what the means hold that comes from gradients; `share` is that of
    an example in a batch.
    """
    genome, mean, square = learner
    for at in range(len(genome)):
        slope = np.float32(0.0)
        for number in range(len(gradients)):
            slope += gradients[number, at]
            gradients[number, at] = 0.0
        slope *= share
        mean[at] += np.float32(1.0 - DECAY_MEAN) * (slope - mean[at])
        square[at] += np.float32(1.0 - DECAY_SQUARE) * (slope * slope - square[at])
        step = mean[at] / mean_weight / (np.sqrt(square[at] / square_weight) + np.float32(EPS))
        genome[at] -= rate * (step + np.float32(WEIGHT_DECAY) * genome[at])
