"""Fixtures for tests of the server."""

from __future__ import annotations

import pytest

from yurt.server.keyring import SigningKey
from yurt.server.server import Server


@pytest.fixture(autouse=True)
def _no_signing_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Making a key takes a thread and its time, and no test here looks at a server's key."""

    async def no_key(_server: Server, _directory: object) -> SigningKey:
        return SigningKey(key_id="test", pem=b"")

    monkeypatch.setattr(Server, "_signing_key", no_key)
