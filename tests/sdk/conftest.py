"""Fixtures for tests of the SDK."""

from collections.abc import Iterator

import pytest

from tests.sdk.replay_server import ReplayServer
from yurt.sdk import Client


@pytest.fixture
def server() -> Iterator[ReplayServer]:
    replay = ReplayServer()
    yield replay
    replay.close()


@pytest.fixture
def client(server: ReplayServer) -> Iterator[Client]:
    made = Client(server.address)
    yield made
    made.close()
