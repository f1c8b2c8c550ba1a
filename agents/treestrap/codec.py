"""Compression of tables to a few megabytes: rounded, without zeros, deflated."""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agents.treestrap.network import SIZE, STAGES

STEP = 2.0**-8  # entries are rounded to multiples of this
LEVEL = 6  # compression level; 9 is 2 % smaller and four times as slow
GAP, LEVELS = np.dtype("<u4"), np.dtype("<i2")
ENTRY_BYTES = GAP.itemsize + LEVELS.itemsize


def pack(table: NDArray[np.float32], step: float = STEP) -> NDArray[np.uint8]:
    """Compress tables, most of whose entries are zeros; return uint8[bytes].

    The content holds, for each entry that does not round to zero, the distance from the entry
    before it and the entry in steps. All lowest bytes come first, then all second bytes, and so
    on, which compresses better. Raise ValueError for an entry that is no number or too large.
    """
    entries = np.flatnonzero(table.ravel() != 0)  # much faster than of the numbers themselves
    levels = np.rint(table.ravel()[entries] / step)
    if not np.all(np.abs(levels) <= np.iinfo(LEVELS).max):
        raise ValueError("the table has entries that are no numbers, or too large to use")
    entries, levels = entries[levels != 0], levels[levels != 0]
    numbers = np.diff(entries, prepend=0).astype(GAP), levels.astype(LEVELS)
    planes = [each.view(np.uint8).reshape(-1, each.itemsize).T for each in numbers]
    content = b"".join(plane.tobytes() for plane in planes)
    return np.frombuffer(zlib.compress(content, LEVEL), np.uint8)


def unpack(packed: ArrayLike, count: int = STAGES * SIZE) -> NDArray[np.int16]:
    """Return `count` entries in steps, int16; raise ValueError for other than packed bytes."""
    packed = np.asarray(packed)
    if packed.dtype != np.uint8 or packed.ndim != 1:
        raise ValueError(
            f"packed tables are a vector of uint8, not {packed.dtype}{list(packed.shape)}"
        )
    largest = count * ENTRY_BYTES
    reader = zlib.decompressobj()
    try:
        content = reader.decompress(packed.tobytes(), largest)
    except zlib.error as error:
        raise ValueError(f"the tables cannot be unpacked: {error}") from None
    stored, rest = divmod(len(content), ENTRY_BYTES)
    if rest or not reader.eof:
        raise ValueError("the tables cannot be unpacked: they are cut off, or too many")
    bytes_of = np.frombuffer(content, np.uint8).reshape(ENTRY_BYTES, stored)
    gaps = np.ascontiguousarray(bytes_of[: GAP.itemsize].T).view(GAP).ravel()
    levels = np.ascontiguousarray(bytes_of[GAP.itemsize :].T).view(LEVELS).ravel()
    entries = np.cumsum(gaps, dtype=np.int64)
    if stored and entries[-1] >= count:
        raise ValueError("the tables cannot be unpacked: there are entries beyond their end")
    table = np.zeros(count, LEVELS)
    table[entries] = levels
    return table
