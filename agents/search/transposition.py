"""Transposition table: what searches found out about positions."""

from __future__ import annotations

from agents.search.selective import adjust_mate_distance, selective
from checkers_env.bits import prefetch
from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import Position

EXACT, LOWER, UPPER, NONE = range(4)  # what an entry's value is: exact, a bound, or unusable
NO_VALUE = 3.0  # in place of a value
BOARD_BITS = 36  # of a stored board; in the 28 above them is half of a tag
TAG_BITS = 28


@kernel
def tt_tag(position: Position, tt_namespace: int, remaining: int) -> int:
    """Return what identifies an entry beside its boards: namespace, turn, and 7 bits of plies."""
    return (tt_namespace << 1 | position.turn) << 7 | remaining


@kernel
def tt_index(table: KernelArg, position: Position, salt: int) -> int:
    """Return the index of a position and a number in the table, by a hash."""
    mixed = position.black * 0x2545F4914F6CDD1D + position.white * 0x1B873593CC9E2D51
    mixed += position.kings * 0x165667B19E3779F9 + salt * 0x27D4EB2F165667C5
    mixed ^= mixed >> 29
    mixed *= 0x2127599BF4325C37
    return (mixed >> 40) & (len(table) - 1)


@kernel
def tt_slot(
    style: KernelArg, table: KernelArg, position: Position, tt_namespace: int, remaining: int
) -> int:
    """Return the index of a position's entry, or of the entry to replace by it.

    A full-width search has an entry for each depth. A selective search has one entry, in one of two
    slots that do not depend on the namespace. It replaces the entry of the smaller depth.
    """
    if not selective(style):
        return tt_index(table, position, tt_tag(position, tt_namespace, remaining))
    tag = tt_tag(position, tt_namespace, 0)
    at = tt_index(table, position, position.turn)
    one, other = table[at], table[at ^ 1]
    if matches(one, position, tag) or tag_of(one) >> 8 != tt_namespace:
        return at
    if matches(other, position, tag) or tag_of(other) >> 8 != tt_namespace:
        return at ^ 1
    return at ^ 1 if other.depth < one.depth else at


@kernel
def prefetch_tt(
    style: KernelArg, table: KernelArg, position: Position, tt_namespace: int, remaining: int
) -> None:
    """Begin to fetch the entry of a position."""
    if selective(style):
        prefetch(table, tt_index(table, position, position.turn))
    else:
        prefetch(table, tt_index(table, position, tt_tag(position, tt_namespace, remaining)))


@kernel
def tt_hit(
    style: KernelArg, entry: KernelArg, position: Position, tt_namespace: int, remaining: int
) -> bool:
    """Return whether an entry is of this position and namespace, and deep enough."""
    tag = tt_tag(position, tt_namespace, 0 if selective(style) else remaining)
    return matches(entry, position, tag) and entry.depth >= remaining


@kernel
def tt_value(
    style: KernelArg,
    entry: KernelArg,
    position: Position,
    tt_namespace: int,
    remaining: int,
    alpha: float,
    beta: float,
    ply: int,
) -> float:
    """Return the value of a position, or a bound outside its window, if an entry has it."""
    if tt_hit(style, entry, position, tt_namespace, remaining):
        value = adjust_mate_distance(entry.value, ply) if selective(style) else entry.value
        if (
            entry.bound == EXACT
            or (entry.bound == LOWER and value >= beta)
            or (entry.bound == UPPER and value <= alpha)
        ):
            return value
    return NO_VALUE


@kernel
def tt_guess(
    style: KernelArg, table: KernelArg, position: Position, tt_namespace: int, remaining: int
) -> float:
    """Return the value of a position or a bound of it, whichever the table has, or NO_VALUE."""
    entry = table[tt_slot(style, table, position, tt_namespace, remaining)]
    if tt_hit(style, entry, position, tt_namespace, remaining) and entry.bound != NONE:
        return entry.value
    return NO_VALUE


@kernel
def matches(entry: KernelArg, position: Position, tag: int) -> bool:
    """Return whether an entry has exactly these boards and this tag."""
    return (
        entry.black == position.black | tag << BOARD_BITS
        and entry.white == position.white | tag >> TAG_BITS << BOARD_BITS
        and entry.kings == position.kings
    )


@kernel
def label(entry: KernelArg, position: Position, tag: int) -> None:
    """Write boards and a tag below 2^55 into an entry."""
    entry.black = position.black | tag << BOARD_BITS
    entry.white = position.white | tag >> TAG_BITS << BOARD_BITS
    entry.kings = position.kings


@kernel
def tag_of(entry: KernelArg) -> int:
    """Return the tag of an entry; 0 for an empty one."""
    low = entry.black >> BOARD_BITS & (1 << TAG_BITS) - 1
    return entry.white >> BOARD_BITS << TAG_BITS | low


@kernel
def move_key(style: KernelArg, path: int, index: int) -> int:
    """Return what an entry stores of a move: its index, or fifteen bits of the packed move.

    In a full-width search the key only orders moves, and an index will do. A stopped selective
    search plays the move, and the moves may then have another order. Two captures that end alike
    may share their bits: this happens in one of 50,000 random positions.
    """
    return (path ^ path >> 13) & 0x7FFF if selective(style) else index


@kernel
def write_tt(
    style: KernelArg,
    entry: KernelArg,
    position: Position,
    tt_namespace: int,
    remaining: int,
    value: float,
    bound: int,
    best: int,
) -> None:
    """Overwrite an entry."""
    label(entry, position, tt_tag(position, tt_namespace, 0 if selective(style) else remaining))
    entry.value, entry.bound, entry.best, entry.depth = value, bound, best, remaining


@kernel
def tt_evaluation(entry: KernelArg, position: Position, tt_namespace: int) -> float:
    """Return the evaluation of a position without a capture that was a leaf, or NO_VALUE."""
    leaf = entry.depth == 0 and entry.bound == EXACT
    if leaf and matches(entry, position, tt_tag(position, tt_namespace, 0)):
        return entry.value
    return NO_VALUE


@kernel
def stored_result(
    style: KernelArg, table: KernelArg, position: Position, tt_namespace: int
) -> tuple[int, float]:
    """Return the depth and the value that the table has of a position; 0 and NO_VALUE if none."""
    entry = table[tt_slot(style, table, position, tt_namespace, 0)]
    if tt_hit(style, entry, position, tt_namespace, 0):
        return entry.depth, entry.value
    return 0, NO_VALUE


@kernel
def tt_move(
    style: KernelArg, table: KernelArg, position: Position, tt_namespace: int, remaining: int
) -> int:
    """Return the key of the best move in the table (see :func:`move_key`), or -1.

    A full-width search looks for an entry of this depth, then for one of two plies less.
    """
    if selective(style):
        entry = table[tt_slot(style, table, position, tt_namespace, 0)]
        return entry.best if tt_hit(style, entry, position, tt_namespace, 1) else -1
    for plies in (remaining, remaining - 2):
        if plies > 0:
            entry = table[tt_slot(style, table, position, tt_namespace, plies)]
            if tt_hit(style, entry, position, tt_namespace, plies):
                return entry.best
    return -1
