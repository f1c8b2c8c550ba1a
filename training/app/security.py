"""What stands between the page and other pages: who may ask, how much, and what may be loaded.

The server listens on this machine only, but any web page that its user visits can send requests to
it. So a request must name this machine as its host (a foreign name that was made to lead here, DNS
rebinding, is refused), and one that changes something, or is made to the interface that our pages
use (below ``/api/``), must come from our own pages.
"""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 1 << 20  # of a request
SAFE, INTERFACE = ("GET", "HEAD"), "/api/"
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}


class Refused(Exception):  # noqa: N818 - what is refused is no error of ours
    """Why a request is not answered, and with which status."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Guard:
    """Refuses foreign requests, and puts the headers above on every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request (ASGI)."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        try:
            check(scope["method"], scope["path"], Headers(scope=scope))
        except Refused as refused:
            answer = JSONResponse({"error": str(refused)}, refused.status)
            await answer(scope, receive, send_with_headers)
            return
        await self.app(scope, receive, send_with_headers)


def check(method: str, path: str, headers: Headers) -> None:
    """Raise Refused for a request that is not from this machine, or not from our own pages."""
    host = headers.get("host", "")
    if not is_loopback(_name(host)):
        raise Refused(421, f"This server is for this machine only, not for {host!r}.")
    origin, site = headers.get("origin"), headers.get("sec-fetch-site", "same-origin")
    foreign = (origin and origin != f"http://{host}") or site not in ("same-origin", "none")
    if foreign and (method not in SAFE or path.startswith(INTERFACE)):
        raise Refused(403, "Requests from other pages are refused.")
    length = headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > MOST_BYTES:
        raise Refused(413, f"A request has at most {MOST_BYTES:,} bytes.")
    if "transfer-encoding" in headers:
        raise Refused(411, "A request must say how long it is.")


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine's own."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _name(host: str) -> str:
    """A Host header without its port."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
