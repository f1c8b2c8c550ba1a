"""Checks of settings: a regime's constants, and options of the command lines."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any


def validate_ranges(
    constants: Any,
    ranges: Mapping[str, tuple[float, float]],
    choices: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> None:
    """Raise ValueError, with the name and what is accepted, for a constant that makes no sense.

    Each range has a least and a greatest value; both are accepted.
    """
    for name, (least, most) in ranges.items():
        value = getattr(constants, name)
        if not least <= value <= most:
            accepted = f"at least {least}" if most == math.inf else f"{least} to {most}"
            raise ValueError(f"{name} must be {accepted}, not {value}")
    for name, known in choices.items():
        value = getattr(constants, name)
        if value not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}, not {value!r}")
