"""The player that simulates games: pure MCTS and MCTS-EPT.

Pure Monte Carlo tree search plays its simulations to the end of the game. With early playout
termination (Lorentz 2016; Nguyen III.B) they are cut after a few plies and judged by an evaluator.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from agents.baselines.material import Material
from agents.evaluator import state_size
from agents.mcts.tree import favourite, grow
from agents.player import choose, uses_chance
from agents.search.workspace import STATE_WIDTH
from checkers_env.bits import borrowed
from checkers_env.jit import kernel
from checkers_env.movegen import PACKED_MOVE, Position, has_move, successor

UNLIMITED = 1_000_000_000  # simulations or plies, where something else is the limit


class MonteCarlo(NamedTuple):
    """A player; made by :func:`monte_carlo` only."""

    evaluator: Any
    simulations: int
    cut: int
    exploration: float
    skew: float
    max_plies: int
    own_leaves: bool


def monte_carlo(
    evaluator: Any = Material(),  # noqa: B008 - immutable
    simulations: int = 1000,
    *,
    cut: int = 6,
    exploration: float = 1.0,
    skew: float = 0.0,
    max_plies: int = 200,
    own_leaves: bool = True,
) -> MonteCarlo:
    """Make a Monte Carlo player.

    Parameters
    ----------
    evaluator
        Judges playouts that are cut, and is not asked otherwise.
    simulations
        Playouts a move; fewer when the workspace's stop flag is set before.
    cut
        Plies of a playout before it is judged; 0 plays to the end of the game.
    exploration
        Constant of the upper confidence bound, in standard deviations of the results so far: one
        value then suits evaluators of any scale.
    skew
        Probability that a move of a playout is the hand-made heuristic's instead of a random one.
    max_plies
        A line this many plies from the root is a draw.
    own_leaves
        Evaluate from the side of the player, as :class:`agents.search.player.AlphaBeta` does;
        otherwise from the side to move where the playout was cut.

    Raises ValueError for numbers that make no sense, or an evaluator with too large a state.
    """
    if state_size(evaluator) > STATE_WIDTH:
        raise ValueError("the evaluator's state is larger than a workspace has room for")
    if not 1 <= simulations <= UNLIMITED:
        raise ValueError(f"simulations must be from 1 to {UNLIMITED}, not {simulations}")
    if not 0 <= cut <= UNLIMITED:
        raise ValueError(f"cut must be a number of plies, or 0 for none, not {cut}")
    if not exploration >= 0:
        raise ValueError(f"exploration must be 0 or more, not {exploration}")
    if not 0 <= skew <= 1:
        raise ValueError(f"skew must be a probability from 0 to 1, not {skew}")
    if not 1 <= max_plies <= UNLIMITED:
        raise ValueError(f"max_plies must be from 1 to {UNLIMITED}, not {max_plies}")
    numbers = int(simulations), int(cut), float(exploration), float(skew), int(max_plies)
    return MonteCarlo(evaluator, *numbers, bool(own_leaves))


@uses_chance.register(MonteCarlo)
def plays_at_random(player: MonteCarlo) -> bool:
    return True


@choose.register(MonteCarlo)
def choose_by_playouts(
    player: MonteCarlo, position: Position, ws: Any, count: int, owner: int, rng: Any
) -> int:
    if count == 1:
        return ws.rows[0, PACKED_MOVE]
    for row in range(count):
        if wins(ws.rows[row], position.turn):
            return ws.rows[row, PACKED_MOVE]
    return favourite(grow(borrowed(player), position, borrowed(ws), count, rng))


@kernel
def wins(row: Any, side: int) -> bool:
    """Whether `side` has won with the move to a row of successors."""
    return not has_move(successor(row, side))
