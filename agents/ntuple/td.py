"""Temporal-difference learning: a player of both sides that learns as it plays.

After each move, every weight w is updated (Al-Khateeb 2011, 6.7 and 6.9, equations 6.2 and 6.3):

    w += alpha * (v(x') - v(x)) * (1 - v(x)^2) * (gradient of the logit of x by w)

x is the position before the move and x' the position after it. At the end of a game, the result
stands for v(x'). In an n-tuple network the gradient is 1 for each entry that x reads, 0 elsewhere.

In TD-leaf (Baxter, Tridgell and Weaver 1998), x and x' are the ends of principal variations, of
searches from the positions of the game.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agents.endgame.probe import NO_TABLEBASE
from agents.evaluator import (
    advance_state,
    apply_gradient,
    evaluate,
    is_antisymmetric,
    logit,
    start_state,
    state_size,
)
from agents.match_kernel import DRAW, SelfPlayStats, play
from agents.player import always, is_stochastic, select_move
from agents.search.interrupt import defer_signals
from agents.search.player import AlphaBeta
from agents.search.pv import principal_variation
from agents.search.root_order import BY_DIRECTION, CHANCE, shuffle
from agents.search.selective import FULL_WIDTH
from agents.search.workspace import NAMESPACES, PLIES, STATE_WIDTH, workspace
from checkers_env.bits import borrowed, copy_into
from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import (
    BLACK,
    PACKED_MOVE,
    ROW_WIDTH,
    START_BLACK,
    START_WHITE,
    WHITE,
    Position,
    has_move,
    successor,
)
from checkers_env.state import MAX_MOVES, RULES, DrawRules

WON = 1e9  # more than any logit
PENDING, MOVES = 0, 1  # counters of a game: positions still to learn about, moves chosen
ALPHA, ERRORS, STEPS = 0, 1, 2  # sums: alpha of this game, absolute errors, number of updates


class TDConfig(NamedTuple):
    """Settings of the learner.

    Alpha (the best of three), its constancy and lambda are the thesis's. It leaves the others open
    (6.7): the choice of moves, exploration and openings.
    """

    alpha: float = 0.001  # step size of the first game
    # h: alpha is alpha * h / (h + g) in game g (from 0). 0: alpha is constant.
    half_at: float = 0.0
    # Lambda: factor of the step for each ply that a position lies back. 0: only the position before
    # the move is updated.
    lam: float = 0.0
    # Share of moves chosen at random. Nothing is learnt from them or across them.
    epsilon: float = 0.0
    random_plies: int = 0  # plies of each game, after its opening, that are chosen at random
    # Plies of the search that chooses moves, 1 to 64, captures played out. 0: the successors are
    # compared without a search.
    depth: int = 0
    # TD-leaf: learn about the end of the principal variation. Needs a search.
    leaf: bool = False


class TDLearner(NamedTuple):
    """A learning player for the kernels. Use :func:`td_learner` to make one."""

    system: KernelArg  # the evaluator
    learning: TDConfig
    states: NDArray[np.int32]  # (views, plies, state_size): evaluator states of visited positions
    slopes: NDArray[np.float64]  # (views, plies): 1 - v^2 at the time of the visit
    values: NDArray[np.float64]  # (views,): v of the last visited position
    targets: NDArray[np.float32]  # (views,): v of the position to be visited next
    line: NDArray[np.int64]  # (PLIES, 4): the principal variation
    counters: NDArray[np.int64]  # (2,)
    sums: NDArray[np.float64]  # (3,)


def td_learner(system: KernelArg, learning: TDConfig, plies: int) -> TDLearner:
    """Make a learner for games of at most `plies` plies.

    `system` is an evaluator with the learning generics of :mod:`agents.evaluator`. An antisymmetric
    one learns v from Black's side; another learns each game from both sides.
    """
    kinds = map(type, TDConfig())
    learning = TDConfig._make(kind(value) for kind, value in zip(kinds, learning, strict=True))
    if learning.leaf and not (learning.depth and is_antisymmetric(system)):
        raise ValueError("TD-leaf takes a depth of 1 or more, and a system that reads by colour")
    views, width = 1 if is_antisymmetric(system) else 2, state_size(system)
    if width > STATE_WIDTH:
        raise ValueError("the evaluator's state is larger than a workspace has room for")
    return TDLearner(
        system,
        learning,
        np.zeros((views, plies + 1, width), np.int32),
        np.zeros((views, plies + 1)),
        np.zeros(views),
        np.zeros(views, np.float32),
        np.zeros((PLIES, ROW_WIDTH), np.int64),
        np.zeros(2, np.int64),
        np.zeros(3),
    )


is_stochastic.register(TDLearner)(always)


@select_move.register(TDLearner)
def choose_and_learn(
    learner: TDLearner,
    position: Position,
    ws: KernelArg,
    count: int,
    tt_namespace: int,
    rng: KernelArg,
) -> int:
    """Learn from the last move, and choose the next one.

    The choice uses the new weights; in TD-leaf it is the move of the search that found the leaf.
    """
    learner, ws = borrowed(learner), borrowed(ws)
    learning, counters, best = learner.learning, learner.counters, 0
    about = position
    if learning.leaf:
        shuffle(ws.rows, count, rng)
        about = principal_leaf(learner, position, ws, count)
        best = learner.line[0, PACKED_MOVE]
    learn_transition(learner, about, ws)
    counters[MOVES] += 1
    explores = counters[MOVES] <= learning.random_plies
    if not explores and learning.epsilon > 0.0:
        explores = rng.random() < learning.epsilon
    if explores:
        counters[PENDING] = 0
        return ws.rows[rng.integers(0, count), PACKED_MOVE]
    if learning.leaf:
        return best
    if learning.depth == 0:
        return best_successor(learner.system, position, ws, count, rng)
    searcher = AlphaBeta(
        learner.system, learning.depth, CHANCE, True, FULL_WIDTH, NO_TABLEBASE, BY_DIRECTION
    )
    return select_move(searcher, position, ws, count, renew_namespace(ws, position.turn), rng)


@kernel
def renew_namespace(ws: KernelArg, side: int) -> int:
    """Return a new transposition-table namespace: old entries hold values of the old weights."""
    ws.counts[NAMESPACES] += 1
    return ws.counts[NAMESPACES] << 1 | side


@kernel
def principal_leaf(learner: TDLearner, position: Position, ws: KernelArg, count: int) -> Position:
    """Search and return the end of the principal variation (TD-leaf: Baxter et al. 1998)."""
    depth, line = learner.learning.depth, learner.line
    tt_namespace = renew_namespace(ws, position.turn)
    length = principal_variation(
        FULL_WIDTH, learner.system, position, depth, True, tt_namespace, ws, count, line
    )
    return successor(line[length - 1], position.turn ^ (length - 1 & 1))


@kernel
def learn_transition(learner: TDLearner, position: Position, ws: KernelArg) -> None:
    """Update towards the value of a position (Al-Khateeb 2011, section 6.7), and visit it."""
    at, targets = learner.counters[PENDING], learner.targets
    for view in range(len(learner.values)):
        start_state(learner.system, position, view, learner.states[view, at])
        targets[view] = target_value(learner, position, view, ws.scratch)
    for view in range(len(learner.values)):
        update(learner, view, targets[view])
    for view in range(len(learner.values)):
        value = np.float32(target_value(learner, position, view, ws.scratch))
        learner.values[view] = value
        learner.slopes[view, at] = 1.0 - value * value
    learner.counters[PENDING] += 1


@kernel
def target_value(learner: TDLearner, position: Position, view: int, scratch: KernelArg) -> float:
    """Return v of the position to be visited next; of a leaf it may be the result."""
    if learner.learning.leaf and not has_move(position):
        return 1.0 if view != position.turn else -1.0
    state = learner.states[view, learner.counters[PENDING]]
    return evaluate(learner.system, position, view, state, scratch)


@kernel
def update(learner: TDLearner, view: int, target: float) -> None:
    """Move the values of visited positions to a target (Al-Khateeb 2011, equations 6.2, 6.3)."""
    last = learner.counters[PENDING] - 1
    if last < 0:
        return
    error = target - learner.values[view]
    learner.sums[ERRORS] += abs(error)
    learner.sums[STEPS] += 1.0
    factor = learner.sums[ALPHA] * error
    for ply in range(last, -1, -1):
        step = factor * learner.slopes[view, ply]
        apply_gradient(learner.system, learner.states[view, ply], step)
        factor *= learner.learning.lam
        if factor == 0.0:
            return


@kernel
def best_successor(
    system: KernelArg, position: Position, ws: KernelArg, count: int, rng: KernelArg
) -> int:
    """Return the move to the successor of the highest logit; ties are broken at random."""
    if count == 1:
        return ws.rows[0, PACKED_MOVE]
    mover, width = position.turn, state_size(system)
    old, new = ws.states[0, mover, :width], ws.states[1, mover, :width]
    start_state(system, position, mover, old)
    best, equals, path = -np.inf, 0, 0
    for row in range(count):
        after = successor(ws.rows[row], mover)
        worth = WON
        if has_move(after):
            advance_state(system, position, after, mover, old, new)
            worth = logit(system, after, mover, new)
        equals = 1 if worth > best else equals + (worth == best)
        if worth > best or (worth == best and rng.integers(0, equals) == 0):
            best, path = worth, ws.rows[row, PACKED_MOVE]
    return path


def learn(
    system: KernelArg,
    games: int,
    rng: np.random.Generator,
    learning: TDConfig = TDConfig(),  # noqa: B008 - immutable
    *,
    openings: ArrayLike | None = None,
    rules: DrawRules = DrawRules(),  # noqa: B008 - immutable
    first: int = 0,
) -> SelfPlayStats:
    """Play games of the learner against itself; change the weights of `system` in place.

    Ctrl-C ends the games at once. The weights are then those of an unfinished game.
    """
    lines = np.zeros((1, 0)) if openings is None else np.asarray(openings)
    if lines.ndim != 2 or not len(lines) or lines.shape[1] > rules.max_plies:
        raise ValueError("openings are a matrix: a row of paths for each, shorter than a game")
    student = td_learner(system, learning, rules.max_plies)
    lines = np.ascontiguousarray(lines, np.int64)
    ws = workspace()
    with defer_signals(ws):
        return SelfPlayStats(*play_games(student, games, first, lines, rules.to_array(), ws, rng))


@kernel
def play_games(
    learner: TDLearner,
    games: int,
    first: int,
    openings: KernelArg,
    rules: KernelArg,
    ws: KernelArg,
    rng: KernelArg,
) -> SelfPlayStats:
    """Play the games, or until the stop flag is set; the learner plays both sides."""
    learner, ws, openings = borrowed(learner), borrowed(ws), borrowed(openings)
    learning, sums, wins = learner.learning, learner.sums, np.zeros(3, np.int64)  # from DRAW on
    start = Position(START_BLACK, START_WHITE, 0, BLACK)
    history = np.zeros((2 * rules[MAX_MOVES - RULES] + 2, ROW_WIDTH), np.int64)
    longest, plies = openings.shape[1], 0
    for game in range(first, first + games):
        half_at = learning.half_at
        sums[ALPHA] = learning.alpha * (half_at / (half_at + game) if half_at else 1.0)
        line = rng.integers(0, len(openings)) if len(openings) > 1 else 0
        copy_into(openings[line], history[1 : longest + 1, PACKED_MOVE])
        history[longest + 1, PACKED_MOVE] = 0
        result = play(learner, learner, ws, ws, BLACK, start, rules, False, rng, history)
        if ws.stop[0]:
            break
        finish(learner, result.winner)
        wins[result.winner - DRAW] += 1
        plies += result.plies
    steps = int(sums[STEPS])
    return SelfPlayStats(
        wins[BLACK - DRAW], wins[WHITE - DRAW], wins[0], plies, steps, sums[ERRORS] / max(steps, 1)
    )


@kernel
def finish(learner: TDLearner, winner: int) -> None:
    """Learn from the result of a game, and clear the counters."""
    for view in range(len(learner.values)):
        reward = 0.0
        if winner != DRAW:
            reward = 1.0 if winner == view else -1.0
        update(learner, view, reward)
    learner.counters[:] = 0
