"""Validation of configurations by the annotations of their fields.

A regime writes ``depth: Annotated[int, Range(1, MAX_DEPTH)] = 4``: the range stands beside the
constant, and :func:`validate_ranges` checks it. A field that other settings leave without effect
says so by :class:`NoEffectWith`, and :func:`refuse_ineffective` refuses it beside them. Subcommands
could not: the conditions are values, and hold for the names of variants too. attrs validators
would do the same, but tyro reads the help of an option from a dataclass.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Collection, Container, Hashable, Mapping
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
        return f"at least {least}" if most == math.inf else f"{least} to {most}"


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


class NoEffectWith:
    """Other fields that leave a field without effect: any that is set, or by certain values."""

    def __init__(self, *fields: str, **values: Container[Any]) -> None:
        self.conditions = {**dict.fromkeys(fields), **values}


def validate_ranges(config: Any) -> None:
    """Raise ValueError, with the field's name, for a value that is out of its range.

    Fields annotated with :class:`Range` or :class:`OneOf` are checked, and ``Literal`` fields.
    """
    for name, rules in _rules(config.__class__).items():
        value = getattr(config, name)
        for rule in rules:
            if isinstance(rule, Range) and not rule.accepts_type(value):
                kind = "a whole number" if rule.whole else "a number"
                raise ValueError(f"{name} must be {kind}, {rule}, not {value!r}")
            if isinstance(rule, Range | OneOf) and value not in rule:
                near = rule.near(value) if isinstance(rule, OneOf) else []
                hint = f": did you mean {near[0]!r}?" if near else ""
                raise ValueError(f"{name} must be {rule}, not {value!r}{hint}")


def refuse_ineffective(
    config: Any, given: Mapping[str, str], spell: Callable[[str], str] = str
) -> None:
    """Raise ValueError for an option that the user gave and other settings leave without effect.

    `given` has the options as written, by the names of their fields. Defaults, such as those of a
    preset, are never refused.
    """
    rules = _rules(config.__class__)
    for name, option in given.items():
        for rule in rules.get(name, ()):
            conditions = rule.conditions if isinstance(rule, NoEffectWith) else {}
            for other, values in conditions.items():
                value = getattr(config, other)
                if value if values is None else value in values:
                    shown = spell(other) if value is True else f"{spell(other)} {value}"
                    beside = f"with {shown}" if value else f"without {spell(other)}"
                    raise ValueError(f"{option} has no effect {beside}: leave it out")


@cache
def _rules(kind: Hashable) -> dict[str, list[Range | OneOf | NoEffectWith]]:
    """Read the rules of a class's fields."""
    rules = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        bare, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        if get_origin(bare) is Literal:
            notes.append(OneOf(get_args(bare)))
        own = [note for note in notes if isinstance(note, Range | OneOf | NoEffectWith)]
        rules[name] = [
            replace(rule, whole=bare is int) if isinstance(rule, Range) else rule for rule in own
        ]
    return rules
