"""A container's output is copied once, whatever happens to the connection, to Docker or to the copier."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

import pytest

from yurt.agent.launcher import LauncherClient, LaunchSpec, LogLimits, TaskKey
from yurt.agent.launcher.daemon.docker_logs import NAME, unix_time

OUT, ERR = 1, 2
Message = tuple[int, int, str]
"""Stream, nanosecond and text."""


class FakeDocker:
    """A daemon with one container; each time its log is asked for it gives the next of `answers`, cut
    short as they are, and is away where the answer is None.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.answers: list[list[Message] | None] = []
        self.asked_since: list[int] = []

    @property
    def is_running(self) -> bool:
        return bool(self.answers)

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = (await reader.readuntil(b"\r\n\r\n")).decode()
        if "/json" in request:
            body = b'{"State":{"Running":%s}}' % (b"true" if self.is_running else b"false")
        else:
            self.asked_since.append(int(re.findall(r"since=(\d+)", request)[0]))
            answer = self.answers.pop(0)
            if answer is None:
                writer.close()
                return
            body = b"".join(frame(*message) for message in answer)
        writer.write(b"HTTP/1.0 200 OK\r\nContent-Type: x\r\n\r\n" + body)
        await writer.drain()
        writer.close()


def frame(stream: int, at: int, text: str) -> bytes:
    payload = f"2026-11-15T18:48:04.{at:09d}Z {text}".encode()
    return bytes([stream, 0, 0, 0]) + len(payload).to_bytes(4, "big") + payload


@pytest.fixture
async def docker(tmp_path: Path) -> AsyncIterator[FakeDocker]:
    fake = FakeDocker(tmp_path / "docker.sock")
    server = await asyncio.start_unix_server(fake.handle, fake.path)
    yield fake
    server.close()
    await server.wait_closed()


def follower(docker: FakeDocker, logs: Path, attempt: int = 0) -> LaunchSpec:
    return LaunchSpec(
        key=TaskKey("alloc", "t", attempt),
        path="",
        argv=("c1", str(logs.parent / "position"), "frames", f"unix://{docker.path}", "", "", ""),
        env={},
        logs=LogLimits(directory=str(logs), files_max=3, file_bytes_max=1 << 20),
        builtin=NAME,
    )


def messages(stream: int, times: Iterable[int]) -> list[Message]:
    return [(stream, at, f"{at}\n") for at in times]


async def copied(launcher: LauncherClient, docker: FakeDocker, logs: Path, attempt: int = 0) -> list[str]:
    task = await launcher.start(follower(docker, logs, attempt))
    async with asyncio.timeout(60):
        assert (await task.wait()).is_success
    return [(logs / f"t.{stream}.0").read_text() for stream in ("stdout", "stderr")]


async def test_a_lost_connection_leaves_neither_gap_nor_repetition(
    launcher: LauncherClient, docker: FakeDocker, logs: Path
) -> None:
    docker.answers = [
        messages(OUT, range(1, 4)),
        None,
        messages(OUT, range(1, 7)),
        messages(OUT, range(1, 9)),
    ]

    out, _ = await copied(launcher, docker, logs)

    assert out == "".join(f"{at}\n" for at in range(1, 9))
    assert docker.asked_since[0] == 0
    assert all(since == unix_time("2026-11-15T18:48:04Z") - 2 for since in docker.asked_since[1:])


async def test_messages_of_one_moment_are_counted(
    launcher: LauncherClient, docker: FakeDocker, logs: Path
) -> None:
    docker.answers = [
        [(OUT, 5, "a\n"), (OUT, 5, "b\n")],
        [(OUT, 5, "a\n"), (OUT, 5, "b\n"), (OUT, 5, "c\n")],
    ]

    assert (await copied(launcher, docker, logs))[0] == "a\nb\nc\n"


async def test_streams_whose_times_cross_are_both_whole(
    launcher: LauncherClient, docker: FakeDocker, logs: Path
) -> None:
    first = [(OUT, 9, "late\n"), (ERR, 4, "early\n")]
    docker.answers = [first, [*first, (ERR, 6, "still early\n"), (OUT, 10, "later\n")]]

    assert await copied(launcher, docker, logs) == ["late\nlater\n", "early\nstill early\n"]


async def test_a_clock_that_was_set_back_loses_nothing_on_one_connection(
    launcher: LauncherClient, docker: FakeDocker, logs: Path
) -> None:
    docker.answers = [[(OUT, 9, "a\n"), (OUT, 3, "b\n"), (OUT, 4, "c\n")]]

    assert (await copied(launcher, docker, logs))[0] == "a\nb\nc\n"


async def test_another_copier_goes_on_from_the_position_on_file(
    launcher: LauncherClient, docker: FakeDocker, logs: Path
) -> None:
    docker.answers = [messages(OUT, range(1, 4))]
    await copied(launcher, docker, logs)
    docker.answers = [messages(OUT, range(1, 7))]

    out, _ = await copied(launcher, docker, logs, attempt=1)

    assert out == "".join(f"{at}\n" for at in range(1, 7))


async def test_a_container_that_is_gone_ends_the_copy(
    launcher: LauncherClient, docker: FakeDocker, logs: Path
) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.0 404 Not Found\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_unix_server(refuse, docker.path.with_suffix(".gone"))
    docker.path = docker.path.with_suffix(".gone")

    assert await copied(launcher, docker, logs) == ["", ""]
    server.close()
    await server.wait_closed()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("2000-02-29T12:00:00.5Z", 951_825_600),
        ("2026-11-15T18:48:04.123456789Z", 1_794_768_484),
        ("2100-03-01T00:00:00Z", 4_107_542_400),
    ],
)
def test_times_are_read(text: str, seconds: int) -> None:
    assert unix_time(text) == seconds
