"""Index of endgame positions: each position of few pieces has one index, without gaps.

Positions are seen from the side to move: a position and its colour-flipped image share an index.
Positions with equal numbers of own men, own kings, opposing men and opposing kings make a slice.
Within a slice the four groups of pieces are placed in that order. Each group takes squares that the
groups before it left free, and the combinatorial number system numbers its set of squares.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from checkers_env.bits import msb, popcount
from checkers_env.jit import kernel
from checkers_env.movegen import (
    BLACK,
    BOARD,
    KING_ROWS,
    WHITE,
    Position,
    first_piece,
    own_and_opponent,
)

MOST_PIECES = 5
MAN_SQUARES, KING_SQUARES = 28, 32
CHOOSE = np.array(
    [[comb(n, k) for k in range(MOST_PIECES + 1)] for n in range(KING_SQUARES + 1)], np.int64
)


class Slice(NamedTuple):
    """Positions with these numbers of pieces, as the side to move sees them."""

    men: int
    kings: int
    their_men: int
    their_kings: int


class Indexing(NamedTuple):
    """Tables that indices are computed from; made by :func:`make_indexing` only."""

    starts: NDArray[np.int64]  # first index of each slice, shape (n, n, n, n); -1 for no slice
    # Placings of the opposing men before each set of own men, shape (n, n, C(28, n - 1) + 1).
    men: NDArray[np.int64]
    pieces: int  # n, most pieces of a position


def material_slices(pieces: int) -> list[Slice]:
    """Return the slices of exactly `pieces` pieces, at least one a side, by index.

    Slices of fewer men come first: a move leads to another slice only by a capture or a crowning,
    and so to one of fewer pieces or fewer men.
    """
    counts = (Slice(*numbers) for numbers in product(range(pieces + 1), repeat=4))
    parts = [part for part in counts if sum(part) == pieces and 0 < part.men + part.kings < pieces]
    return sorted(parts, key=lambda part: (part.men + part.their_men, part))


def slice_size(part: Slice) -> int:
    """Return the number of positions of a slice."""
    free = KING_SQUARES - part.men - part.their_men
    kings = comb(free, part.kings) * comb(free - part.kings, part.their_kings)
    return int(_men(part.men, part.their_men)[-1]) * kings


def count_positions(pieces: int) -> int:
    """Return the number of positions of exactly `pieces` pieces, for one side to move."""
    return sum(map(slice_size, material_slices(pieces)))


def make_indexing(pieces: int) -> Indexing:
    """Return the indexing of all positions of 2 to `pieces` pieces, fewer pieces first."""
    first = np.full((pieces,) * 4, -1, np.int64)
    men = np.zeros((pieces, pieces, comb(MAN_SQUARES, pieces - 1) + 1), np.int64)
    begin = 0
    for count in range(2, pieces + 1):
        for part in material_slices(count):
            first[part] = begin
            begin += slice_size(part)
            placings = _men(part.men, part.their_men)
            men[part.men, part.their_men, : len(placings)] = placings
    return Indexing(first, men, pieces)


@cache
def _men(own: int, their: int) -> NDArray[np.int64]:
    """Return the placings of all men before each set of own men, and their total at the end."""
    starts = np.zeros(comb(MAN_SQUARES, own) + 1, np.int64)
    _count_men(starts, own, their)
    return starts


@kernel
def _count_men(starts: NDArray[np.int64], own: int, their: int) -> None:
    for number in range(len(starts) - 1):
        men = unrank(number, own, BOARD & ~KING_ROWS[BLACK])
        free = MAN_SQUARES - popcount(men & ~KING_ROWS[WHITE])
        starts[number + 1] = starts[number] + CHOOSE[free, their]


@kernel
def rank(pieces: int, free: int, side: int) -> int:
    """Return the number of a set of pieces among all equally large sets of the `free` squares.

    `side` counts the squares from its own end. The number is that of the combinatorial number
    system, from 0.
    """
    number, count = 0, 0
    while pieces:
        bit = first_piece(pieces, side)
        pieces ^= 1 << bit
        count += 1
        before = free & ~(-1 << bit) if side == BLACK else free >> bit >> 1
        number += CHOOSE[popcount(before), count]
    return number


@kernel
def unrank(number: int, count: int, free: int) -> int:
    """Return the set of `count` of the `free` squares with a number of :func:`rank`, for Black."""
    pieces = 0
    while count:
        bit = msb(free)
        free ^= 1 << bit
        sets = CHOOSE[popcount(free), count]
        if number >= sets:
            number -= sets
            count -= 1
            pieces |= 1 << bit
    return pieces


@kernel
def slice_start(indexing: Indexing, part: Slice) -> int:
    """Return the first index of a slice."""
    men, kings, their_men, their_kings = part
    return indexing.starts[men, kings, their_men, their_kings]


@kernel
def position_to_index(indexing: Indexing, position: Position) -> int:
    """Return the index of a position of at most ``indexing.pieces`` pieces, at least one a side."""
    black, white, kings, side = position
    own, their = own_and_opponent(black, white, side)
    men, their_men = own & ~kings, their & ~kings
    own_kings, their_kings = own & kings, their & kings
    slice_of_men = indexing.men[popcount(men), popcount(their_men)]
    number = slice_of_men[rank(men, BOARD & ~KING_ROWS[side], side)]
    number += rank(their_men, BOARD & ~KING_ROWS[1 - side] & ~men, side)
    free = BOARD & ~(men | their_men)
    number = number * CHOOSE[popcount(free), popcount(own_kings)] + rank(own_kings, free, side)
    free ^= own_kings
    number = number * CHOOSE[popcount(free), popcount(their_kings)] + rank(their_kings, free, side)
    counts = popcount(men), popcount(own_kings), popcount(their_men), popcount(their_kings)
    return slice_start(indexing, Slice(*counts)) + number


@kernel
def index_to_position(indexing: Indexing, part: Slice, number: int) -> Position:
    """Return the position with an index that belongs to a slice, Black to move."""
    number -= slice_start(indexing, part)
    free = KING_SQUARES - part.men - part.their_men
    number, last = divmod(number, CHOOSE[free - part.kings, part.their_kings])
    number, third = divmod(number, CHOOSE[free, part.kings])
    starts = indexing.men[part.men, part.their_men]
    first = np.searchsorted(starts[: CHOOSE[MAN_SQUARES, part.men]], number, side="right") - 1
    men = unrank(first, part.men, BOARD & ~KING_ROWS[BLACK])
    free_men = BOARD & ~KING_ROWS[WHITE] & ~men
    their_men = unrank(number - starts[first], part.their_men, free_men)
    free = BOARD & ~(men | their_men)
    kings = unrank(third, part.kings, free)
    their_kings = unrank(last, part.their_kings, free ^ kings)
    return Position(men | kings, their_men | their_kings, kings | their_kings, BLACK)
