"""A player of both sides that learns by temporal differences as it plays.

Al-Khateeb 2011, 6.7 and 6.9. After each move, for every weight w (equations 6.2, 6.3; for an
n-tuple system, every entry that the position x before the move refers to):

    w += alpha * (v(x') - v(x)) * (1 - v(x)^2) * (what a unit of w adds to the sum in x)

where x' is the position after it; when x' ends the game the result stands in place of v(x'). In
TD-leaf (Baxter, Tridgell and Weaver 1998), x and x' are not the positions of the game but the last
ones of the principal variations of searches from them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from agents.endgame.probe import NO_TABLEBASE
from agents.evaluator import (
    adjust,
    advance_state,
    evaluate,
    one_view,
    start_state,
    state_size,
    total,
)
from agents.match_kernel import validate_self_play
from agents.player import is_stochastic, select_move
from agents.search.player import AlphaBeta, shuffle
from agents.search.pv import principal_variation
from agents.search.selective import FULL_WIDTH
from agents.search.workspace import MAX_DEPTH, PLIES, STATE_WIDTH
from checkers_env.bits import borrowed
from checkers_env.jit import kernel
from checkers_env.movegen import PACKED_MOVE, ROW_WIDTH, Position, has_move, successor

WON = 1e9  # more than any weighted sum
REMEMBERED, CHOSEN = 0, 1  # counters of a game: positions that can still be learnt about; moves
ALPHA, ERRORS, STEPS = 0, 1, 2  # sums: this game's alpha, absolute errors, how many


class Learning(NamedTuple):
    """How to learn; the defaults are the thesis's (alpha the best of its three).

    alpha: step size of the first game; it is alpha * h / (h + g) in game g (from 0) when `half_at`
    is h, and constant when that is 0. lam: lambda, by how much the step for a position shrinks with
    each ply since it (0: the position before the move only). epsilon: how often a move is any at
    all; nothing is learnt from such a move or across it. random_plies: how many plies of each game,
    after its opening, are so. depth: 0, the successors of a position are compared as they stand; 1
    to 64, they are searched to that many plies, captures played out. leaf: learn about the end of
    the principal variation (TD-leaf), which takes a search.
    """

    alpha: float = 0.001
    half_at: float = 0.0
    lam: float = 0.0
    epsilon: float = 0.0
    random_plies: int = 0
    depth: int = 0
    leaf: bool = False


class Learner(NamedTuple):
    """Made by :func:`learner` only."""

    system: Any
    learning: Learning
    visited: Any  # int32[views, plies, state]: states of the remembered positions
    slopes: Any  # float64[views, plies]: 1 - v^2, when it was visited
    values: Any  # float64[views]: v of the last of them
    targets: Any  # float32[views]: v of the one that is about to be remembered
    line: Any  # int64[PLIES, 4]: the principal variation
    counters: Any  # int64[2]
    sums: Any  # float64[3]


def learner(system: Any, learning: Learning, plies: int) -> Learner:
    """A learner for games of at most so many plies. Raises ValueError for impossible settings.

    `system` is an evaluator that :mod:`agents.evaluator` knows. One in which White's worth is the
    negative of Black's learns v from Black's side; another learns each game as both sides see it.
    """
    alpha, half_at, lam, epsilon, random_plies, depth, leaf = learning
    if not 0 < alpha <= 1:
        raise ValueError(f"alpha is above 0 and at most 1, not {alpha!r}")
    validate_self_play(lam, epsilon, random_plies)
    if not 0 <= half_at < np.inf:
        raise ValueError(f"half_at is 0 or more, not {half_at!r}")
    if not 0 <= depth <= MAX_DEPTH:
        raise ValueError(f"the depth of learning is 0 to {MAX_DEPTH}, not {depth!r}")
    if leaf and not (depth and one_view(system)):
        raise ValueError("TD-leaf takes a depth of 1 or more, and a system that reads by colour")
    views, width = 1 if one_view(system) else 2, state_size(system)
    if width > STATE_WIDTH:
        raise ValueError("the evaluator's state is larger than a workspace has room for")
    coerced = (float(alpha), float(half_at), float(lam), float(epsilon))
    return Learner(
        system,
        Learning(*coerced, int(random_plies), int(depth), bool(leaf)),
        np.zeros((views, plies + 1, width), np.int32),
        np.zeros((views, plies + 1)),
        np.zeros(views),
        np.zeros(views, np.float32),
        np.zeros((PLIES, ROW_WIDTH), np.int64),
        np.zeros(2, np.int64),
        np.zeros(3),
    )


@is_stochastic.register(Learner)
def breaks_ties(learner: Learner) -> bool:
    return True


@select_move.register(Learner)
def choose_and_learn(
    learner: Learner, position: Position, ws: Any, count: int, tt_namespace: int, rng: Any
) -> int:
    """Learn from the move that led here, and choose the next one.

    The choice is made with the new weights; in TD-leaf by the search that found the leaf, before.
    """
    learner, ws = borrowed(learner), borrowed(ws)
    learning, counters, best = learner.learning, learner.counters, 0
    about = position
    if learning.leaf:
        shuffle(ws.rows, count, rng)
        about = principal_leaf(learner, position, ws, count)
        best = learner.line[0, PACKED_MOVE]
    observe(learner, about, ws)
    counters[CHOSEN] += 1
    explores = counters[CHOSEN] <= learning.random_plies
    if not explores and learning.epsilon > 0.0:
        explores = rng.random() < learning.epsilon
    if explores:
        counters[REMEMBERED] = 0
        return ws.rows[rng.integers(0, count), PACKED_MOVE]
    if learning.leaf:
        return best
    if learning.depth == 0:
        return best_successor(learner.system, position, ws, count, rng)
    searcher = AlphaBeta(learner.system, learning.depth, True, True, FULL_WIDTH, NO_TABLEBASE)
    return select_move(searcher, position, ws, count, renewed(ws, position.turn), rng)


@kernel
def renewed(ws: Any, side: int) -> int:
    """A new owner: the weights have changed, and with them what the search's table says."""
    ws.counts[2] += 1
    return ws.counts[2] << 1 | side


