"""What a listener allows its clients, so that slow or greedy ones cannot keep others out."""

from __future__ import annotations

import msgspec

CONNECTIONS_PER_CLIENT_MAX = 100
HANDSHAKE_TIMEOUT_S = 5.0
HEAD_TIMEOUT_S = 10.0
BODY_TIMEOUT_S = 60.0
WRITE_TIMEOUT_S = 60.0
# Longer than any blocking query may pause, so that clients' idle connections survive between two.
IDLE_TIMEOUT_S = 330.0
HEAD_BYTES_MAX = 64 * 1024


class ConnectionLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of one listener; a count of 0 is no limit."""

    connections_per_client_max: int = CONNECTIONS_PER_CLIENT_MAX
    handshake_timeout_s: float = HANDSHAKE_TIMEOUT_S
    head_timeout_s: float = HEAD_TIMEOUT_S
    """From the first byte of a request, or the opening of its connection, to the end of its head."""
    body_timeout_s: float = BODY_TIMEOUT_S
    """From the end of the head to the end of the body; each byte that came buys a little more time."""
    write_timeout_s: float = WRITE_TIMEOUT_S
    """How long a client may leave an answer unread."""
    idle_timeout_s: float = IDLE_TIMEOUT_S
    """How long a connection may wait for its next request."""
    head_bytes_max: int = HEAD_BYTES_MAX


DEFAULT_LIMITS = ConnectionLimits()


class ClientConnections:
    """How many connections each client has."""

    def __init__(self, count_max: int) -> None:
        self._count_max = count_max
        self._counts: dict[str, int] = {}

    def take(self, host: str) -> bool:
        """Count a connection from `host`; False, and uncounted, if it has too many."""
        count = self._counts.get(host, 0)
        if self._count_max and count >= self._count_max:
            return False
        self._counts[host] = count + 1
        return True

    def release(self, host: str) -> None:
        """Forget a connection that was taken."""
        count = self._counts[host] - 1
        if count:
            self._counts[host] = count
        else:
            del self._counts[host]
