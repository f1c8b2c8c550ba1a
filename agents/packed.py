"""Deflated content of weight files, and tables of which few entries are not 0.

For each such entry there is the distance from the one before it, and how many steps it is. All
lowest bytes come first, then all second bytes, and so on.
"""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import NDArray

GAP, LEVELS = np.dtype("<u4"), np.dtype("<i2")
ENTRY_BYTES = GAP.itemsize + LEVELS.itemsize


def inflate(packed: bytes, most: int) -> bytes:
    """Return the content, at most so many bytes; raise ValueError for what is no such content."""
    reader = zlib.decompressobj()
    try:
        content = reader.decompress(packed, most)
    except zlib.error as error:
        raise ValueError(f"the weights cannot be unpacked: {error}") from None
    if not reader.eof:
        raise ValueError("the weights cannot be unpacked: they are cut off, or too many")
    return content


def unpack(packed: bytes, count: int) -> NDArray[np.int16]:
    """Return `count` entries in steps, int16; raise ValueError for other than packed tables."""
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
