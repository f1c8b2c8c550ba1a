"""JSON bodies of requests, with type checks of each field, and of responses."""

from __future__ import annotations

import json
from typing import Any

from anyio import fail_after
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse

MAX_TEXT_LENGTH = 100_000
MAX_QUOTE = 100  # characters of a wrong value in an error
BODY_SECONDS = 10.0  # for a request's body to arrive
Json = dict[str, Any]
TYPE_NAMES = {
    bool: "true or false",
    str: "a text",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "an object",
}


class JSONAnswer(JSONResponse):
    """JSON in which a file name that is no UTF-8 is shown as far as it can be."""

    def render(self, content: Any) -> bytes:
        """Return the bytes of the body."""
        return json.dumps(
            content, ensure_ascii=False, allow_nan=False, separators=(",", ":")
        ).encode("utf-8", "replace")


async def read_fields(request: Request, **types: type) -> dict[str, Any]:
    """Read the fields of a request's JSON, with None for absent ones; see :func:`check_fields`."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip()
    if media_type != "application/json":
        name = media_type or "without a type"
        raise ValueError(f"The request must be application/json, not {name}.")
    try:
        with fail_after(BODY_SECONDS):
            content = await request.body()
        body = json.loads(content or b"{}")
    except TimeoutError:
        reason = f"The request did not arrive within {BODY_SECONDS:g} seconds."
        raise HTTPException(408, reason) from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"The request is no JSON: {error}.") from None
    return check_fields(body, **types)


def check_fields(body: Any, **types: type) -> dict[str, Any]:
    """Return the fields of an object. Raise ValueError for unknown names and wrong types."""
    if not isinstance(body, dict):
        raise ValueError("The request must be a JSON object.")
    for name in body:
        if name not in types:
            raise ValueError(
                f"There is no field {_quote(name)}: there are {', '.join(types) or 'none'}."
            )
    return {name: _check_value(name, body.get(name), type_) for name, type_ in types.items()}


def _check_value(name: str, value: Any, type_: type) -> Any:
    classes = (int, float) if type_ is float else (type_,)
    if value is None:
        return None
    if isinstance(value, bool) != (type_ is bool) or not isinstance(value, classes):
        raise ValueError(f"{name} must be {TYPE_NAMES[type_]}, not {_quote(value)}.")
    if isinstance(value, str):
        _check_text(name, value)
    return value


def _quote(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= MAX_QUOTE else f"{text[:MAX_QUOTE]}..."


def _check_text(name: str, text: str) -> None:
    if len(text) > MAX_TEXT_LENGTH:
        raise ValueError(f"{name} has {len(text)} characters: at most {MAX_TEXT_LENGTH} are taken.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name} holds half a character, which no file can.") from None
