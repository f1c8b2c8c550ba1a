"""Weighted piece counter: each square has a weight of its own.

E. Hughes, Piece Difference: Simple to Evolve, CEC 2003, as described in the thesis (section 7.2):
32 location weights are evolved. The worth of a king, which is evolved too, is ours.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agents.evaluator import evaluate
from checkers_env.bits import lsb
from checkers_env.jit import KernelArg
from checkers_env.movegen import SQUARES, Position, own_and_opponent, to_view


class WeightedPieces(NamedTuple):
    """Evaluator: own minus opposing pieces, each times the weight of its square.

    Use :func:`weighted_pieces` to make one.
    """

    weights: NDArray[np.float32]  # (35,): worth of a man, by bit of the viewer's board
    king: np.float32  # worth of a king, in men on its square


def weighted_pieces(weights: ArrayLike, king: float) -> WeightedPieces:
    """Make a weighted piece counter."""
    weights = np.asarray(weights, np.float64)
    if weights.shape != (32,) or not (np.all(np.isfinite(weights)) and np.isfinite(king)):
        raise ValueError("a weighted piece counter has 32 finite weights and a finite king")
    most = 2 * np.abs(weights).sum() * max(1.0, abs(king))  # every square twice: never reached
    worths = np.zeros(35, np.float32)
    worths[SQUARES] = weights / (most or 1.0)
    return WeightedPieces(worths, np.float32(king))


@evaluate.register(WeightedPieces)
def evaluate_weighted(
    counter: WeightedPieces, position: Position, view: int, state: KernelArg, scratch: KernelArg
) -> float:
    worth: Any = np.float32(0.0)
    own, opponent = own_and_opponent(position.black, position.white, view)
    pieces = own | opponent
    while pieces:
        bit = lsb(pieces)
        pieces &= pieces - 1
        man = counter.weights[to_view(bit, view)]
        piece = man if own >> bit & 1 else -man
        worth += piece * counter.king if position.kings >> bit & 1 else piece
    return worth
