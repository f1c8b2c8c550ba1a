"""Piece-square tables: a man and a king have a weight on each square, and nothing else counts.

Each weight is there twice, for 24 pieces on the board and for none. A position blends the two by
its number of pieces, as the tapered evaluations of chess engines do. The other side's pieces, seen
from its side of the board, have the same weights with the opposite sign.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agents.evaluator import evaluate
from agents.piece_sums import OWN_MAN, THEIR_MAN, board_view, keep_sums
from agents.simd import LANES
from checkers_env.bits import popcount
from checkers_env.jit import KernelArg
from checkers_env.movegen import BLACK, SQUARES, Position

STAGES = 2
MOST_PIECES = 24
BITS = 35
SIZE = STAGES * 2 * 32
SUM_BITS = 29  # no sum of a stage reaches 2^29


class PieceSquares(NamedTuple):
    """Evaluator: tables for the kernels. Use :func:`piece_squares` to make one.

    The state of a position begins with the sums of the stages for Black, in whole numbers.
    """

    features: NDArray[np.int32]  # (35, 5, 8): the worth of a content on a bit, for Black
    empty: NDArray[np.int32]  # (8,): zeros
    unit: float  # the value of 1 in a blended sum


def piece_squares(weights: ArrayLike, king: float) -> PieceSquares:
    """Make an evaluator of 128 weights, scaled so that no position is worth as much as a won game.

    The weights, in men, are added to the worth of a piece: zeros make a piece counter. First come
    those for 24 pieces, then those for none: of a man on squares 1 to 32 as its side sees them,
    then of a king. Raise ValueError for numbers that are not finite.
    """
    weights = np.asarray(weights, np.float64)
    if weights.shape != (SIZE,) or not (np.all(np.isfinite(weights)) and np.isfinite(king)):
        raise ValueError(f"piece-square tables have {SIZE} finite weights and a finite king")
    own = weights.reshape(STAGES, 2, 32) + np.array([[1.0], [king]])
    scale = 2.0 ** (SUM_BITS - np.frexp(MOST_PIECES * np.abs(own).max())[1])
    worth = np.rint(own * scale).astype(np.int32)
    table = np.zeros((BITS, 5, LANES), np.int32)
    for man, kinds in ((OWN_MAN, worth), (THEIR_MAN, -worth[..., ::-1])):
        table[SQUARES, man : man + 2, :STAGES] = kinds.T
    return PieceSquares(table, np.zeros(LANES, np.int32), 0.5**SUM_BITS / MOST_PIECES)


keep_sums(PieceSquares)
board_view.register(PieceSquares)(lambda network, view: BLACK)


@evaluate.register(PieceSquares)
def evaluate_squares(
    network: PieceSquares, position: Position, view: int, state: KernelArg, scratch: KernelArg
) -> float:
    pieces = popcount(position.black | position.white)
    blended = int(state[0]) * pieces + int(state[1]) * (MOST_PIECES - pieces)
    return (blended if view == BLACK else -blended) * network.unit
