"""Monte Carlo player: pure tree search (MCTS), or with early playout termination (MCTS-EPT).

Pure Monte Carlo tree search plays its simulations to the end of the game. Early playout termination
(Lorentz 2016; Nguyen III.B) cuts them after a few plies and evaluates the position.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from agents.baselines.material import Material
from agents.evaluator import state_size
from agents.mcts.tree import grow_tree, most_visited_move
from agents.player import always, is_stochastic, select_move
from agents.search.workspace import STATE_WIDTH, UNLIMITED
from checkers_env.bits import borrowed
from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import PACKED_MOVE, Position, has_move, successor


class MonteCarlo(NamedTuple):
    """Player by Monte Carlo tree search; made by :func:`monte_carlo` only."""

    evaluator: Any
    simulations: int
    cut: int
    exploration: float
    skew: float
    max_plies: int
    root_perspective: bool


def monte_carlo(
    evaluator: Any = Material(),  # noqa: B008 - immutable
    simulations: int = 1000,
    *,
    cut: int = 6,
    exploration: float = 1.0,
    skew: float = 0.0,
    max_plies: int = 200,
    root_perspective: bool = True,
) -> MonteCarlo:
    """Make a Monte Carlo player; raise ValueError for numbers out of range.

    `simulations` are playouts a move. A playout is evaluated after `cut` plies; 0 plays to the end
    of the game, which is a draw `max_plies` from the root. `exploration` is the constant of the
    upper confidence bound, in standard deviations of the results so far, so that one value suits
    evaluators of any scale. `skew` is the probability that a move of a playout is the hand-made
    heuristic's. `root_perspective` is as for :class:`agents.search.player.AlphaBeta`.
    """
    if state_size(evaluator) > STATE_WIDTH:
        raise ValueError("the evaluator's state is larger than a workspace has room for")
    for name, value, least, most in (
        ("simulations", simulations, 1, UNLIMITED),
        ("cut", cut, 0, UNLIMITED),
        ("exploration", exploration, 0, math.inf),
        ("skew", skew, 0, 1),
        ("max_plies", max_plies, 1, UNLIMITED),
    ):
        if not least <= value <= most:
            raise ValueError(f"{name} must be from {least} to {most}, not {value}")
    numbers = int(simulations), int(cut), float(exploration), float(skew), int(max_plies)
    return MonteCarlo(evaluator, *numbers, bool(root_perspective))


is_stochastic.register(MonteCarlo)(always)


@select_move.register(MonteCarlo)
def _select_monte_carlo_move(
    player: MonteCarlo,
    position: Position,
    ws: KernelArg,
    count: int,
    tt_namespace: int,
    rng: KernelArg,
) -> int:
    if count == 1:
        return ws.rows[0, PACKED_MOVE]
    for row in range(count):
        if is_winning_move(ws.rows[row], position.turn):
            return ws.rows[row, PACKED_MOVE]
    tree = grow_tree(borrowed(player), position, borrowed(ws), count, rng)
    return most_visited_move(tree)


@kernel
def is_winning_move(row: KernelArg, side: int) -> bool:
    """Return whether `side` wins by the move to a row of successors, int64[4]."""
    return not has_move(successor(row, side))
