"""Reading task logs across rotated files, once or as they grow."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator

from yurt.agent.access.files import FileError, open_file
from yurt.clock import Clock
from yurt.model.wire import SparseWire

FRAME_BYTES_MAX = 64 * 1024
# How often a followed file is looked at again, and how often a quiet stream shows that it lives.
POLL_INTERVAL_S = 0.1
HEARTBEAT_INTERVAL_S = 1.0


class StreamFrame(SparseWire, frozen=True, kw_only=True):
    """A piece of a file; an empty frame only shows that the stream lives."""

    offset: int = 0
    data: bytes = b""
    file: str = ""
    file_event: str = ""


class LogQuery(SparseWire, frozen=True, kw_only=True):
    """Which part of which log to read."""

    task: str
    kind: str
    follow: bool = False
    offset: int = 0
    origin: str = "start"


async def stream_logs(root: str, query: LogQuery, clock: Clock) -> AsyncIterator[StreamFrame]:
    """Read a task's log from where `query` says, following rotation; ends at the end unless told to follow.

    `root` is the allocation's directory. Raises FileError if there is no such log.
    """
    directory = f"{root}/alloc/logs"
    name = f"{query.task}.{query.kind}"
    number, offset = _start(directory, name, query)
    quiet_s = 0.0
    while True:
        file = f"alloc/logs/{name}.{number}"
        descriptor = open_file(root, file)
        try:
            while True:
                data = os.pread(descriptor, FRAME_BYTES_MAX, offset)
                if data:
                    offset += len(data)
                    quiet_s = 0.0
                    yield StreamFrame(offset=offset, data=data, file=file)
                    await asyncio.sleep(0)
                    continue
                later = [n for n in _numbers(directory, name) if n > number]
                if later:
                    break
                if not query.follow:
                    return
                await clock.sleep(POLL_INTERVAL_S)
                quiet_s += POLL_INTERVAL_S
                if quiet_s >= HEARTBEAT_INTERVAL_S:
                    quiet_s = 0.0
                    yield StreamFrame()
        finally:
            os.close(descriptor)
        number, offset = later[0], 0


def _start(directory: str, name: str, query: LogQuery) -> tuple[int, int]:
    """The file and the offset in it at which to begin, counted over all files that are kept."""
    numbers = _numbers(directory, name)
    if not numbers:
        raise FileError(
            f'log entry for task "{query.task}" and log type "{query.kind}" not found', is_missing=True
        )
    sizes = [_size(f"{directory}/{name}.{number}") for number in numbers]
    total = sum(sizes)
    from_end = query.origin == "end" or query.offset < 0
    position = max(0, total - abs(query.offset)) if from_end else min(query.offset, total)
    for number, size in zip(numbers, sizes, strict=True):
        if position < size or number == numbers[-1]:
            return number, min(position, size)
        position -= size
    return numbers[-1], sizes[-1]


def _numbers(directory: str, name: str) -> list[int]:
    pattern = re.compile(re.escape(name) + r"\.(\d+)")
    try:
        found = os.listdir(directory)
    except FileNotFoundError:
        return []
    return sorted(int(match[1]) for entry in found if (match := pattern.fullmatch(entry)))


def _size(path: str) -> int:
    try:
        return os.stat(path, follow_symlinks=False).st_size
    except FileNotFoundError:
        return 0


async def stream_file(
    root: str, path: str, *, offset: int, from_end: bool, follow: bool, clock: Clock
) -> AsyncIterator[StreamFrame]:
    """Read one file of an allocation in frames; ends at the end unless told to follow."""
    descriptor = open_file(root, path)
    try:
        size = os.fstat(descriptor).st_size
        position = max(0, size - abs(offset)) if from_end or offset < 0 else offset
        quiet_s = 0.0
        while True:
            data = os.pread(descriptor, FRAME_BYTES_MAX, position)
            if data:
                position += len(data)
                quiet_s = 0.0
                yield StreamFrame(offset=position, data=data, file=path)
                await asyncio.sleep(0)
                continue
            found = os.fstat(descriptor)
            if found.st_nlink == 0:
                yield StreamFrame(offset=position, file=path, file_event="file deleted")
                return
            if found.st_size < position:
                position = 0
                yield StreamFrame(offset=0, file=path, file_event="file truncated")
                continue
            if not follow:
                return
            await clock.sleep(POLL_INTERVAL_S)
            quiet_s += POLL_INTERVAL_S
            if quiet_s >= HEARTBEAT_INTERVAL_S:
                quiet_s = 0.0
                yield StreamFrame()
    finally:
        os.close(descriptor)
