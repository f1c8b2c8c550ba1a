"""Table indices of n-tuples, updated from move to move.

The contents of a tuple's squares are the digits of a number, the index into the tuple's table.
The base is 5, or less if the digits merge some contents. Indices are integers: the order of
updates does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from agents.evaluator import advance_state, start_state, state_size
from agents.ntuple.tuples import TupleLayout
from agents.simd import aligned_zeros
from checkers_env.bits import copy_into, lsb
from checkers_env.jit import KernelArg, generic, kernel
from checkers_env.movegen import SQUARES, Position, own_and_opponent, to_view

BASE = 5
# Contents of a square as one side sees it (Algorithm 6.1, step 4).
THEIR_MAN, THEIR_KING, EMPTY, OWN_MAN, OWN_KING = range(BASE)


def digit_base(digits: Sequence[int]) -> int:
    """Return the base of the numbers that these digits form."""
    return max(digits) + 1


def index_features(
    layout: TupleLayout,
    offsets: Sequence[int],
    digits: Sequence[Sequence[int]],
    width: int | None = None,
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Compute the contribution of each piece on each square to the index of each tuple."""
    table = aligned_zeros((35, BASE, width or len(layout)), np.int32)
    empty = np.zeros(table.shape[2], np.int32)
    tuples = zip(layout, offsets, digits, strict=True)
    for number, (squares, offset, digit) in enumerate(tuples):
        worth = np.array(digit)
        powers = digit_base(digit) ** np.arange(len(squares))[::-1]
        for square, power in zip(squares, powers, strict=True):
            table[SQUARES[square - 1], :, number] = (worth - worth[EMPTY]) * power
        empty[number] = offset + worth[EMPTY] * powers.sum()
    return table, empty


@kernel
def square_content(position: Position, bit: int, view: int) -> int:
    """Return the content of a square as side `view` sees it: EMPTY, or a man or king of a side."""
    own, opponent = own_and_opponent(position.black, position.white, view)
    crowned = position.kings >> bit & 1
    if own >> bit & 1:
        return OWN_MAN + crowned
    return THEIR_MAN + crowned if opponent >> bit & 1 else EMPTY


@kernel
def start_indices(
    features: KernelArg, empty: KernelArg, position: Position, view: int, indices: KernelArg
) -> None:
    """Write the indices of a position for side `view`; White sees the board turned round.

    `features`, int32[35, 5, tuples], is the contribution of a content on a bit to the indices;
    `empty` holds the indices of the empty board.
    """
    copy_into(empty, indices)
    own, opponent = own_and_opponent(position.black, position.white, view)
    men, kings = ~position.kings, position.kings
    groups = (
        (THEIR_MAN, opponent & men),
        (THEIR_KING, opponent & kings),
        (OWN_MAN, own & men),
        (OWN_KING, own & kings),
    )
    for content, pieces in groups:
        while pieces:
            bit = lsb(pieces)
            pieces &= pieces - 1
            row = features[to_view(bit, view), content]
            for i in range(len(indices)):
                indices[i] += row[i]


@kernel
def advance_indices(
    features: KernelArg,
    before: Position,
    after: Position,
    view: int,
    old: KernelArg,
    new: KernelArg,
) -> None:
    """Write the indices after a move, from those before it."""
    changed = (before.black ^ after.black) | (before.white ^ after.white)
    left = (before.black | before.white) & changed
    entered = (after.black | after.white) & changed
    nothing, first = features[0, EMPTY], True
    while first or entered | left:  # once for a step: one square to leave, and one to enter
        plus = minus = nothing
        if entered:
            bit = lsb(entered)
            entered &= entered - 1
            plus = features[to_view(bit, view), square_content(after, bit, view)]
        if left:
            bit = lsb(left)
            left &= left - 1
            minus = features[to_view(bit, view), square_content(before, bit, view)]
        if first:
            for i in range(len(new)):
                new[i] = old[i] + plus[i] - minus[i]
        else:
            for i in range(len(new)):
                new[i] += plus[i] - minus[i]
        first = False


@generic
def board_view(network: KernelArg, view: int) -> int:
    """Return the side whose view of the board the tuples read for side `view`."""
    return view


def keep_indices(network: type) -> None:
    """Make the indices the state of evaluators that have the fields `features` and `empty`."""
    state_size.register(network)(_state_size)
    start_state.register(network)(_start_state)
    advance_state.register(network)(_advance_state)


def _state_size(network: KernelArg) -> int:
    return len(network.empty)


def _start_state(network: KernelArg, position: Position, view: int, state: KernelArg) -> None:
    start_indices(network.features, network.empty, position, board_view(network, view), state)


def _advance_state(
    network: KernelArg, before: Position, after: Position, view: int, old: KernelArg, new: KernelArg
) -> None:
    advance_indices(network.features, before, after, board_view(network, view), old, new)
