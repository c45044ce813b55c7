"""Waiting on this machine for somebody's browser to come back from their identity provider."""

import http.server
import socketserver
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

from yurt.cli.errors import CommandError

CALLBACK_PATH = "/oidc/callback"
# How long somebody may take at their provider: as long as the servers wait for them.
CALLBACK_WAIT_S = 300.0
REQUEST_TIMEOUT_S = 10.0
REQUESTS_MAX = 100

_PAGE = b"<html><body><p>Close this page: the command line goes on by itself.</p></body></html>"


class BroughtBack(NamedTuple):
    """What a browser brought back."""

    state: str
    code: str
    issuer: str
    error: str


class CallbackListener:
    """Listens for one browser to come back."""

    def __init__(self, server: socketserver.TCPServer, found: list[BroughtBack]) -> None:
        self._server = server
        self._found = found

    def wait(self) -> BroughtBack:
        """What the browser brought. Raises CommandError if nobody comes."""
        self._server.timeout = CALLBACK_WAIT_S
        # Browsers also ask for icons; others may knock, too.
        for _ in range(REQUESTS_MAX):
            self._server.handle_request()
            if self._found:
                return self._found[0]
            if isinstance(self._server, _Listener) and self._server.has_timed_out:
                break
        raise CommandError(f"Nobody came back from the identity provider within {CALLBACK_WAIT_S:.0f} s")


class _Listener(http.server.HTTPServer):
    has_timed_out = False

    def handle_timeout(self) -> None:
        """Note that nobody came."""
        self.has_timed_out = True


@contextmanager
def callback_listener(address: str) -> Iterator[CallbackListener]:
    """Listen on `host:port`. Raises CommandError."""
    host, _, port = address.rpartition(":")
    found: list[BroughtBack] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        timeout = REQUEST_TIMEOUT_S

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if parts.path != CALLBACK_PATH:
                self.send_error(404)
                return
            query = parse_qs(parts.query)
            values = [query.get(name, [""])[0] for name in ("state", "code", "iss", "error")]
            found.append(BroughtBack(*values))
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(_PAGE)))
            self.end_headers()
            self.wfile.write(_PAGE)

        def log_message(self, format: str, *_: object) -> None:
            """Say nothing: the address that is asked for holds a secret."""

    try:
        server = _Listener((host or "localhost", int(port)), Handler)
    except (OSError, ValueError, OverflowError) as error:
        raise CommandError(
            f"Cannot listen on {address}: {error}; choose another address with -oidc-callback-addr"
        ) from None
    with server:
        yield CallbackListener(server, found)
