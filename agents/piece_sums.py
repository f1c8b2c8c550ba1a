"""Sums over the contents of all squares as evaluator states, updated from move to move.

They are int32, so the order of updates does not matter: first layers, or indices of n-tuples.
"""

from __future__ import annotations

from agents.evaluator import advance_state, start_state, state_size
from agents.simd import exchange
from checkers_env.bits import copy_into, lsb
from checkers_env.jit import KernelArg, generic, kernel
from checkers_env.movegen import Position, to_view

CONTENTS = 5
# Contents of a square as one side sees it (thesis, Algorithm 6.1, step 4).
THEIR_MAN, THEIR_KING, EMPTY, OWN_MAN, OWN_KING = range(CONTENTS)


@kernel
def square_content(position: Position, bit: int, view: int) -> int:
    """Return the content of an occupied square as side `view` sees it."""
    own = (position.white if view else position.black) >> bit & 1
    return THEIR_MAN + (OWN_MAN - THEIR_MAN) * own + (position.kings >> bit & 1)


@kernel
def start_sums(
    features: KernelArg, empty: KernelArg, position: Position, view: int, sums: KernelArg
) -> None:
    """Write the sums of a position for side `view`; White sees the board turned round.

    `features`, int32[35, 5, a multiple of 8], is what a content on a bit adds to those of `empty`.
    """
    copy_into(empty, sums)
    pieces = position.black | position.white
    while pieces:
        bit = lsb(pieces)
        pieces &= pieces - 1
        row = features[to_view(bit, view), square_content(position, bit, view)]
        exchange(sums, row, features[0, EMPTY], sums)


@kernel
def advance_sums(
    features: KernelArg,
    before: Position,
    after: Position,
    view: int,
    old: KernelArg,
    new: KernelArg,
) -> None:
    """Write the sums after some moves, from those before them."""
    changed = (before.black ^ after.black) | (before.white ^ after.white)
    changed |= before.kings ^ after.kings
    left = (before.black | before.white) & changed
    entered = (after.black | after.white) & changed
    source = old
    if not changed:
        copy_into(old, new)
    while entered | left:  # once for a step: one square to leave, and one to enter
        plus = minus = features[0, EMPTY]
        if entered:
            bit = lsb(entered)
            entered &= entered - 1
            plus = features[to_view(bit, view), square_content(after, bit, view)]
        if left:
            bit = lsb(left)
            left &= left - 1
            minus = features[to_view(bit, view), square_content(before, bit, view)]
        exchange(source, plus, minus, new)
        source = new


@generic
def board_view(network: KernelArg, view: int) -> int:
    """Return the side whose view of the board the sums are of, for side `view`."""
    return view


def keep_sums(network: type) -> None:
    """Make sums the state of evaluators that have the fields `features` and `empty`."""
    state_size.register(network)(_state_size)
    start_state.register(network)(_start_state)
    advance_state.register(network)(_advance_state)


def _state_size(network: KernelArg) -> int:
    return len(network.empty)


def _start_state(network: KernelArg, position: Position, view: int, state: KernelArg) -> None:
    start_sums(network.features, network.empty, position, board_view(network, view), state)


def _advance_state(
    network: KernelArg, before: Position, after: Position, view: int, old: KernelArg, new: KernelArg
) -> None:
    advance_sums(network.features, before, after, board_view(network, view), old, new)
