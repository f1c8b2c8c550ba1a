"""Copying in kernels."""

from __future__ import annotations

from typing import Any

from checkers_env.jit import kernel


@kernel
def copy(source: Any, target: Any) -> None:
    """Fill a vector from the front of another one.

    An assignment to a slice does it too, and takes seconds longer to compile: it comes with the
    text of its error.
    """
    for i in range(len(target)):
        target[i] = source[i]
