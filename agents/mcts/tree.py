"""The tree of positions that simulations grow: UCT (Kocsis & Szepesvari 2006).

Each simulation follows the most promising moves to a leaf, plays on from there at random, and
counts the result in every position on its way. A leaf gets children at its second visit.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from agents.mcts.playout import SEEDS, playout
from checkers_env.bits import borrowed
from checkers_env.jit import kernel
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
        ("path", "i8"),  # of the move that led here
        ("parent", "i8"),
        ("begin", "i8"),  # of the children; a leaf has none, and begin == end
        ("end", "i8"),
        ("visits", "i8"),
        ("total", "f8"),  # of the results, for the side that moved here
    ]
)
NODES_PER_SIMULATION = 4  # in games a tree takes about 2
LARGEST_TREE = 1 << 21  # 150 MB, touched as it grows; when full, leaves stay leaves
_LEAST_SPREAD = 1e-3


@kernel
def grow(player: Any, position: Position, ws: Any, count: int, rng: Any) -> Any:
    """The tree, NODE[:], of a player's simulations from `position`, which is node 0.

    Parameters
    ----------
    player
        A MonteCarlo.
    ws
        A Workspace whose rows 0 to `count` hold the successors of `position`. When its stop flag
        is set the simulation under way is the last.
    rng
        numpy Generator, drawn from once.
    """
    size = min(NODES_PER_SIMULATION * player.simulations, LARGEST_TREE) + MAX_ROWS
    tree, chance = np.empty(size, NODE), np.empty(1, np.int64)
    chance[0] = rng.integers(1, SEEDS)
    end = simulate(player, position, borrowed(tree), borrowed(ws), count, chance)
    return tree[:end]


@kernel
def simulate(player: Any, position: Position, tree: Any, ws: Any, count: int, chance: Any) -> int:
    """Run the simulations; return the end of the tree's nodes."""
    set_node(tree, 0, position.black, position.white, position.kings, 0, 0)
    end = add_children(tree, 0, 1, ws.rows, 0, count)
    squares = 0.0
    for _ in range(player.simulations):
        exploration = player.exploration * spread(tree[0], squares)
        at, depth = descend(tree, exploration)
        here = position_at(tree[at], position.turn ^ (depth & 1))
        if tree[at].visits and depth < player.max_plies and end + MAX_ROWS <= len(tree):
            black, white, kings, side = here
            last = generate_successors(ws.rows, count, black, white, kings, side)
            if last > count:
                at, depth, end = end, depth + 1, add_children(tree, at, end, ws.rows, count, last)
                here = position_at(tree[at], 1 - side)
        limit = player.max_plies - depth
        result = playout(player, here, position.turn, limit, ws, count, chance)
        squares += result * result
        count_in(tree, at, result if depth & 1 else -result)
        if ws.stop[0]:
            break
    return end


@kernel
def position_at(node: Any, turn: int) -> Position:
    """The position of a node in which `turn` is to move."""
    return Position(node.black, node.white, node.kings, turn)


@kernel
def set_node(
    tree: Any, at: int, black: int, white: int, kings: int, path: int, parent: int
) -> None:
    """Write a leaf without visits."""
    node = tree[at]
    node.black, node.white, node.kings, node.path = black, white, kings, path
    node.parent, node.begin, node.end, node.visits, node.total = parent, 0, 0, 0, 0.0


@kernel
def add_children(tree: Any, parent: int, end: int, rows: Any, first: int, last: int) -> int:
    """Append the positions in rows `first` to `last` as children; return the new end."""
    tree[parent].begin, tree[parent].end = end, end + last - first
    for index in range(first, last):
        row = rows[index]
        black, white, kings = row[BLACK_BOARD], row[WHITE_BOARD], row[KINGS]
        set_node(tree, end, black, white, kings, row[PACKED_MOVE], parent)
        end += 1
    return end


@kernel
def descend(tree: Any, exploration: float) -> tuple[int, int]:
    """The leaf that the most promising moves lead to, and its depth."""
    at, depth = 0, 0
    while tree[at].begin < tree[at].end:
        at = most_promising(tree, at, exploration)
        depth += 1
    return at, depth


@kernel
def most_promising(tree: Any, parent: int, exploration: float) -> int:
    """The child of the highest upper confidence bound; one without visits comes first."""
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
def spread(root: Any, squares: float) -> float:
    """The standard deviation of the results so far, 1 before there are any."""
    if root.visits == 0:
        return 1.0
    mean = root.total / root.visits
    return max(math.sqrt(max(squares / root.visits - mean * mean, 0.0)), _LEAST_SPREAD)


@kernel
def count_in(tree: Any, at: int, result: float) -> None:
    """Add a result, as the side that moved to node `at` sees it, from there up to the root."""
    while True:
        tree[at].visits += 1
        tree[at].total += result
        if at == 0:
            return
        at, result = tree[at].parent, -result


@kernel
def favourite(tree: Any) -> int:
    """The path of the most visited move; of equal ones that of the best mean, then the first."""
    best = tree[0].begin
    for child in range(best + 1, tree[0].end):
        more = tree[child].visits - tree[best].visits
        if more > 0 or (more == 0 and tree[child].total > tree[best].total):
            best = child
    return tree[best].path
