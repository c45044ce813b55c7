"""One HTTP connection, held to its listener's limits."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from typing import Any

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.server import ServerState

from yurt.api.call import PEER_NAMES
from yurt.api.connection_limits import ClientConnections, ConnectionLimits

# A body that keeps coming at this rate is not slow, however large it is.
BODY_BYTES_PER_S_MIN = 16 * 1024


def connection_type(limits: ConnectionLimits) -> type[Connection]:
    """The class of a listener's connections: uvicorn makes them itself, of a class with its arguments."""
    counts = ClientConnections(limits.connections_per_client_max)
    return type("LimitedConnection", (Connection,), {"limits": limits, "counts": counts})


class Connection(HttpToolsProtocol):
    """A connection that is closed when its client is too slow, sends too large a head, or has too many."""

    limits: ConnectionLimits
    counts: ClientConnections

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._counted_host: str | None = None
        self._peer_names: tuple[str, ...] | None = None
        self._reading_timer: asyncio.TimerHandle | None = None
        self._writing_timer: asyncio.TimerHandle | None = None
        self._is_in_head = False
        self._is_in_body = False
        self._is_refused = False
        # All that came since the head began, which may be some of the body, too.
        self._head_bytes = 0
        self._body_bytes = 0
        self._body_began = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin, unless the client has enough connections already."""
        super().connection_made(transport)
        host = self.client[0] if self.client else ""
        if not self.counts.take(host):
            limit = self.limits.connections_per_client_max
            self._refuse(
                429, f"too many connections from {host}: at most {limit} at a time; reuse or close some"
            )
            return
        self._counted_host = host
        self._peer_names = _peer_names(transport)
        self._watch_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._forget()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes of a request."""
        if self._is_refused:
            return
        if not self._is_in_body:
            self._head_bytes += len(data)
        super().data_received(data)
        # Most requests come whole. Only those that did not are timed.
        if self._is_in_body:
            if self._reading_timer is None:
                self._body_began = self.loop.time()
                self._watch(self.limits.body_timeout_s, self._check_body)
        elif not self._is_in_head:
            self._stop_watching()
        elif self._head_bytes > self.limits.head_bytes_max:
            self._refuse_head()
        elif self._reading_timer is None:
            self._watch_head()

    def on_message_begin(self) -> None:
        """Begin a request."""
        super().on_message_begin()
        self._is_in_head = True
        if self._peer_names is not None:
            scope: dict[str, Any] = self.scope  # type: ignore[assignment]
            scope[PEER_NAMES] = self._peer_names

    def on_headers_complete(self) -> None:
        """Hand the request on, and expect its body."""
        self._is_in_head, self._is_in_body = False, True
        is_huge = self._head_bytes > self.limits.head_bytes_max and self._is_head_huge()
        self._head_bytes = self._body_bytes = 0
        self._stop_watching()
        if is_huge:
            self._refuse_head()
        else:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of the body."""
        if not self._is_refused:
            self._body_bytes += len(body)
            super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request; the next byte begins another."""
        self._is_in_body = False
        self._stop_watching()
        if not self._is_refused:
            super().on_message_complete()

    def handle_websocket_upgrade(self) -> None:
        """Let a WebSocket have the connection, which still counts until it ends."""
        self._stop_watching()
        super().handle_websocket_upgrade()
        session: Any = self.transport.get_protocol()
        if self._peer_names is not None and hasattr(session, "scope"):
            session.scope[PEER_NAMES] = self._peer_names
        lost: Callable[[Exception | None], None] = session.connection_lost

        def connection_lost(exc: Exception | None) -> None:
            self._forget()
            lost(exc)

        session.connection_lost = connection_lost

    def pause_writing(self) -> None:
        """Stop answering a client that does not read, for a while."""
        super().pause_writing()
        self._writing_timer = self.loop.call_later(self.limits.write_timeout_s, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on answering."""
        super().resume_writing()
        self._stop_write_timer()

    def _watch_head(self) -> None:
        self._watch(
            self.limits.head_timeout_s,
            lambda: self._refuse(408, f"no whole request within {self.limits.head_timeout_s:g} s"),
        )

    def _is_head_huge(self) -> bool:
        size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        return size > self.limits.head_bytes_max

    def _refuse_head(self) -> None:
        self._refuse(431, f"the request's head is larger than {self.limits.head_bytes_max} bytes")

    def _check_body(self) -> None:
        allowed_s = self.limits.body_timeout_s + self._body_bytes / BODY_BYTES_PER_S_MIN
        left_s = self._body_began + allowed_s - self.loop.time()
        if self.flow.read_paused:  # the delay is ours
            left_s = max(left_s, self.limits.body_timeout_s)
        if left_s > 0:
            self._watch(left_s, self._check_body)
        else:
            self.transport.abort()

    def _watch(self, within_s: float, check: Callable[[], object]) -> None:
        self._stop_watching()
        self._reading_timer = self.loop.call_later(within_s, check)

    def _stop_watching(self) -> None:
        if self._reading_timer is not None:
            self._reading_timer.cancel()
            self._reading_timer = None

    def _stop_write_timer(self) -> None:
        if self._writing_timer is not None:
            self._writing_timer.cancel()
            self._writing_timer = None

    def _forget(self) -> None:
        self._stop_watching()
        self._stop_write_timer()
        if self._counted_host is not None:
            self.counts.release(self._counted_host)
            self._counted_host = None

    def _refuse(self, status: int, text: str) -> None:
        """Answer for the application, which has not seen the request, and hang up."""
        self._stop_watching()
        if self._is_refused or self.transport.is_closing():
            return
        self._is_refused = True
        body = text.encode()
        self.transport.write(
            STATUS_LINE[status]
            + b"content-type: text/plain; charset=utf-8\r\n"
            + f"content-length: {len(body)}\r\nconnection: close\r\n\r\n".encode()
            + body
        )
        self.transport.close()


def _peer_names(transport: asyncio.Transport) -> tuple[str, ...] | None:
    """The names of the certificate that the client showed; None if it showed none."""
    tls: ssl.SSLObject | None = transport.get_extra_info("ssl_object")
    certificate: dict[str, Any] | None = tls.getpeercert() if tls is not None else None
    if not certificate:
        return None
    names = [value for kind, value in certificate.get("subjectAltName", ()) if kind == "DNS"]
    names += [value for part in certificate["subject"] for kind, value in part if kind == "commonName"]
    return tuple(dict.fromkeys(str(name) for name in names))
