"""Small tools for the tests of the log."""

from __future__ import annotations

from yurt.log import Log


def ignore(_index: int) -> None:
    """An on_durable that does nothing."""


def read_all(log: Log) -> list[tuple[int, bytes]]:
    """All entries of `log`, in small portions."""
    found: list[tuple[int, bytes]] = []
    first = log.first_index
    while part := log.read(first, limit_bytes=10_000):
        found += part
        first = part[-1][0] + 1
    return found
