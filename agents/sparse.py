"""Arrays that are half empty, kept without their zeros."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

WORTH_IT = 0.75  # with a smaller share of entries that are not 0


def without_zeros(array: Any) -> tuple[Any, Any] | None:
    """The entries that are not 0, and a bit for each entry; None for an array that is rather full.

    -0.0 is no zero: what :func:`with_zeros` makes of both is the same to the last bit.
    """
    present = array.view(f"u{array.itemsize}") != 0
    if not present.size or present.mean() >= WORTH_IT:
        return None
    return array[present], np.packbits(present)


def with_zeros(entries: Any, bits: Any, shape: Sequence[int]) -> Any:
    """The array of this shape again. Raises ValueError for parts that do not belong together."""
    size = int(np.prod(shape))
    if bits.dtype != np.uint8 or bits.shape != (-(-size // 8),):
        raise ValueError(f"{len(bits)} bytes are not a bit for each of {size} entries")
    present = np.unpackbits(bits, count=size).astype(bool)
    if entries.shape != (np.count_nonzero(present),):
        raise ValueError(f"there are {len(entries)} entries for {np.count_nonzero(present)} places")
    array = np.zeros(size, entries.dtype)
    array[present] = entries
    return array.reshape(shape)
