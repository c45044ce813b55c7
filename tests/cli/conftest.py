"""Fixtures for tests of the command line."""

from collections.abc import Iterator

import pytest

from tests.cli.command_line import CommandLine
from tests.sdk.replay_server import ReplayServer

SELF = {
    "config": {"UI": {"Enabled": True, "ShowCLIHints": True}},
    "member": {},
    "stats": {"client": {"node_id": "156a61b8-993b-5837-08a7-3aa72ade4f92"}},
}


@pytest.fixture
def server() -> Iterator[ReplayServer]:
    replay = ReplayServer()
    replay.on("GET", "/v1/agent/self", SELF)
    replay.on("GET", "/ui/", b"<html>")
    yield replay
    replay.close()


@pytest.fixture
def yurt(monkeypatch: pytest.MonkeyPatch, server: ReplayServer) -> CommandLine:
    return CommandLine(monkeypatch, server)
