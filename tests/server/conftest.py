"""Fixtures for tests of the server."""

from __future__ import annotations

import pytest

from yurt.server import keyring
from yurt.server.commands.keyring import KeyringCommands


@pytest.fixture(autouse=True)
def _no_root_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Making a key takes a thread and its time; tests that need one ask for it."""

    async def no_key(_commands: KeyringCommands) -> None:
        return None

    monkeypatch.setattr(KeyringCommands, "make_usable", no_key)
    monkeypatch.setattr(keyring, "RSA_BITS", 1024)  # quicker to make
