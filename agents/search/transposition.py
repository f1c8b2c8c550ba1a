"""The table of positions that a search has met: what it found out about each."""

from __future__ import annotations

from typing import Any

from agents.search.selective import selective
from checkers_env.jit import kernel
from checkers_env.movegen import Position

EXACT, AT_LEAST, AT_MOST, NOTHING = range(4)  # what a value in the table says


@kernel
def tag_of(position: Position, owner: int, remaining: int) -> int:
    """What a table entry is about beside its three boards."""
    return (owner << 1 | position.turn) << 7 | remaining


@kernel
def slot(table: Any, position: Position, about: int) -> int:
    """Where in the table a position belongs."""
    mixed = position.black * 0x2545F4914F6CDD1D + position.white * 0x1B873593CC9E2D51
    mixed += position.kings * 0x165667B19E3779F9 + about * 0x27D4EB2F165667C5
    mixed ^= mixed >> 29
    mixed *= 0x2127599BF4325C37
    return (mixed >> 40) & (len(table) - 1)


@kernel
def place_of(style: Any, table: Any, position: Position, owner: int, remaining: int) -> int:
    """Where the entry about this position is, or the one to give up for it.

    A full-width search keeps an entry for each depth. A selective one keeps the last, in one of two
    places that do not depend on the owner, and gives up what was searched less far.
    """
    if not selective(style):
        return slot(table, position, tag_of(position, owner, remaining))
    tag = tag_of(position, owner, 0)
    at = slot(table, position, position.turn)
    one, other = table[at], table[at ^ 1]
    if is_about(one, position, tag) or one.tag >> 8 != owner:
        return at
    if is_about(other, position, tag) or other.tag >> 8 != owner or other.depth < one.depth:
        return at ^ 1
    return at


@kernel
def holds(style: Any, entry: Any, position: Position, owner: int, remaining: int) -> bool:
    """Whether an entry is about this position and evaluator, searched as far as is asked."""
    if selective(style):
        return is_about(entry, position, tag_of(position, owner, 0)) and entry.depth >= remaining
    return is_about(entry, position, tag_of(position, owner, remaining))


@kernel
def is_about(entry: Any, position: Position, tag: int) -> bool:
    """Whether an entry is about exactly this position."""
    return (
        entry.black == position.black
        and entry.white == position.white
        and entry.kings == position.kings
        and entry.tag == tag
    )


@kernel
def key_of(style: Any, path: int, index: int) -> int:
    """What an entry has of a move: its index, or fifteen bits of its path in a selective search.

    In a full-width one it is only a hint. A selective one that is stopped plays it, and must find
    it where the moves have another order. Two captures that end alike may share their bits: in one
    of 50,000 random positions.
    """
    return (path ^ path >> 13) & 0x7FFF if selective(style) else index


@kernel
def write_entry(
    style: Any,
    entry: Any,
    position: Position,
    owner: int,
    remaining: int,
    value: Any,
    bound: int,
    best: int,
) -> None:
    """Fill a table entry, `best` being the key of a move; the older one goes."""
    entry.black, entry.white, entry.kings = position.black, position.white, position.kings
    entry.tag = tag_of(position, owner, 0 if selective(style) else remaining)
    entry.value, entry.bound, entry.best, entry.depth = value, bound, best, remaining


@kernel
def best_known(style: Any, table: Any, position: Position, remaining: int, owner: int) -> int:
    """The key of the best move as far as the table knows it; -1 when it does not.

    A full-width search asks for that of this depth, or two plies less.
    """
    if selective(style):
        entry = table[place_of(style, table, position, owner, 0)]
        return entry.best if holds(style, entry, position, owner, 1) else -1
    for plies in (remaining, remaining - 2):
        if plies > 0:
            entry = table[place_of(style, table, position, owner, plies)]
            if holds(style, entry, position, owner, plies):
                return entry.best
    return -1
