"""A residual network with a policy and a value, and its search (Silver et al. 2018).

``examples/alphazero.py`` trains it, and here it plays without JAX. A simulation descends to a leaf
by the policy and the values so far (PUCT), and there the network judges the position and its moves.
A multi-jump has the policy of its first jump. The network sees the pieces, and no draw clock.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.evaluator import evaluate
from agents.mcts.tree import (
    backpropagate,
    expand,
    node_position,
    nodes_per_simulation,
    set_node,
    simulate,
)
from checkers_env.actions import STEPS
from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import (
    MAX_ROWS,
    NO_MOVE,
    SQUARES,
    Position,
    generate_successors,
    own_and_opponent,
    to_view,
)

PIECES, NEAR, DIRECTIONS, UNITS = 5, 9, 4, 64
OFF = len(SQUARES)  # no square


def _neighbours() -> NDArray[np.int64]:
    """Return for each square itself and those one or two steps away, shape (32, 9)."""
    squares = {int(bit): square for square, bit in enumerate(SQUARES)}
    once = [[squares.get(bit + step, OFF) for bit in squares] + [OFF] for step in STEPS]
    twice = [[row[square] for square in row] for row in once]
    itself = [*range(OFF + 1)]
    return np.array([itself, *twice[:2], *once, *twice[2:]]).T[:OFF].copy()


NEIGHBOURS = _neighbours()


class PolicyValue(NamedTuple):
    """Evaluator: a network with a policy."""

    weights: NDArray[np.float32]  # of the layers by name, each with its bias before its weights
    channels: int
    blocks: int


def weight_count(channels: int, blocks: int) -> int:
    """Return the number of weights. Raise ValueError for a size that no network has."""
    if not (type(channels) is type(blocks) is int and 1 <= channels <= 512 and 0 <= blocks <= 9):
        raise ValueError(f"channels are 1 to 512 and blocks 0 to 9, not {channels!r}, {blocks!r}")
    heads = DIRECTIONS * (1 + channels) + UNITS * (2 + OFF * channels) + 1
    layer = channels * (1 + NEAR * channels)
    return 2 * blocks * layer + channels * (OFF + NEAR * PIECES) + heads


@kernel
def add_products(inputs: KernelArg, weights: KernelArg, at: int, outputs: KernelArg) -> None:
    """Add the weighted inputs to the outputs; the weights are (inputs, outputs), from `at` on."""
    width = len(outputs)
    for index in range(len(inputs)):
        value = inputs[index]
        if value != 0:
            for output in range(width):
                outputs[output] += value * weights[at + index * width + output]


@kernel
def convolve(source: KernelArg, weights: KernelArg, at: int, target: KernelArg) -> None:
    """Add the weighted inputs near each square, (32, inputs), to its outputs; rectify these."""
    size = source.shape[1] * target.shape[1]
    for square in range(OFF):
        for near in range(NEAR):
            if NEIGHBOURS[square, near] < OFF:
                inputs = source[NEIGHBOURS[square, near]]
                add_products(inputs, weights, at + near * size, target[square])
        target[square] = np.maximum(target[square], np.float32(0))


@kernel
def see_pieces(position: Position) -> KernelArg:
    """Return what the side to move sees: men and kings, own and the opponent's, (32, 5)."""
    planes = np.zeros((OFF, PIECES), np.float32)
    own, opponent = own_and_opponent(position.black, position.white, position.turn)
    for square in range(OFF):
        bit = to_view(SQUARES[square], position.turn)
        king = position.kings >> bit & 1
        planes[square, king] = own >> bit & 1
        planes[square, 2 + king] = opponent >> bit & 1
    return planes


