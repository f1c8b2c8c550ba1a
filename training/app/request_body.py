"""JSON bodies of requests, with type checks of each field."""

from __future__ import annotations

import json
from typing import Any

from starlette.requests import Request

MAX_TEXT_LENGTH = 100_000
TYPE_NAMES = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "an object",
}


async def read_fields(request: Request, **types: type) -> dict[str, Any]:
    """Read the fields of a request's JSON, with None for absent ones; see :func:`check_fields`."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip()
    if media_type != "application/json":
        name = media_type or "without a type"
        raise ValueError(f"The request must be application/json, not {name}.")
    try:
        body = json.loads(await request.body() or b"{}")
    except (ValueError, RecursionError) as error:
        raise ValueError(f"The request is no JSON: {error}.") from None
    return check_fields(body, **types)


def check_fields(body: Any, **types: type) -> dict[str, Any]:
    """Return the fields of an object. Raise ValueError for unknown names and wrong types."""
    if not isinstance(body, dict):
        raise ValueError("The request must be a JSON object.")
    for name in body:
        if name not in types:
            raise ValueError(f"There is no field {name!r}: there are {', '.join(types) or 'none'}.")
    return {name: _check_value(name, body.get(name), type_) for name, type_ in types.items()}


def _check_value(name: str, value: Any, type_: type) -> Any:
    classes = (int, float) if type_ is float else (type_,)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, classes):
        raise ValueError(f"{name} must be {TYPE_NAMES[type_]}, not {value!r}.")
    if isinstance(value, str):
        _check_text(name, value)
    return value


def _check_text(name: str, text: str) -> None:
    if len(text) > MAX_TEXT_LENGTH:
        raise ValueError(f"{name} has {len(text)} characters: at most {MAX_TEXT_LENGTH} are taken.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name} holds half a character, which no file can.") from None
