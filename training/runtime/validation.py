"""Validation of configurations by the annotations of their fields.

A regime writes ``depth: Annotated[int, Range(1, MAX_DEPTH)] = 4``: the range stands beside the
constant, and :func:`validate_ranges` checks it. A field that only some settings read says so by
:class:`Needs` or :class:`Excludes`. :func:`refuse_ineffective` then refuses the option where it
would have no effect. attrs validators would do the same, but tyro reads the help of an option from
a dataclass.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from numbers import Integral, Real
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints


@dataclass(frozen=True)
class Range:
    """Accepted values of a number, both ends included."""

    least: float
    most: float = math.inf
    whole: bool = False

    def accepts_type(self, value: object) -> bool:
        """Return whether a value is a number, and a whole one where only those are accepted."""
        return isinstance(value, Integral if self.whole else Real)

    def __contains__(self, value: float) -> bool:
        return self.least <= value <= self.most

    def __str__(self) -> str:
        # Ranges that differ in 1 and 1.0 are equal, and Annotated may give either.
        least, most = (int(it) if float(it).is_integer() else it for it in (self.least, self.most))
        if least == most:
            return f"{least}"
        return f"at least {least}" if most == math.inf else f"{least} to {most}"


@dataclass(frozen=True)
class Below:
    """Accepted values of a number that is less than a limit."""

    limit: float

    def __contains__(self, value: float) -> bool:
        return value < self.limit

    def __str__(self) -> str:
        return f"below {self.limit:g}"


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
        return f"{'one of ' * (len(self.texts) > 1)}{', '.join(self.texts)}"


@dataclass(frozen=True)
class Needs:
    """Condition under which a field has an effect.

    Attributes
    ----------
    field
        Another field of the dataclass.
    accepted
        Its values for that; None for all but None, False and what is empty.
    """

    field: str
    accepted: Range | Below | OneOf | None = None


@dataclass(frozen=True)
class Excludes:
    """Another field of the dataclass that leaves a field without effect wherever it is set."""

    field: str


def validate_ranges(config: Any) -> None:
    """Raise ValueError, with the field's name, for a value that is out of its range.

    Parameters
    ----------
    config
        Dataclass; fields annotated with :class:`Range` or :class:`OneOf`, and ``Literal`` fields,
        are checked.
    """
    for name, accepted in _annotated_rules(config.__class__).items():
        value = getattr(config, name)
        if isinstance(accepted, Range) and not accepted.accepts_type(value):
            kind = "a whole number" if accepted.whole else "a number"
            raise ValueError(f"{name} must be {kind}, {accepted}, not {value!r}")
        if value not in accepted:
            near = accepted.near(value) if isinstance(accepted, OneOf) else []
            hint = f": did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"{name} must be {accepted}, not {value!r}{hint}")


def refuse_ineffective(
    config: Any, given: Mapping[str, str], spell: Callable[[str], str] = str
) -> None:
    """Raise ValueError for an option that the user gave and other settings leave without effect.

    Parameters
    ----------
    config
        Dataclass; fields annotated with :class:`Needs` or :class:`Excludes` are checked.
    given
        The options that the user gave, as written, by the names of their fields. Defaults, such as
        those of a preset, are never refused.
    spell
        Function from the name of a field to its option.
    """
    conditions = _conditions(config.__class__)
    for name, option in given.items():
        for rule in conditions.get(name, ()):
            if fault := _fault(rule, spell(rule.field), getattr(config, rule.field)):
                raise ValueError(f"{option} has no effect {fault}")


@cache
def _conditions(kind: Hashable) -> dict[str, list[Needs | Excludes]]:
    """Read the conditions of a class's fields."""
    return {
        name: [it for it in getattr(hint, "__metadata__", ()) if isinstance(it, Needs | Excludes)]
        for name, hint in get_type_hints(kind, include_extras=True).items()
    }


def _fault(rule: Needs | Excludes, other: str, value: Any) -> str:
    """Say why a rule is broken by the value of the other option; nothing if it is not."""
    shown = other if value is True else f"{other} {value}"
    if isinstance(rule, Excludes):
        return f"with {shown}: leave one of the two out" if value not in (None, False, ()) else ""
    if rule.accepted is None:
        return "" if value else f"without {other}: leave it out, or give {other} as well"
    if value in rule.accepted:
        return ""
    return f"with {shown}: leave it out, or let {other} be {rule.accepted}"


@cache
def _annotated_rules(kind: Hashable) -> dict[str, Range | OneOf]:
    """Read the rules of a class's fields."""
    rules: dict[str, Range | OneOf] = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        kind_of_field, *rest = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        if get_origin(kind_of_field) is Literal:
            rules[name] = OneOf(get_args(kind_of_field))
        for rule in rest:
            if isinstance(rule, Range):
                rules[name] = replace(rule, whole=kind_of_field is int)
            elif isinstance(rule, OneOf):
                rules[name] = rule
    return rules
