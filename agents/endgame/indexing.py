"""Every position of few pieces has a number, without gaps, and every number its position.

Positions are seen from the side to move, so that a position and its colour-flipped image have the
same number. Those with the same own men, own kings, opposing men and opposing kings make a slice.
Within one, the four groups of pieces are set down in that order, each on the squares that those
before it left free, and the set of squares is numbered in the combinatorial number system.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from math import comb
from typing import Any, NamedTuple

import numpy as np

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
    """The positions with these numbers of pieces, as the side to move sees them."""

    men: int
    kings: int
    their_men: int
    their_kings: int


class Numbering(NamedTuple):
    """What the numbers of positions are made of; made by :func:`numbering` only."""

    firsts: Any  # int64[n, n, n, n]: the first number of each slice
    men: Any  # int64[n, n, C(28, n - 1) + 1]: by numbers of men, the placings before each own set
    pieces: int


def slices(pieces: int) -> list[Slice]:
    """The slices of positions with exactly `pieces` pieces, both sides having some.

    They are in the order of their numbers, those with fewer men first: a move leads to another
    slice by a capture or a crowning only, and so to one of fewer pieces or fewer men.
    """
    everything = [Slice(*counts) for counts in product(range(pieces + 1), repeat=4)]
    found = [m for m in everything if sum(m) == pieces and 0 < m.men + m.kings < pieces]
    return sorted(found, key=lambda m: (m.men + m.their_men, m))


def size(part: Slice) -> int:
    """How many positions a slice has."""
    free = KING_SQUARES - part.men - part.their_men
    kings = comb(free, part.kings) * comb(free - part.kings, part.their_kings)
    return int(_men(part.men, part.their_men)[-1]) * kings


def total(pieces: int) -> int:
    """How many positions of exactly `pieces` pieces there are, one side being to move."""
    return sum(map(size, slices(pieces)))


def numbering(pieces: int) -> Numbering:
    """The numbering of all positions with 2 to `pieces` pieces, those with fewer pieces first."""
    firsts = np.full((pieces,) * 4, -1, np.int64)
    men = np.zeros((pieces, pieces, comb(MAN_SQUARES, pieces - 1) + 1), np.int64)
    begin = 0
    for count in range(2, pieces + 1):
        for part in slices(count):
            firsts[part] = begin
            begin += size(part)
            starts = _men(part.men, part.their_men)
            men[part.men, part.their_men, : len(starts)] = starts
    return Numbering(firsts, men, pieces)


@cache
def _men(own: int, their: int) -> Any:
    """int64: how many placings of the men come before each set of own men, and how many in all."""
    starts = np.zeros(comb(MAN_SQUARES, own) + 1, np.int64)
    _count_men(starts, own, their)
    return starts


@kernel
def _count_men(starts: Any, own: int, their: int) -> None:
    for number in range(len(starts) - 1):
        men = unrank(number, own, BOARD & ~KING_ROWS[BLACK])
        free = MAN_SQUARES - popcount(men & ~KING_ROWS[WHITE])
        starts[number + 1] = starts[number] + CHOOSE[free, their]


@kernel
def rank(pieces: int, free: int, side: int) -> int:
    """The number of a set of pieces among all sets of as many of the `free` squares."""
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
    """The set of `count` squares that has this number, as Black counts."""
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
def first_of(numbering: Any, part: Slice) -> int:
    """The first number of a slice."""
    men, kings, their_men, their_kings = part
    return numbering.firsts[men, kings, their_men, their_kings]


@kernel
def number_of(numbering: Any, position: Position) -> int:
    """The number of a position of at most ``numbering.pieces`` pieces, both sides having some."""
    black, white, kings, side = position
    own, their = own_and_opponent(black, white, side)
    men, their_men = own & ~kings, their & ~kings
    own_kings, their_kings = own & kings, their & kings
    slice_of_men = numbering.men[popcount(men), popcount(their_men)]
    number = slice_of_men[rank(men, BOARD & ~KING_ROWS[side], side)]
    number += rank(their_men, BOARD & ~KING_ROWS[1 - side] & ~men, side)
    free = BOARD & ~(men | their_men)
    number = number * CHOOSE[popcount(free), popcount(own_kings)] + rank(own_kings, free, side)
    free ^= own_kings
    number = number * CHOOSE[popcount(free), popcount(their_kings)] + rank(their_kings, free, side)
    counts = popcount(men), popcount(own_kings), popcount(their_men), popcount(their_kings)
    return first_of(numbering, Slice(*counts)) + number


@kernel
def position_of(numbering: Any, part: Slice, number: int) -> Position:
    """The position with a number out of a slice, Black to move."""
    number -= first_of(numbering, part)
    free = KING_SQUARES - part.men - part.their_men
    number, last = divmod(number, CHOOSE[free - part.kings, part.their_kings])
    number, third = divmod(number, CHOOSE[free, part.kings])
    starts = numbering.men[part.men, part.their_men]
    first = np.searchsorted(starts[: CHOOSE[MAN_SQUARES, part.men]], number, side="right") - 1
    men = unrank(first, part.men, BOARD & ~KING_ROWS[BLACK])
    free_men = BOARD & ~KING_ROWS[WHITE] & ~men
    their_men = unrank(number - starts[first], part.their_men, free_men)
    free = BOARD & ~(men | their_men)
    kings = unrank(third, part.kings, free)
    their_kings = unrank(last, part.their_kings, free ^ kings)
    return Position(men | kings, their_men | their_kings, kings | their_kings, BLACK)
