"""How values are written on the page."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

DASH, MINUS = "\N{EN DASH}", "\N{MINUS SIGN}"
MOST_ITEMS = 6  # of a list among the conditions
WORDS = ((None, "none"), (True, "yes"), (False, "no"))


def percent(share: float) -> str:
    """A share of 1 with a digit behind the point, such as ``62.5``; a dash for nan."""
    return DASH if math.isnan(share) else f"{100 * share:.1f}"


def whole(rating: float) -> str:
    """A rating without digits behind the point, with a true minus sign; a dash for nan."""
    if math.isnan(rating):
        return DASH
    text = "∞" if math.isinf(rating) else f"{abs(rating):.0f}"
    return MINUS + text if rating < 0 and text != "0" else text


def at(place: float) -> str:
    """A place in a chart, as HTML and SVG have it."""
    return f"{place:.2f}".rstrip("0").rstrip(".") + "%"


def shown(value: Any) -> str:
    """A condition, or an option of a player."""
    for constant, word in WORDS:
        if value is constant:
            return word
    if isinstance(value, Mapping):
        return ", ".join(f"{called(name)} {shown(item)}" for name, item in value.items())
    if isinstance(value, list | tuple):
        listed = ", ".join(map(shown, value[:MOST_ITEMS]))
        return listed if len(value) <= MOST_ITEMS else f"{listed}, … ({len(value)} in all)"
    return str(value)


def called(name: str) -> str:
    """The name of a condition or an option."""
    return name.replace("_", " ")
