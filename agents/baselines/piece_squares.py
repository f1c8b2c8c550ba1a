"""Piece-square tables: a man and a king have a weight on each square, and nothing else counts.

Each weight is there twice, for 24 pieces on the board and for none. A position blends the two by
its number of pieces, as the tapered evaluations of chess engines do. The other side's pieces, seen
from its side of the board, have the same weights with the opposite sign.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agents.evaluator import advance_state, evaluate, start_state, state_size
from checkers_env.bits import lsb, popcount
from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import BLACK, SQUARES, Position

STAGES = 2
MOST_PIECES = 24
BITS = 35
SIZE = STAGES * 2 * 32
SUM_BITS = 29  # no sum of a stage reaches 2^29


class PieceSquares(NamedTuple):
    """Evaluator: tables for the kernels. Use :func:`piece_squares` to make one.

    The state of a position holds the sums of the stages for Black, in whole numbers.
    """

    weights: NDArray[np.int32]  # (2, 2, 35, STAGES): by colour, man or king, and bit
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
    table = np.zeros((2, 2, BITS, STAGES), np.int32)
    table[:, :, SQUARES] = np.moveaxis(np.array([worth, -worth[..., ::-1]]), 1, -1)
    return PieceSquares(table, 0.5**SUM_BITS / MOST_PIECES)


@kernel
def add_pieces(
    network: PieceSquares, position: Position, pieces: int, sign: int, state: KernelArg
) -> None:
    """Add the worth of `pieces`, a bitboard, to a state; with a `sign` of -1, take it away."""
    while pieces:
        bit = lsb(pieces)
        pieces &= pieces - 1
        row = network.weights[position.white >> bit & 1, position.kings >> bit & 1, bit]
        for stage in range(STAGES):
            state[stage] += sign * row[stage]


@state_size.register(PieceSquares)
def squares_state_size(network: PieceSquares) -> int:
    return STAGES


@start_state.register(PieceSquares)
def start_squares_state(
    network: PieceSquares, position: Position, view: int, state: KernelArg
) -> None:
    for stage in range(STAGES):
        state[stage] = 0
    add_pieces(network, position, position.black | position.white, 1, state)


@advance_state.register(PieceSquares)
def advance_squares_state(
    network: PieceSquares,
    before: Position,
    after: Position,
    view: int,
    old: KernelArg,
    new: KernelArg,
) -> None:
    changed = (before.black ^ after.black) | (before.white ^ after.white)
    for stage in range(STAGES):
        new[stage] = old[stage]
    add_pieces(network, before, (before.black | before.white) & changed, -1, new)
    add_pieces(network, after, (after.black | after.white) & changed, 1, new)


@evaluate.register(PieceSquares)
def evaluate_squares(
    network: PieceSquares, position: Position, view: int, state: KernelArg, scratch: KernelArg
) -> float:
    pieces = popcount(position.black | position.white)
    blended = int(state[0]) * pieces + int(state[1]) * (MOST_PIECES - pieces)
    return (blended if view == BLACK else -blended) * network.unit
