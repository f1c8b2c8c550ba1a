"""What a run or a league is known by, when it is gone on with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def disagreement(there: dict[str, Any], asked: dict[str, Any]) -> str:
    """In what two of them differ, for an error's message; empty where they are the same."""
    return "; ".join(_differences(there, asked))


def _differences(there: dict[str, Any], asked: dict[str, Any], within: str = "") -> Iterator[str]:
    for name in sorted({*there, *asked}):
        one, other = there.get(name), asked.get(name)
        if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
            yield from _differences(one, other, f"{within}{name}.")
        elif one != other:
            yield f"{within}{name} is {one!r} there and {other!r} here"