@kernel
def judge(network: KernelArg, position: Position) -> tuple[KernelArg, float]:
    """Return the logits of the actions, (32, 4), and the value for the side to move."""
    weights, channels = network.weights, network.channels
    size = channels * (1 + NEAR * channels)  # of a convolution
    at = 2 * network.blocks * size
    features = weights[at : at + OFF * channels].copy().reshape((OFF, channels))
    convolve(see_pieces(position), weights, at + OFF * channels, features)
    at += (OFF + NEAR * PIECES) * channels
    inner = np.empty_like(features)
    for block in range(network.blocks):
        first, last = 2 * block * size, (2 * block + 1) * size
        inner[:] = weights[first : first + channels]
        convolve(features, weights, first + channels, inner)
        features += weights[last : last + channels]
        convolve(inner, weights, last + channels, features)
    logits = np.empty((OFF, DIRECTIONS), np.float32)
    logits[:] = weights[at : at + DIRECTIONS]
    at += DIRECTIONS
    for square in range(OFF):
        add_products(features[square], weights, at, logits[square])
    at += DIRECTIONS * channels
    hidden = weights[at : at + UNITS].copy()
    add_products(features.ravel(), weights, at + UNITS, hidden)
    at += UNITS * (1 + OFF * channels)
    total = weights[at : at + 1].copy()
    add_products(np.maximum(hidden, np.float32(0)), weights, at + 1, total)
    return logits, math.tanh(total[0])


@evaluate.register(PolicyValue)
def evaluate_policy_value(
    network: PolicyValue, position: Position, view: int, state: KernelArg, scratch: KernelArg
) -> float:
    value = judge(network, position)[1]
    return value if view == position.turn else -value


@kernel
def first_action(packed: int, side: int) -> tuple[int, int]:
    """Return the square and the direction of a packed move's first step, as `side` sees it."""
    while packed >= 2 * NO_MOVE << 12:
        packed >>= 6
    start, end = to_view(packed >> 6 & 63, side), to_view(packed & 63, side)
    step = end - start
    return start - start // 9, 2 * (step < 0) + (step % 5 == 0)


@kernel
def set_priors(tree: KernelArg, parent: int, logits: KernelArg, side: int) -> None:
    """Share a probability of 1 among the children of a node."""
    total = 0.0
    for child in range(tree[parent].begin, tree[parent].end):
        square, index = first_action(tree[child].path, side)
        tree[child].prior = math.exp(logits[square, index])
        total += tree[child].prior
    for child in range(tree[parent].begin, tree[parent].end):
        tree[child].prior /= total


@kernel
def select_by_prior(tree: KernelArg, parent: int, exploration: float) -> int:
    """Return the child with the highest bound; one without visits has its parent's value."""
    node, best, chosen = tree[parent], -math.inf, 0
    scale = exploration * math.sqrt(node.visits)
    for child in range(node.begin, node.end):
        visits = tree[child].visits
        mean = tree[child].total / visits if visits else -node.total / node.visits
        bound = mean + scale * tree[child].prior / (1 + visits)
        if bound > best:
            best, chosen = bound, child
    return chosen


@nodes_per_simulation.register(PolicyValue)
def _policy_nodes_per_simulation(network: PolicyValue) -> int:
    return 16


@simulate.register(PolicyValue)
def _simulate_by_policy(
    network: PolicyValue,
    player: KernelArg,
    position: Position,
    tree: KernelArg,
    ws: KernelArg,
    count: int,
    chance: KernelArg,
) -> int:
    set_node(tree, 0, position.black, position.white, position.kings, 0, 0)
    end = 1
    for _ in range(player.simulations + 1):  # the first one expands the root
        at = depth = 0
        while tree[at].begin < tree[at].end:
            at, depth = select_by_prior(tree, at, player.exploration), depth + 1
        black, white, kings, side = here = node_position(tree[at], position.turn ^ (depth & 1))
        first = count if at else 0
        last = generate_successors(ws.rows, first, black, white, kings, side)
        value = -1.0
        if last > first:
            logits, value = judge(network, here)
            if end + MAX_ROWS <= len(tree):
                end = expand(tree, at, end, ws.rows, first, last)
                set_priors(tree, at, logits, side)
        backpropagate(tree, at, -value)
        if ws.stop[0]:
            break
    return end
