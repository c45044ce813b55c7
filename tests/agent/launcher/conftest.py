"""A launcher for each test, with all it started ended afterwards."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.agent.launcher.real_tasks import Gate, Mailbox, ShellTask, shell_task
from yurt.agent.launcher import LauncherClient


@pytest.fixture
async def launcher(tmp_path: Path) -> AsyncIterator[LauncherClient]:
    client = LauncherClient(tmp_path / "launcher")
    yield client
    await client.shutdown(kill_tasks=True)


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    directory = tmp_path / "logs"
    directory.mkdir()
    return directory


@pytest.fixture
def shell(logs: Path) -> ShellTask:
    return partial(shell_task, logs)


@pytest.fixture
def mailbox(tmp_path: Path) -> Iterator[Mailbox]:
    mailbox = Mailbox(tmp_path / "mailbox")
    yield mailbox
    mailbox.close()


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    gate = Gate(tmp_path / "gate")
    yield gate
    gate.close()
