"""Validation of configurations by the annotations of their fields.

A regime writes ``depth: Annotated[int, Range(1, MAX_DEPTH)] = 4``: the range stands beside the
constant, and :func:`validate_ranges` checks it. attrs validators would do the same, but tyro reads
the help of an option from a dataclass.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints


@dataclass(frozen=True)
class Range:
    """Accepted values of a number, both ends included."""

    least: float
    most: float = math.inf

    def __contains__(self, value: float) -> bool:
        return self.least <= value <= self.most

    def __str__(self) -> str:
        return f"at least {self.least}" if self.most == math.inf else f"{self.least} to {self.most}"


@dataclass(frozen=True)
class OneOf:
    """Accepted texts; those of a ``Literal`` need no such annotation."""

    texts: Collection[str]

    def __contains__(self, value: str) -> bool:
        return value in self.texts

    def near(self, value: str) -> list[str]:
        """Return the accepted text that is most like `value`, if one is like it."""
        return difflib.get_close_matches(str(value), self.texts, 1)

    def __str__(self) -> str:
        return f"one of {', '.join(self.texts)}"


def validate_ranges(
    config: Any, ranges: Mapping[str, tuple[float, float]] = MappingProxyType({})
) -> None:
    """Raise ValueError, with the field's name, for a value that is out of its range.

    Parameters
    ----------
    config
        Dataclass; fields annotated with :class:`Range` or :class:`OneOf`, and ``Literal`` fields,
        are checked.
    ranges
        Least and greatest value of further fields, by name.
    """
    rules = {name: Range(*ends) for name, ends in ranges.items()} | _annotated_rules(
        config.__class__
    )
    for name, accepted in rules.items():
        value = getattr(config, name)
        if value not in accepted:
            near = accepted.near(value) if isinstance(accepted, OneOf) else []
            hint = f": did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"{name} must be {accepted}, not {value!r}{hint}")


@cache
def _annotated_rules(kind: Hashable) -> dict[str, Range | OneOf]:
    """Read the rules of a class's fields."""
    rules: dict[str, Range | OneOf] = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        if get_origin(hint) is Literal:
            rules[name] = OneOf(get_args(hint))
        elif get_origin(hint) is Annotated:
            for rule in hint.__metadata__:
                if isinstance(rule, Range | OneOf):
                    rules[name] = rule
    return rules
