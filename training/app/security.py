"""Security of the server: checks of requests, and security headers of responses.

The server listens on this machine only, but any web page that its user visits can send requests to
it. Therefore a request must name this machine as its host, which prevents DNS rebinding. A request
that changes something, or goes to ``/api/``, must come from the server's own pages.
"""

from __future__ import annotations

import re
from ipaddress import ip_address

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from training.app.request_body import JSONAnswer

MAX_BYTES = 1 << 20  # largest request
HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([0-9A-Za-z.-]+))(?::[0-9]*)?")  # RFC 9110, 7.2
SAFE_METHODS, API_PREFIX = ("GET", "HEAD"), "/api/"
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


class SecurityMiddleware:
    """ASGI middleware that rejects foreign requests and adds ``HEADERS`` to every response.

    Starlette's TrustedHostMiddleware knows names and ``*.domain`` patterns only, but the hosts here
    are ranges of addresses, among them IPv6.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request (ASGI)."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        app = self.app
        try:
            check_request(scope["method"], scope["path"], Headers(scope=scope))
        except HTTPException as error:
            app = JSONAnswer({"error": error.detail}, error.status_code)
        await app(scope, receive, send_with_headers)


def check_request(method: str, path: str, headers: Headers) -> None:
    """Raise HTTPException unless a request is for this machine, from its own pages, and short."""
    host = headers.get("host", "")
    if not is_loopback(_host_name(host)):
        raise HTTPException(421, f"This server is for this machine only, not for {host!r}.")
    origin, site = headers.get("origin"), headers.get("sec-fetch-site", "same-origin")
    is_foreign = (origin and origin != f"http://{host}") or site not in ("same-origin", "none")
    if is_foreign and (method not in SAFE_METHODS or path.startswith(API_PREFIX)):
        raise HTTPException(403, "Requests from other pages are refused.")
    length = headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > MAX_BYTES:
        raise HTTPException(413, f"A request has at most {MAX_BYTES:,} bytes.")
    if "transfer-encoding" in headers:
        raise HTTPException(411, "A request must say how long it is.")


def is_loopback(host: str) -> bool:
    """Return whether a host name or address is this machine's own."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _host_name(host: str) -> str:
    """Return a Host header without its port; nothing unless it is a name or an address alone."""
    match = HOST.fullmatch(host)
    return (match[1] or match[2]).lower() if match else ""
