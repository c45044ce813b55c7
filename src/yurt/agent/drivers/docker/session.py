"""Exec sessions inside a Docker container: the Engine's exec API, whose connection becomes the streams."""

from __future__ import annotations

import asyncio
import contextlib
import struct

import msgspec

from yurt.agent.drivers.docker.answers import Created, Exec
from yurt.agent.drivers.docker.engine import Engine, EngineError, EngineUnreachable, Hijacked
from yurt.agent.drivers.local_session import READ_BYTES_MAX, session_error
from yurt.agent.drivers.session import STDERR, STDOUT, TERMINAL_KIND, SessionRequest
from yurt.agent.launcher import ExitResult

# Output that nobody has read yet; then the container's command waits.
CHUNKS_WAITING_MAX = 16
_STREAM_NAMES = {1: STDOUT, 2: STDERR}
_FRAME_HEAD_BYTES = 8


async def open_in_container(engine: Engine, container_id: str, request: SessionRequest) -> DockerSession:
    """Start a command in a container, as the container's user. Raises DriverError."""
    body = {
        "Cmd": request.argv,
        "AttachStdin": True,
        "AttachStdout": True,
        "AttachStderr": True,
        "Tty": request.tty,
        "Env": [f"TERM={request.env.get('TERM', TERMINAL_KIND)}"] if request.tty else [],
    }
    try:
        created = await engine.post(f"/containers/{container_id}/exec", body=body)
        exec_id = msgspec.json.decode(created, type=Created).id
        streams = await engine.hijack(f"/exec/{exec_id}/start", {"Detach": False, "Tty": request.tty})
    except (EngineError, EngineUnreachable) as error:
        raise session_error(f"failed to start command: {error}") from error
    return DockerSession(engine, exec_id, streams, tty=request.tty)


class DockerSession:
    """A `Session` in a container. Docker offers no way to end its command; it ends with the container."""

    def __init__(self, engine: Engine, exec_id: str, streams: Hijacked, *, tty: bool) -> None:
        self._engine = engine
        self._exec_id = exec_id
        self._streams = streams
        self._tty = tty
        self._chunks: dict[str, asyncio.Queue[bytes]] = {
            name: asyncio.Queue(CHUNKS_WAITING_MAX) for name in self.streams
        }
        self._ended = asyncio.Event()
        self._reading = asyncio.create_task(self._read_all(), name=f"docker exec {exec_id}")

    @property
    def streams(self) -> tuple[str, ...]:
        return (STDOUT,) if self._tty else (STDOUT, STDERR)

    async def read(self, stream: str) -> bytes:
        return await self._chunks[stream].get()

    async def write(self, data: bytes) -> None:
        with contextlib.suppress(OSError):
            self._streams.writer.write(data)
            await self._streams.writer.drain()

    async def close_input(self) -> None:
        # An encrypted connection cannot be closed in one direction only; the command then goes on waiting.
        with contextlib.suppress(OSError):
            if self._streams.writer.can_write_eof():
                self._streams.writer.write_eof()

    async def resize(self, *, height: int, width: int) -> None:
        if self._tty:
            with contextlib.suppress(EngineError, EngineUnreachable):
                await self._engine.post(f"/exec/{self._exec_id}/resize", h=str(height), w=str(width))

    async def wait(self) -> ExitResult:
        await self._ended.wait()
        try:
            told = await self._engine.get(f"/exec/{self._exec_id}/json", Exec)
        except (EngineError, EngineUnreachable) as error:
            return ExitResult(exit_code=1, error=str(error))
        return ExitResult(exit_code=told.exit_code or 0)

    async def close(self) -> None:
        self._reading.cancel()
        self._streams.writer.transport.abort()

    async def _read_all(self) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            await (self._read_terminal() if self._tty else self._read_frames())
        # The streams are at their end with the command: nothing else in the container holds them.
        self._ended.set()
        for chunks in self._chunks.values():
            await chunks.put(b"")

    async def _read_terminal(self) -> None:
        while data := await self._streams.reader.read(READ_BYTES_MAX):
            await self._chunks[STDOUT].put(data)

    async def _read_frames(self) -> None:
        while True:
            kind, size = struct.unpack(">BxxxL", await self._streams.reader.readexactly(_FRAME_HEAD_BYTES))
            while size:
                data = await self._streams.reader.read(min(size, READ_BYTES_MAX))
                if not data:
                    return
                size -= len(data)
                await self._chunks[_STREAM_NAMES.get(kind, STDOUT)].put(data)