@kernel
def principal_leaf(learner: Learner, position: Position, ws: Any, count: int) -> Position:
    """Where the principal variation ends."""
    depth, tt_namespace, line = learner.learning.depth, renewed(ws, position.turn), learner.line
    length = principal_variation(
        FULL_WIDTH, learner.system, position, depth, True, tt_namespace, ws, count, line
    )
    return successor(line[length - 1], position.turn ^ (length - 1 & 1))


@kernel
def observe(learner: Learner, position: Position, ws: Any) -> None:
    """Learn that the last remembered position has led to this one, and remember this one."""
    at, targets = learner.counters[REMEMBERED], learner.targets
    for view in range(len(learner.values)):
        start_state(learner.system, position, view, learner.visited[view, at])
        targets[view] = worth(learner, position, view, ws.scratch)
    for view in range(len(learner.values)):
        correct(learner, view, targets[view])
    for view in range(len(learner.values)):
        value = np.float32(worth(learner, position, view, ws.scratch))
        learner.values[view] = value
        learner.slopes[view, at] = 1.0 - value * value
    learner.counters[REMEMBERED] += 1


@kernel
def worth(learner: Learner, position: Position, view: int, scratch: Any) -> float:
    """v of the position that is about to be remembered: of a leaf, it may be the result."""
    if learner.learning.leaf and not has_move(position):
        return 1.0 if view != position.turn else -1.0
    state = learner.visited[view, learner.counters[REMEMBERED]]
    return evaluate(learner.system, position, view, state, scratch)


@kernel
def correct(learner: Learner, view: int, target: float) -> None:
    """Move the value of the last remembered position, and of those before it, to the target."""
    last = learner.counters[REMEMBERED] - 1
    if last < 0:
        return
    error = target - learner.values[view]
    learner.sums[ERRORS] += abs(error)
    learner.sums[STEPS] += 1.0
    factor = learner.sums[ALPHA] * error
    for ply in range(last, -1, -1):
        step = factor * learner.slopes[view, ply]
        adjust(learner.system, learner.visited[view, ply], step)
        factor *= learner.learning.lam
        if factor == 0.0:
            return


@kernel
def best_successor(system: Any, position: Position, ws: Any, count: int, rng: Any) -> int:
    """The path to the successor worth most to the mover before tanh, by lot among equals."""
    if count == 1:
        return ws.rows[0, PACKED_MOVE]
    mover, width = position.turn, state_size(system)
    old, new = ws.states[0, mover, :width], ws.states[1, mover, :width]
    start_state(system, position, mover, old)
    best, equals, path = -np.inf, 0, 0
    for row in range(count):
        after = successor(ws.rows[row], mover)
        sum_there = WON
        if has_move(after):
            advance_state(system, position, after, mover, old, new)
            sum_there = total(system, after, mover, new)
        equals = 1 if sum_there > best else equals + (sum_there == best)
        if sum_there > best or (sum_there == best and rng.integers(0, equals) == 0):
            best, path = sum_there, ws.rows[row, PACKED_MOVE]
    return path
