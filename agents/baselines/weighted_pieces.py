"""The weighted piece counter: every location of the board has a weight of its own.

E. Hughes, Piece Difference: Simple to Evolve, CEC 2003. As the thesis tells it (section 7.2): 32
location weights and the worth of a king are evolved.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from agents.evaluator import evaluate
from checkers_env.bits import lsb
from checkers_env.movegen import BLACK, SQUARES, Position


class WeightedPieces(NamedTuple):
    """An evaluator: own minus opponent's pieces, each times the weight of where it stands.

    Made by :func:`weighted_pieces` only.
    """

    own: Any  # float32[35]: what a man of the viewer on a bit is worth
    opponent: Any  # float32[35]: what a man of the opponent takes away
    king: Any  # float32: how many men on its square a king counts


def weighted_pieces(weights: Any, king: float, *, opponent_turned: bool = False) -> WeightedPieces:
    """Make a weighted piece counter.

    Parameters
    ----------
    weights
        float[32], for squares 1-32 as the viewer sees them: White sees the board turned round.
        Values are scaled by one factor, so that no position is worth as much as a won game.
    king
        How many men a king counts.
    opponent_turned
        The opponent's pieces are weighed as they stand from the opponent's own side, rather than
        by the square on which the viewer sees them.

    Raises ValueError for other than 32 finite weights, or a king that is no finite number.
    """
    weights = np.asarray(weights, np.float64)
    if weights.shape != (32,) or not (np.all(np.isfinite(weights)) and np.isfinite(king)):
        raise ValueError("a weighted piece counter has 32 finite weights and a finite king")
    most = 2 * np.abs(weights).sum() * max(1.0, abs(king))  # every square twice: never reached
    own, opponent = np.zeros(35, np.float32), np.zeros(35, np.float32)
    own[SQUARES] = weights / (most or 1.0)
    opponent[SQUARES] = own[SQUARES][::-1] if opponent_turned else own[SQUARES]
    return WeightedPieces(own, opponent, np.float32(king))


@evaluate.register(WeightedPieces)
def evaluate_weighted(
    counter: WeightedPieces, position: Position, view: int, state: Any, scratch: Any
) -> float:
    worth: Any = np.float32(0.0)
    own = position.black if view == BLACK else position.white
    pieces = position.black | position.white
    while pieces:
        bit = lsb(pieces)
        pieces &= pieces - 1
        place = bit if view == BLACK else 34 - bit
        piece = counter.own[place] if own >> bit & 1 else -counter.opponent[place]
        worth += piece * counter.king if position.kings >> bit & 1 else piece
    return worth
