"""Tapered n-tuple network: stages blend into each other, and pairs of pieces count in endings.

The windows are those of :mod:`agents.treestrap.windows`. An entry has a weight for each of four
stages. A position blends the two stages nearest to its number of pieces, as tapered evaluations
of chess engines do: nothing jumps where one stage ends. The larger windows see men only, so with
few pieces each pair of pieces has a weight, too, wherever the two stand.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.evaluator import evaluate
from agents.geometry import PLACES
from agents.piece_sums import keep_sums
from agents.simd import tanh
from agents.treestrap.windows import (
    INDEX_PARTS,
    OFFSETS,
    SIZE,
    STAGES,
    WINDOW_COUNT,
    count_entry,
    entry_of,
)
from agents.weights import inflate
from checkers_env.bits import lsb, popcount
from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import BLACK, Position, own_and_opponent

PARTS = 12  # of the way from one stage to the next; each piece more is two parts
FIRST_PARTS = 7  # stage 0 is pure at 3.5 pieces, stage 3 at 21.5
PAIRED_PIECES = 12  # positions of more pieces have no pairs
PIECE_KINDS = 4 * 32  # a man or king of either side on a square
TAPERED_ENTRIES = STAGES * (SIZE + PIECE_KINDS**2)
GAP, LEVELS = np.dtype("<u4"), np.dtype("<i2")  # of an entry in a weight file
ENTRY_BYTES = GAP.itemsize + LEVELS.itemsize


class TaperedNetwork(NamedTuple):
    """Evaluator: tables for the kernels. Use :func:`tapered_network` to make one.

    A number holds the weights of two neighbouring stages, so that one addition sums both (see
    :func:`pack_stages`). The state of a position holds the index of each reading for the viewing
    side.
    """

    table: NDArray[np.int32]  # (STAGES - 1, SIZE), by the lower stage
    pairs: NDArray[np.int32]  # (STAGES - 1, PIECE_KINDS, PIECE_KINDS)
    step: float  # factor of the weights
    features: NDArray[np.int32]  # (35, 5, indices): index contribution of a content on a bit
    empty: NDArray[np.int32]  # (indices,): those of the empty board


def tapered_network(
    table: NDArray[np.int16], pairs: NDArray[np.int16], step: float
) -> TaperedNetwork:
    """Make a network of int16 weights; `table` has the shape (SIZE, STAGES).

    `pairs` has the shape (PIECE_KINDS, PIECE_KINDS, STAGES), by the numbers of :func:`piece_kind`.
    The weights of both orders count, and one may be 0. Raise ValueError if sums can exceed 16 bits.
    """
    both = pairs.astype(np.int32) + pairs.swapaxes(0, 1)
    if largest_sum(table, both) > np.iinfo(np.int16).max:
        raise ValueError("the weights are too large: their sums do not fit into 16 bits")
    packed = pack_stages(table), pack_stages(both.astype(np.int16))
    return TaperedNetwork(*packed, float(step), *INDEX_PARTS)


@lru_cache(1)  # 190 MB, which the players of one file share
def unpack_network(packed: bytes, step: float) -> TaperedNetwork:
    """Return the network of a packed weight file; raise ValueError for other bytes."""
    levels = unpack_levels(packed, TAPERED_ENTRIES)
    table, pairs = levels[: SIZE * STAGES], levels[SIZE * STAGES :]
    return tapered_network(
        table.reshape(STAGES, SIZE).T, pairs.reshape(PIECE_KINDS, PIECE_KINDS, STAGES), step
    )


def unpack_levels(packed: bytes, count: int) -> NDArray[np.int16]:
    """Return `count` entries in steps, int16; raise ValueError for other than packed tables.

    For each entry that is not 0 there is the distance from the one before it, and how many steps it
    is. All lowest bytes come first, then all second bytes, and so on.
    """
    content = inflate(packed, count * ENTRY_BYTES)
    stored, rest = divmod(len(content), ENTRY_BYTES)
    if rest:
        raise ValueError("the weights cannot be unpacked: they are cut off")
    bytes_of = np.frombuffer(content, np.uint8).reshape(ENTRY_BYTES, stored)
    gaps = np.ascontiguousarray(bytes_of[: GAP.itemsize].T).view(GAP).ravel()
    levels = np.ascontiguousarray(bytes_of[GAP.itemsize :].T).view(LEVELS).ravel()
    entries = np.cumsum(gaps, dtype=np.int64)
    if stored and entries[-1] >= count:
        raise ValueError("the weights cannot be unpacked: there are entries beyond their end")
    table = np.zeros(count, LEVELS)
    table[entries] = levels
    return table


def largest_sum(table: NDArray[np.int16], pairs: NDArray[np.int32]) -> int:
    """Return a bound on the size of any position's sum in any stage, of symmetric pairs."""
    bound = np.zeros(STAGES, np.int64)
    for start, end in pairwise([*OFFSETS.tolist(), SIZE]):
        bound += np.abs(table[start:end].astype(np.int32)).max(axis=0)
    terms = PAIRED_PIECES * (PAIRED_PIECES - 1) // 2
    return int((bound + terms * np.abs(pairs).max(axis=(0, 1))).max())


