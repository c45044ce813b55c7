"""Saving and restoring the servers' state."""

from typing import BinaryIO

from yurt.sdk.client import Client
from yurt.sdk.errors import ApiError

# A large state takes a while to write before its first byte comes.
SNAPSHOT_IDLE_TIMEOUT_S = 600.0


def save(client: Client, into: BinaryIO, *, stale: bool = False, redact: bool = False) -> str:
    """Write a snapshot archive and return the value of its `Digest` header, empty if there is none."""
    with client.stream(
        "/v1/operator/snapshot", idle_timeout_s=SNAPSHOT_IDLE_TIMEOUT_S, stale=stale, redact=redact
    ) as stream:
        for chunk in stream.chunks():
            into.write(chunk)
        return stream.header("Digest")


def restore(client: Client, archive: BinaryIO) -> None:
    """Replace the servers' state by that of an archive."""
    status, _, body = client.exchange("PUT", "/v1/operator/snapshot", body=archive.read())
    if status >= 400:
        raise ApiError(status, body.decode(errors="replace"))
