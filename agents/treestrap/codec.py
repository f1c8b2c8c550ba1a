"""Tables from a few megabytes: their entries that are not 0, in steps, deflated.

For each such entry there is the distance from the one before it, and how many steps it is. All
lowest bytes come first, then all second bytes, and so on.
"""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import ArrayLike, NDArray

STEP = 2.0**-8  # entries are rounded to multiples of this
GAP, LEVELS = np.dtype("<u4"), np.dtype("<i2")
ENTRY_BYTES = GAP.itemsize + LEVELS.itemsize


def unpack(packed: ArrayLike, count: int) -> NDArray[np.int16]:
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
