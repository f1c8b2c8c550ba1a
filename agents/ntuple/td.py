"""Temporal-difference learning of an n-tuple system in self-play (Al-Khateeb 2011, 6.7 and 6.9).

After each move, for every entry w that the position x before it refers to (equations 6.2, 6.3):

    w += alpha * (v(x') - v(x)) * (1 - v(x)^2)

where x' is the position after it; when x' ends the game the result stands in place of v(x').
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from agents.alphabeta import AlphaBeta
from agents.choose import choose, uses_chance
from agents.evaluate import advance_state, evaluate, start_state
from agents.ntuple.ntuple import NTuple, total
from agents.play import DRAW, DrawRules, play
from agents.workspace import MAX_DEPTH, workspace
from checkers_env.bits import borrowed
from checkers_env.jit import kernel
from checkers_env.rules import (
    BLACK,
    BLACK_BOARD,
    KINGS,
    PATH,
    ROW_WIDTH,
    START_BLACK,
    START_WHITE,
    WHITE,
    WHITE_BOARD,
    Position,
    can_move,
)

WON = 1e9  # more than any sum of entries
REMEMBERED, CHOSEN = 0, 1  # counters of a game: positions that can still be learnt about; moves
ALPHA, ERRORS, STEPS = 0, 1, 2  # sums: this game's alpha, absolute errors, how many


class Learning(NamedTuple):
    """How to learn; the defaults are the thesis's (alpha the best of its three).

    alpha: step size of the first game; it is alpha * h / (h + g) in game g (from 0) when `half_at`
    is h, and constant when that is 0. lam: lambda, by how much the step for a position shrinks with
    each ply since it (0: the position before the move only). epsilon: how often a move is any at
    all; nothing is learnt from such a move or across it. random_plies: how many plies of each game,
    after its opening, are so. depth: 0, the successors of a position are compared as they stand; 1
    to 64, they are searched to that many plies, captures played out.
    """

    alpha: float = 0.001
    half_at: float = 0.0
    lam: float = 0.0
    epsilon: float = 0.0
    random_plies: int = 0
    depth: int = 0


class Tally(NamedTuple):
    """What came of some games: how they ended, their plies, and the updates of the weights."""

    black_wins: int
    white_wins: int
    draws: int
    plies: int
    updates: int
    mean_error: float  # of |v(x') - v(x)|


class Learner(NamedTuple):
    """A player of both sides that learns as it plays; made by :func:`learner` only."""

    system: NTuple
    learning: Learning
    visited: Any  # int32[views, plies, tuples]: indices of the remembered positions
    slopes: Any  # float64[views, plies]: 1 - v^2, when it was visited
    values: Any  # float64[views]: v of the last of them
    counters: Any  # int64[2]
    sums: Any  # float64[3]


def learner(system: NTuple, learning: Learning, plies: int) -> Learner:
    """A learner for games of at most so many plies. Raises ValueError for impossible settings.

    A system that reads the board by colour learns v from Black's side; one that reads it from
    the viewer's side learns each game as both sides see it.
    """
    alpha, half_at, lam, epsilon, random_plies, depth = learning
    if not 0 < alpha <= 1:
        raise ValueError(f"alpha is above 0 and at most 1, not {alpha!r}")
    if not (0 <= lam <= 1 and 0 <= epsilon <= 1):
        raise ValueError(f"lambda and epsilon are from 0 to 1, not {lam!r} and {epsilon!r}")
    if not (0 <= half_at < np.inf and random_plies >= 0):
        raise ValueError(f"half_at and random_plies are 0 or more: {half_at!r}, {random_plies!r}")
    if not 0 <= depth <= MAX_DEPTH:
        raise ValueError(f"the depth of learning is 0 to {MAX_DEPTH}, not {depth!r}")
    views = 1 if system.by_colour else 2
    coerced = (float(alpha), float(half_at), float(lam), float(epsilon))
    return Learner(
        system,
        Learning(*coerced, int(random_plies), int(depth)),
        np.zeros((views, plies + 1, len(system.empty)), np.int32),
        np.zeros((views, plies + 1)),
        np.zeros(views),
        np.zeros(2, np.int64),
        np.zeros(3),
    )


def learn(
    system: NTuple,
    games: int,
    rng: np.random.Generator,
    learning: Learning = Learning(),  # noqa: B008 - immutable
    *,
    openings: Any = None,
    rules: DrawRules = DrawRules(),  # noqa: B008 - immutable
    first: int = 0,
) -> Tally:
    """Play games against oneself, and change the table of `system` in place.

    Parameters
    ----------
    rng
        Decides between equal moves, and on whatever else is left to chance. The same generator
        for all calls makes several calls the same as one.
    openings
        int64[n, plies]: paths from the start position, padded with 0 (as
        ``agents.match.opening_line`` has them); each game begins with a random row.
    first
        How many games were played before, on which alpha may depend.

    Raises ValueError for impossible settings.
    """
    if games < 0 or first < 0:
        raise ValueError(f"games and first are 0 or more, not {games} and {first}")
    if rules.max_moves < 1:
        raise ValueError("games to learn from need a greatest number of moves, 1 or more")
    openings = np.zeros((1, 0)) if openings is None else np.asarray(openings)
    if openings.ndim != 2 or not len(openings) or openings.shape[1] > 2 * rules.max_moves:
        raise ValueError("openings are a matrix: a row of paths for each, shorter than a game")
    student = learner(system, learning, 2 * rules.max_moves)
    lines = np.ascontiguousarray(openings, np.int64)
    return Tally(*play_games(student, games, first, lines, rules, workspace(), rng))


@kernel
def play_games(
    learner: Learner, games: int, first: int, openings: Any, rules: DrawRules, ws: Any, rng: Any
) -> Tally:
    """Play `games` games with both sides played by the learner."""
    learner, ws, openings = borrowed(learner), borrowed(ws), borrowed(openings)
    learning, sums, wins = learner.learning, learner.sums, np.zeros(3, np.int64)
    start = Position(START_BLACK, START_WHITE, 0, BLACK)
    history = np.zeros((2 * rules.max_moves + 2, ROW_WIDTH), np.int64)
    longest, plies = openings.shape[1], 0
    for game in range(first, first + games):
        half_at = learning.half_at
        sums[ALPHA] = learning.alpha * (half_at / (half_at + game) if half_at else 1.0)
        line = rng.integers(0, len(openings)) if len(openings) > 1 else 0
        history[1 : longest + 1, PATH] = openings[line]
        history[longest + 1, PATH] = 0
        result = play(learner, learner, ws, ws, start, rules, False, rng, history)
        finish(learner, result.winner)
        wins[result.winner] += 1
        plies += result.plies
    steps = int(sums[STEPS])
    return Tally(wins[BLACK], wins[WHITE], wins[DRAW], plies, steps, sums[ERRORS] / max(steps, 1))


@kernel
def finish(learner: Learner, winner: int) -> None:
    """Learn from the result of a game, and forget the game."""
    for view in range(len(learner.values)):
        reward = 0.0
        if winner != DRAW:
            reward = 1.0 if winner == view else -1.0
        correct(learner, view, reward)
    learner.counters[:] = 0


@uses_chance.register(Learner)
def breaks_ties(learner: Learner) -> bool:
    return True


@choose.register(Learner)
def choose_and_learn(
    learner: Learner, position: Position, ws: Any, count: int, owner: int, rng: Any
) -> int:
    """Learn from the move that led here, then choose the next one."""
    observe(learner, position, ws)
    learning, counters = learner.learning, learner.counters
    counters[CHOSEN] += 1
    explores = counters[CHOSEN] <= learning.random_plies
    if not explores and learning.epsilon > 0.0:
        explores = rng.random() < learning.epsilon
    if explores:
        counters[REMEMBERED] = 0
        return ws.rows[rng.integers(0, count), PATH]
    if learning.depth == 0:
        return best_successor(learner.system, position, ws, count, rng)
    ws.counts[2] += 1  # the weights have changed, and with them what the search's table says
    searcher = AlphaBeta(learner.system, learning.depth, True, True)
    return choose(searcher, position, ws, count, ws.counts[2] << 1 | position.turn, rng)


@kernel
def observe(learner: Learner, position: Position, ws: Any) -> None:
    """Learn that the last position has led to this one, and remember this one."""
    at, targets = learner.counters[REMEMBERED], ws.scratch[8:]  # tanh works on the first eight
    for view in range(len(learner.values)):
        state = learner.visited[view, at]
        start_state(learner.system, position, view, state)
        targets[view] = evaluate(learner.system, position, view, state, ws.scratch)
    for view in range(len(learner.values)):
        correct(learner, view, targets[view])
    for view in range(len(learner.values)):
        state = learner.visited[view, at]
        value = float(evaluate(learner.system, position, view, state, ws.scratch))
        learner.values[view] = value
        learner.slopes[view, at] = 1.0 - value * value
    learner.counters[REMEMBERED] += 1


@kernel
def correct(learner: Learner, view: int, target: float) -> None:
    """Move the value of the last remembered position, and of those before it, to the target."""
    last, table = learner.counters[REMEMBERED] - 1, learner.system.table
    if last < 0:
        return
    error = target - learner.values[view]
    learner.sums[ERRORS] += abs(error)
    learner.sums[STEPS] += 1.0
    factor = learner.sums[ALPHA] * error
    for ply in range(last, -1, -1):
        step = factor * learner.slopes[view, ply]
        for index in learner.visited[view, ply]:
            table[index] += step
        factor *= learner.learning.lam
        if factor == 0.0:
            return


@kernel
def best_successor(system: NTuple, position: Position, ws: Any, count: int, rng: Any) -> int:
    """The path to the successor worth most to the mover before tanh, by lot among equals."""
    if count == 1:
        return ws.rows[0, PATH]
    mover, width = position.turn, len(system.empty)
    old, new = ws.states[0, mover, :width], ws.states[1, mover, :width]
    start_state(system, position, mover, old)
    best, equals, path = -np.inf, 0, 0
    for row in range(count):
        after = Position(
            ws.rows[row, BLACK_BOARD], ws.rows[row, WHITE_BOARD], ws.rows[row, KINGS], 1 - mover
        )
        own, opponent = after.black, after.white
        if mover == BLACK:
            own, opponent = opponent, own
        worth = WON
        if can_move(own, opponent, after.kings, after.turn):
            advance_state(system, position, after, mover, old, new)
            worth = total(system, after, mover, new)
        equals = 1 if worth > best else equals + (worth == best)
        if worth > best or (worth == best and rng.integers(0, equals) == 0):
            best, path = worth, ws.rows[row, PATH]
    return path