def pack_stages(weights: NDArray[np.int16]) -> NDArray[np.int32]:
    """Return the weights of each two neighbouring stages as one int32, the lower stages first.

    The weight of the upper stage is counted 2^16 times. A sum of such numbers is the number of the
    stages' sums, as long as these fit into 16 bits.
    """
    packed = np.empty((STAGES - 1, *weights.shape[:-1]), np.int32)
    for stage, numbers in enumerate(packed):
        numbers[...] = weights[..., stage + 1]
        numbers <<= 16
        numbers += weights[..., stage]
    return packed


@kernel
def unpack_stages(total: int) -> tuple[int, int]:
    """Return the sums of the lower and the upper stage from a sum of packed weights."""
    lower = (total & 0xFFFF ^ 0x8000) - 0x8000  # the lowest 16 bits as a signed number
    return lower, (total - lower) >> 16


@kernel
def taper(position: Position) -> tuple[int, int]:
    """Return the lower of the two stages that a position blends, and the parts of the upper."""
    pieces = popcount(position.black | position.white)
    parts = min(max(2 * pieces - FIRST_PARTS, 0), (STAGES - 1) * PARTS)
    stage = min(parts // PARTS, STAGES - 2)
    return stage, parts - PARTS * stage


@kernel
def piece_kind(position: Position, bit: int) -> int:
    """Return the number of the piece on a bit, as the side to move sees it.

    It is four times the square, and 0 to 3 for a man or king of the other side or its own.
    """
    own, _ = own_and_opponent(position.black, position.white, position.turn)
    place = PLACES[bit] if position.turn == BLACK else 31 - PLACES[bit]
    return 4 * place + 2 * (own >> bit & 1) + (position.kings >> bit & 1)


@kernel
def sum_pairs(network: TaperedNetwork, position: Position, stage: int, scratch: KernelArg) -> int:
    """Return the packed sum of the weights of all pairs of pieces; `scratch` gets their kinds."""
    pairs = network.pairs[stage]
    pieces, total, count = position.black | position.white, 0, 0
    while pieces:
        scratch[count] = piece_kind(position, lsb(pieces))
        row = pairs[np.uint32(scratch[count])]
        for i in range(count):
            total += row[np.uint32(scratch[i])]
        pieces &= pieces - 1
        count += 1
    return total


@evaluate.register(TaperedNetwork)
def evaluate_tapered(
    network: TaperedNetwork, position: Position, view: int, state: KernelArg, scratch: KernelArg
) -> float:
    stage, parts = taper(position)
    table = network.table[stage]
    total = int(table[count_entry(position)])
    for i in range(WINDOW_COUNT):
        total += table[entry_of(state, i, position.turn == view)]
    if popcount(position.black | position.white) <= PAIRED_PIECES:
        total += sum_pairs(network, position, stage, scratch)
    lower, upper = unpack_stages(total)
    blended = np.float32(lower * (PARTS - parts) + upper * parts)
    worth = tanh(blended * np.float32(network.step / PARTS))
    return worth if position.turn == view else -worth


keep_sums(TaperedNetwork)
