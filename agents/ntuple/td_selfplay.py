"""Self-play of a TD learner."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from agents.match_kernel import DRAW, SelfPlayStats, play
from agents.ntuple.td import ALPHA, ERRORS, STEPS, TDConfig, TDLearner, td_learner, update
from agents.search.interrupt import defer_signals
from agents.search.workspace import workspace
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
)
from checkers_env.state import MAX_MOVES, RULES, DrawRules


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
    if games < 0 or first < 0:
        raise ValueError(f"games and first are 0 or more, not {games} and {first}")
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
