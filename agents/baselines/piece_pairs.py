"""Piece-square tables and weights of pairs: a linear evaluator of a few hundred weights.

A piece is worth what it counts (1, or K for a king) and the weight of its square. A pair of pieces
has a weight by the kinds of the two and by the rows and columns between them, wherever they stand:
an n-tuple of two squares, with one table for all places.

Each weight is there twice, for 24 pieces and for none. A position blends the two by its number of
pieces, as the tapered evaluations of chess engines do. The other side's pieces, seen from its side
of the board, have the same weights with the opposite sign. Pairs have the same weight in a mirror.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agents.evaluator import advance_state, evaluate, evaluate_position, start_state, state_size
from agents.geometry import cell
from checkers_env.bits import lsb, popcount
from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import BLACK, SQUARES, Position

STAGES = 2
MOST_PIECES = 24
MOST_PAIRS = MOST_PIECES * (MOST_PIECES - 1) // 2
KINDS, BITS = 4, 35  # kinds: Black's man and king, White's man and king
PIECES = KINDS * BITS  # rows of the kernels' tables
PAIR_UNIT = 0.2  # men for a weight of 1: a position has ten times as many pairs as pieces
SUM_BITS = 29  # no sum of a stage reaches 2^29


def _number_pairs() -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Return the weight's number and the sign of each pair, shape (PIECES, PIECES), and the count.

    The sign is -1 where Black's gain is White's by that weight. It is 0 for no pair, and for a pair
    that is the same for both sides.
    """
    cells = np.array([cell(square) for square in range(1, 33)])
    kind, place = (grid.ravel() for grid in np.indices((KINDS, 32)))
    row, column = cells[place].T
    rows, columns = row - row[:, None], abs(column - column[:, None])

    def shapes(kind: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
        ordered = ((kind[:, None] * KINDS + kind) * 15 + rows + 7) * 8 + columns
        return np.minimum(ordered, ordered.T)

    black, white = shapes(kind, rows), shapes((kind + 2) % KINDS, -rows)
    signs = np.sign(white - black) * (place != place[:, None])
    known, numbers = np.unique(np.minimum(black, white)[signs != 0], return_inverse=True)
    at = kind * BITS + np.array(SQUARES)[place]
    number, sign = np.zeros((2, PIECES, PIECES), np.int64)
    sign[np.ix_(at, at)] = signs
    number[sign != 0] = numbers
    return number, sign, len(known)


PAIR_NUMBER, PAIR_SIGN, PAIR_COUNT = _number_pairs()
SQUARES_SIZE = STAGES * 2 * 32
PAIRS_SIZE = SQUARES_SIZE + STAGES * PAIR_COUNT


class PiecePairs(NamedTuple):
    """Evaluator: tables for the kernels. Use :func:`piece_pairs` to make one.

    A number holds the weights of both stages, so that one addition sums both. The state of a
    position holds the sums of the stages for Black.
    """

    squares: NDArray[np.int64]  # (PIECES,): worth of a piece
    pairs: NDArray[np.int64]  # (PIECES, PIECES): weight of a pair
    unit: float  # the value of 1 in a blended sum


def piece_pairs(weights: ArrayLike, king: float) -> PiecePairs:
    """Make an evaluator. One factor scales it, so that no position is worth as much as a won game.

    Parameters
    ----------
    weights
        Shape (128,): for 24 pieces and for none, the weights of a man on squares 1 to 32 as its
        side sees them, then those of a king, in men. Or shape (PAIRS_SIZE,): the weights of pairs
        follow, those for 24 pieces first, in units of PAIR_UNIT men. Zeros make a piece counter.
    king
        Worth of a king, in men.

    Raises
    ------
    ValueError
        For another number of weights, and for numbers that are not finite.
    """
    weights = np.asarray(weights, np.float64)
    finite = np.all(np.isfinite(weights)) and np.isfinite(king)
    if weights.shape not in ((SQUARES_SIZE,), (PAIRS_SIZE,)) or not finite:
        raise ValueError(
            f"pairs of pieces have {SQUARES_SIZE} or {PAIRS_SIZE} finite weights and a finite king"
        )
    own = weights[:SQUARES_SIZE].reshape(STAGES, 2, 32) + np.array([[1.0], [king]])
    squares = np.zeros((STAGES, KINDS, BITS))
    squares[:, :2, SQUARES], squares[:, 2:, SQUARES] = own, -own[..., ::-1]
    pairs = np.zeros((STAGES, PIECES, PIECES))
    if len(weights) == PAIRS_SIZE:
        pairs = PAIR_UNIT * weights[SQUARES_SIZE:].reshape(STAGES, -1)[:, PAIR_NUMBER] * PAIR_SIGN
    most = MOST_PIECES * np.abs(squares).max() + MOST_PAIRS * np.abs(pairs).max()
    scale = 2.0 ** (SUM_BITS - np.frexp(most)[1])
    unit = 0.5**SUM_BITS / MOST_PIECES
    return PiecePairs(_pack(squares.reshape(STAGES, -1), scale), _pack(pairs, scale), unit)


def _pack(weights: NDArray[np.float64], scale: float) -> NDArray[np.int64]:
    """Return whole numbers: the weights of the first stage times 2^32, and those of the second."""
    first, second = np.rint(weights * scale).astype(np.int64)
    return (first << 32) + second


@kernel
def piece_row(bit: int, black: int, kings: int) -> int:
    """Return the row of the piece on an occupied bit.

    Parameters
    ----------
    bit
        The bit, 0 to 34.
    black, kings
        Bitboards.
    """
    return (2 - 2 * (black >> bit & 1) + (kings >> bit & 1)) * BITS + bit


@kernel
def weigh_piece(network: PiecePairs, piece: int, pieces: int, black: int, kings: int) -> int:
    """Return the packed worth of a piece and of its pairs with other pieces.

    Parameters
    ----------
    network
        The evaluator.
    piece
        Row of the piece.
    pieces
        Bitboard of the other pieces.
    black, kings
        Bitboards that tell what they are.
    """
    total, row = int(network.squares[piece]), network.pairs[piece]
    while pieces:
        bit = lsb(pieces)
        pieces &= pieces - 1
        total += row[np.uint32(piece_row(bit, black, kings))]
    return total


@state_size.register(PiecePairs)
def pairs_state_size(network: PiecePairs) -> int:
    return STAGES


@start_state.register(PiecePairs)
def start_pairs_state(network: PiecePairs, position: Position, view: int, state: KernelArg) -> None:
    state[:] = 0
    advance_state(network, Position(0, 0, 0, BLACK), position, view, state, state)


@advance_state.register(PiecePairs)
def advance_pairs_state(
    network: PiecePairs,
    before: Position,
    after: Position,
    view: int,
    old: KernelArg,
    new: KernelArg,
) -> None:
    changed = (before.black ^ after.black) | (before.white ^ after.white)
    pieces = before.black | before.white
    gone, come = pieces & changed, (after.black | after.white) & changed
    total = (int(old[0]) << 32) + int(old[1])
    while gone:
        bit = lsb(gone)
        gone &= gone - 1
        pieces &= ~(1 << bit)
        piece = piece_row(bit, before.black, before.kings)
        total -= weigh_piece(network, piece, pieces, before.black, before.kings)
    while come:
        bit = lsb(come)
        come &= come - 1
        piece = piece_row(bit, after.black, after.kings)
        total += weigh_piece(network, piece, pieces, after.black, after.kings)
        pieces |= 1 << bit
    ending = (total & 0xFFFFFFFF ^ 0x80000000) - 0x80000000
    new[0], new[1] = (total - ending) >> 32, ending


@evaluate.register(PiecePairs)
def evaluate_pairs(
    network: PiecePairs, position: Position, view: int, state: KernelArg, scratch: KernelArg
) -> float:
    pieces = popcount(position.black | position.white)
    blended = int(state[0]) * pieces + int(state[1]) * (MOST_PIECES - pieces)
    return (blended if view == BLACK else -blended) * network.unit


def explain_pairs(network: PiecePairs, position: Position) -> dict[str, float]:
    """Return what the pieces on their squares and the pairs add to a position's value.

    Both are for the side to move.
    """
    alone = network._replace(pairs=np.zeros_like(network.pairs))
    pieces, total = (evaluate_position(it, position, position.turn) for it in (alone, network))
    return {"pieces on their squares": pieces, "pairs of pieces": total - pieces}
