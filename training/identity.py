"""What a run or a league is known by, when it is gone on with."""

from __future__ import annotations

from typing import Any


def disagreement(there: dict[str, Any], asked: dict[str, Any]) -> str:
    """In what two of them differ, for an error's message; empty where they are the same."""
    return "; ".join(
        f"{name} is {there.get(name)!r} there and {asked.get(name)!r} here"
        for name in sorted({*there, *asked})
        if there.get(name) != asked.get(name)
    )
