"""What a request asks for: its JSON, checked field by field."""

from __future__ import annotations

import json
from typing import Any

from starlette.requests import Request

LONGEST_TEXT = 100_000
KINDS = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "an object",
}


async def asked(request: Request, **kinds: type) -> dict[str, Any]:
    """The fields of a request's JSON, None for those that are missing; see :func:`checked`."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    if kind != "application/json":
        raise ValueError(f"The request must be application/json, not {kind or 'without a type'}.")
    try:
        body = json.loads(await request.body() or b"{}")
    except (ValueError, RecursionError) as error:
        raise ValueError(f"The request is no JSON: {error}.") from None
    return checked(body, **kinds)


def checked(body: Any, **kinds: type) -> dict[str, Any]:
    """The fields of an object. Raises ValueError for unknown ones, and for those of other kinds."""
    if not isinstance(body, dict):
        raise ValueError("The request must be a JSON object.")
    for name in body:
        if name not in kinds:
            raise ValueError(f"There is no field {name!r}: there are {', '.join(kinds) or 'none'}.")
    return {name: _checked(name, body.get(name), kind) for name, kind in kinds.items()}


def _checked(name: str, given: Any, kind: type) -> Any:
    accepted = (int, float) if kind is float else (kind,)
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, accepted):
        raise ValueError(f"{name} must be {KINDS[kind]}, not {given!r}.")
    if isinstance(given, str):
        _check_text(name, given)
    return given


def _check_text(name: str, given: str) -> None:
    if len(given) > LONGEST_TEXT:
        raise ValueError(f"{name} has {len(given)} characters: at most {LONGEST_TEXT} are taken.")
    try:
        given.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name} holds half a character, which no file can.") from None
