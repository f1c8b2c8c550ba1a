"""Search tree of simulations: UCT (Kocsis & Szepesvari 2006).

A simulation selects a leaf by upper confidence bounds, plays on from it at random, and adds the
result to all nodes on its way. A leaf is expanded at its second visit.

"The random simulation of games are skewed such that more reasonable moves are chosen" (Nguyen,
III.B). Here a move is, with a given probability, the best one of the hand-made heuristic.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from agents.baselines.heuristic import Heuristic, move_score
from agents.evaluator import evaluate, start_state, state_size
from checkers_env.bits import borrowed, popcount
from checkers_env.jit import KernelArg, generic, kernel, refuse_nan
from checkers_env.movegen import (
    BLACK,
    BLACK_BOARD,
    BOARD,
    KING_ROWS,
    KINGS,
    MAX_ROWS,
    PACKED_MOVE,
    WHITE_BOARD,
    Position,
    can_jump,
    count_steps,
    direction,
    first_piece,
    generate_captures,
    generate_successors,
    has_move,
    own_and_opponent,
    shift,
    successor,
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
        ("prior", "f8"),  # probability by the policy of the evaluator, if it has one
    ]
)
LARGEST_TREE = 1 << 21  # nodes: 168 MB; in a full tree no leaf is expanded
_MIN_DEVIATION = 1e-3
HEURISTIC = Heuristic()
CARRY_MULTIPLIER = 698769069  # multiplier of Marsaglia's KISS (1999); the period is about 2^60
SEEDS = CARRY_MULTIPLIER << 32  # a generator's state is one number from 1 to below this
_ONE = 1 << 30


@kernel
def grow_tree(
    player: KernelArg, position: Position, ws: KernelArg, count: int, rng: KernelArg
) -> KernelArg:
    """Run a player's simulations from a position, and return their tree, NODE[:], the root first.

    Rows 0 to `count` of `ws` hold the successors. After its stop flag is set, the present
    simulation is the last. `rng` is sampled once.
    """
    nodes = nodes_per_simulation(player.evaluator) * player.simulations
    size = min(nodes, LARGEST_TREE) + MAX_ROWS
    tree, chance = np.empty(size, NODE), np.empty(1, np.int64)
    chance[0] = rng.integers(1, SEEDS)
    arguments = position, borrowed(tree), borrowed(ws), count, chance
    end = simulate(player.evaluator, player, *arguments)
    return tree[:end]


@generic
def nodes_per_simulation(evaluator: KernelArg) -> int:
    """Return the size of a tree; in games half of it is used."""
    return 4


@partial(generic, inline=False)
def simulate(
    evaluator: KernelArg,
    player: KernelArg,
    position: Position,
    tree: KernelArg,
    ws: KernelArg,
    count: int,
    chance: KernelArg,
) -> int:
    """Run the simulations of a player with this evaluator: UCT, if it registers nothing else.

    Fill `tree` from node 0 on, and return the number of nodes.
    """
    set_node(tree, 0, position.black, position.white, position.kings, 0, 0)
    end = expand(tree, 0, 1, ws.rows, 0, count)
    squares = 0.0
    for _ in range(player.simulations):
        exploration = player.exploration * result_deviation(tree[0], squares)
        at = depth = 0
        while tree[at].begin < tree[at].end:
            at, depth = select_child(tree, at, exploration), depth + 1
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


@kernel
def random_below(chance: KernelArg, bound: int) -> int:
    """Return a random number below a bound, 1 to 2^30, by a multiply-with-carry generator.

    It is several times faster than numpy's generator. Its state, int64[1], is never negative, so
    plain Python returns the same numbers.
    """
    low = chance[0] & 0xFFFFFFFF
    chance[0] = CARRY_MULTIPLIER * low + (chance[0] >> 32)
    return low * bound >> 32


@kernel
def apply_step(position: Position, index: int) -> Position:
    """Make step number `index`, in the order of ``checkers_env.movegen.generate_steps``."""
    side, kings = position.turn, position.kings
    own, opponent = own_and_opponent(position.black, position.white, side)
    empty = BOARD & ~(own | opponent)
    turn, pieces, step = 0, 0, 0
    while True:
        step = direction(turn, side)
        pieces = (own if turn < 2 else own & kings) & shift(empty, -step)
        count = popcount(pieces)
        if index < count:
            break
        index -= count
        turn += 1
    for _ in range(index):
        pieces ^= 1 << first_piece(pieces, side)
    piece = 1 << first_piece(pieces, side)
    moved = piece | shift(piece, step)
    kings ^= moved if kings & piece else moved & KING_ROWS[side]
    if side == BLACK:
        return Position(position.black ^ moved, position.white, kings, 1 - side)
    return Position(position.black, position.white ^ moved, kings, 1 - side)


@kernel
def random_successor(position: Position, rows: KernelArg, at: int, chance: KernelArg) -> Position:
    """Make a random legal move, if there is one; rows from `at` on are scratch space."""
    black, white, kings, side = position
    own, opponent = own_and_opponent(black, white, side)
    if can_jump(own, opponent, kings, side):
        end = generate_captures(rows, at, own, opponent, kings, side)
        return successor(rows[at + random_below(chance, end - at)], side)
    count = count_steps(own, opponent, kings, side)
    return apply_step(position, random_below(chance, count)) if count else position


@kernel
def heuristic_successor(
    position: Position, rows: KernelArg, at: int, chance: KernelArg
) -> Position:
    """Make a random one of the moves that the heuristic scores highest, if there is one."""
    black, white, kings, side = position
    end = generate_successors(rows, at, black, white, kings, side)
    best, equals, chosen = -1.0, 0, at
    for row in range(at, end):
        score = move_score(HEURISTIC, position, rows[row])
        if score > best:
            best, equals = score, 0
        if score == best:
            equals += 1
            if random_below(chance, equals) == 0:
                chosen = row
    return successor(rows[chosen], side) if end > at else position


@kernel
def playout(
    player: KernelArg,
    position: Position,
    root: int,
    limit: int,
    ws: KernelArg,
    at: int,
    chance: KernelArg,
) -> float:
    """Simulate a game from a position; return its result or evaluation for side `root`, -1 to +1.

    After `limit` plies the game is a draw. Rows of `ws` from `at` on are scratch space.
    """
    cut = 0 < player.cut <= limit
    for _ in range(player.cut if cut else limit):
        if player.skew > 0 and random_below(chance, _ONE) < player.skew * _ONE:
            after = heuristic_successor(position, ws.rows, at, chance)
        else:
            after = random_successor(position, ws.rows, at, chance)
        if after.turn == position.turn:
            break
        position = after
    if not has_move(position):
        return -1.0 if position.turn == root else 1.0
    return evaluate_playout(player, position, root, ws) if cut else 0.0


@kernel
def evaluate_playout(player: KernelArg, position: Position, root: int, ws: KernelArg) -> float:
    """Return the evaluation of the position where a playout is cut (Lorentz 2016; Nguyen III.B)."""
    view = root if player.root_perspective else position.turn
    state = ws.states[0, view, : state_size(player.evaluator)]
    start_state(player.evaluator, position, view, state)
    value = float(evaluate(player.evaluator, position, view, state, ws.scratch))
    if np.isnan(value):
        refuse_nan(player.evaluator)
    return value if view == root else -value
