"""Search tree of simulations: UCT (Kocsis & Szepesvari 2006).

A simulation selects a leaf by upper confidence bounds, plays on from it at random, and adds the
result to all nodes on its way. A leaf is expanded at its second visit.
"""

from __future__ import annotations

import math

import numpy as np

from agents.mcts.playout import SEEDS, playout
from checkers_env.bits import borrowed
from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import (
    BLACK_BOARD,
    KINGS,
    MAX_ROWS,
    PACKED_MOVE,
    WHITE_BOARD,
    Position,
    generate_successors,
)

NODE = np.dtype(
    [
        ("black", "i8"),
        ("white", "i8"),
        ("kings", "i8"),
        ("path", "i8"),  # packed move that led here
        ("parent", "i8"),
        ("begin", "i8"),  # first child; begin == end for a leaf
        ("end", "i8"),
        ("visits", "i8"),
        ("total", "f8"),  # sum of the results, for the side that moved here
    ]
)
NODES_PER_SIMULATION = 4  # in games a tree takes about 2
LARGEST_TREE = 1 << 21  # nodes: 150 MB; in a full tree no leaf is expanded
_MIN_DEVIATION = 1e-3


@kernel
def grow_tree(
    player: KernelArg, position: Position, ws: KernelArg, count: int, rng: KernelArg
) -> KernelArg:
    """Run a player's simulations from a position, and return their tree, NODE[:], the root first.

    Rows 0 to `count` of `ws` hold the successors. After its stop flag is set, the present
    simulation is the last. `rng` is sampled once.
    """
    size = min(NODES_PER_SIMULATION * player.simulations, LARGEST_TREE) + MAX_ROWS
    tree, chance = np.empty(size, NODE), np.empty(1, np.int64)
    chance[0] = rng.integers(1, SEEDS)
    end = simulate(player, position, borrowed(tree), borrowed(ws), count, chance)
    return tree[:end]


@kernel
def simulate(
    player: KernelArg,
    position: Position,
    tree: KernelArg,
    ws: KernelArg,
    count: int,
    chance: KernelArg,
) -> int:
    """Run the simulations of a player (UCT: Kocsis & Szepesvari 2006).

    Fill `tree` from node 0 on, and return the number of nodes.
    """
    set_node(tree, 0, position.black, position.white, position.kings, 0, 0)
    end = expand(tree, 0, 1, ws.rows, 0, count)
    squares = 0.0
    for _ in range(player.simulations):
        exploration = player.exploration * result_deviation(tree[0], squares)
        at, depth = select_leaf(tree, exploration)
        here = node_position(tree[at], position.turn ^ (depth & 1))
        if tree[at].visits and depth < player.max_plies and end + MAX_ROWS <= len(tree):
            black, white, kings, side = here
            last = generate_successors(ws.rows, count, black, white, kings, side)
            if last > count:
                at, depth, end = end, depth + 1, expand(tree, at, end, ws.rows, count, last)
                here = node_position(tree[at], 1 - side)
        limit = player.max_plies - depth
        result = playout(player, here, position.turn, limit, ws, count, chance)
        squares += result * result
        backpropagate(tree, at, result if depth & 1 else -result)
        if ws.stop[0]:
            break
    return end


@kernel
def node_position(node: KernelArg, turn: int) -> Position:
    """Return the position of a node, `turn` to move."""
    return Position(node.black, node.white, node.kings, turn)


@kernel
def set_node(
    tree: KernelArg, at: int, black: int, white: int, kings: int, path: int, parent: int
) -> None:
    """Write a leaf without visits."""
    node = tree[at]
    node.black, node.white, node.kings, node.path = black, white, kings, path
    node.parent, node.begin, node.end, node.visits, node.total = parent, 0, 0, 0, 0.0


@kernel
def expand(tree: KernelArg, parent: int, end: int, rows: KernelArg, first: int, last: int) -> int:
    """Append rows `first` to `last` as children of a node; return the new number of nodes."""
    tree[parent].begin, tree[parent].end = end, end + last - first
    for index in range(first, last):
        row = rows[index]
        black, white, kings = row[BLACK_BOARD], row[WHITE_BOARD], row[KINGS]
        set_node(tree, end, black, white, kings, row[PACKED_MOVE], parent)
        end += 1
    return end


@kernel
def select_leaf(tree: KernelArg, exploration: float) -> tuple[int, int]:
    """Follow the selected children from the root to a leaf; return its index and depth."""
    at, depth = 0, 0
    while tree[at].begin < tree[at].end:
        at = select_child(tree, at, exploration)
        depth += 1
    return at, depth


@kernel
def select_child(tree: KernelArg, parent: int, exploration: float) -> int:
    """Return the child with the highest upper confidence bound, or the first without visits."""
    log_visits = math.log(tree[parent].visits + 1)
    best, chosen = -math.inf, 0
    for child in range(tree[parent].begin, tree[parent].end):
        visits = tree[child].visits
        if visits == 0:
            return child
        bound = tree[child].total / visits + exploration * math.sqrt(log_visits / visits)
        if bound > best:
            best, chosen = bound, child
    return chosen


@kernel
def result_deviation(root: KernelArg, squares: float) -> float:
    """Return the standard deviation of the results so far, above 0; 1 before the first result."""
    if root.visits == 0:
        return 1.0
    mean = root.total / root.visits
    return max(math.sqrt(max(squares / root.visits - mean * mean, 0.0)), _MIN_DEVIATION)


@kernel
def backpropagate(tree: KernelArg, at: int, result: float) -> None:
    """Add a result, for the side that moved to node `at`, to all nodes from there to the root."""
    while True:
        tree[at].visits += 1
        tree[at].total += result
        if at == 0:
            return
        at, result = tree[at].parent, -result


@kernel
def most_visited(tree: KernelArg, parent: int) -> int:
    """Return the most visited child of a node; of equal ones the best mean, then the first."""
    best = tree[parent].begin
    for child in range(best + 1, tree[parent].end):
        more = tree[child].visits - tree[best].visits
        if more > 0 or (more == 0 and tree[child].total > tree[best].total):
            best = child
    return best


@kernel
def most_visited_move(tree: KernelArg) -> int:
    """Return the packed move to the root's most visited child.

    This is a function of its own because its caller must hold the tree. Numba frees an array after
    its last use, and a record of it does not count as one.
    """
    return tree[most_visited(tree, 0)].path
