"""Variants of presets: a preset with other constants is named ``c0@opponents=10,depth=2``."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import Any

from training.runtime.validation import refuse_ineffective
from training.trainer.presets import Preset


def make_variant(name: str, presets: Mapping[str, Preset]) -> Preset | None:
    """Return the preset of a name, with the constants that follow an ``@``.

    A name is a preset's, or ``NAME@option=value,option=value``; options are fields of the regime.
    None if the part before the ``@`` is no preset.

    Raises
    ------
    ValueError
        For an option that the regime does not have, or that has no effect beside the others, or a
        value that it does not accept.
    """
    if name in presets or "@" not in name:
        return presets.get(name)
    base, _, changes = name.partition("@")
    if base not in presets:
        return None
    preset = presets[base]
    options = dict(_read_option(preset, change) for change in changes.split(","))
    regime: Any = replace(preset.regime, **options)
    refuse_ineffective(regime, {option: option for option in options})
    return preset._replace(regime=regime, cpu_seconds=0)


def variant_name(base: str, options: Mapping[str, str], presets: Mapping[str, Preset]) -> str:
    """Return the name of a preset, or of a variant of it, with other constants.

    Values are texts by option. Those that equal the preset's are left out.

    Raises
    ------
    ValueError
        If an option is unknown, or a value does not fit.
    """
    if base not in presets:
        base, _, given = base.partition("@")
        options = dict(text.split("=", 1) for text in given.split(",")) | dict(options)
    preset = presets[base]
    constants = asdict(preset.regime)
    values = dict(_read_option(preset, f"{option}={text}") for option, text in options.items())
    changed = {option: it for option, it in values.items() if it != constants[option]}
    name = f"{base}@{','.join(f'{option}={_text(it)}' for option, it in changed.items())}"
    if not changed:
        return base
    make_variant(name, presets)
    return name


def _read_option(preset: Preset, assignment: str) -> tuple[str, Any]:
    """Read ``option=value``; the value gets the type of the preset's own."""
    option, equals, text = assignment.partition("=")
    regime: Any = preset.regime
    names = [field.name for field in fields(regime)]
    if option not in names or not equals:
        near = difflib.get_close_matches(option, names) or names
        kind = type(regime).__name__
        raise ValueError(f"{kind} has no option {option!r}: it has {', '.join(near)}")
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    present = getattr(regime, option)
    if isinstance(present, float) and type(value) is int:
        value = float(value)
    if type(value) is not type(present):
        raise ValueError(f"{option} is {_text(present)}, so {text!r} cannot take its place")
    return option, value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
