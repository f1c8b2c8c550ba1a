"""Checks of a regime's constants."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any


def check(
    constants: Any,
    ranges: Mapping[str, tuple[float, float]],
    choices: Mapping[str, Collection[str]],
) -> None:
    """Raise ValueError, with the name and what is accepted, for a constant that makes no sense."""
    for name, (least, most) in ranges.items():
        value = getattr(constants, name)
        if not least <= value <= most:
            raise ValueError(f"{name} must be {least} to {most}, not {value}")
    for name, known in choices.items():
        value = getattr(constants, name)
        if value not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}, not {value!r}")
