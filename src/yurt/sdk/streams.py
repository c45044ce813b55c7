"""Answers that go on: raw bytes, log frames and lines of JSON."""

import http.client
import re
from collections.abc import AsyncIterator, Iterator

import msgspec

from yurt.sdk.errors import BadAnswer, ServerUnreachable
from yurt.sdk.exchange import Headers
from yurt.sdk.transport import describe
from yurt.sdk.wire import Record

READ_CHUNK_BYTES = 64 * 1024
# A frame carries at most 64 KiB of data, base64-encoded; past this the text is not a frame.
FRAME_BYTES_MAX = 1024 * 1024


class Frame(Record, frozen=True):
    """A piece of a file or log. `data` is decoded; `file_event` says why a file's bytes end."""

    data: bytes = b""
    file: str = ""
    offset: int = 0
    file_event: str = ""


class ByteStream:
    """The body of an endless answer."""

    def __init__(self, chunks: Iterator[bytes], headers: Headers, url: str) -> None:
        """`chunks` are the bytes of the body as they arrive."""
        self._chunks = chunks
        self._headers = headers
        self._url = url

    def header(self, name: str) -> str:
        """Give a header of the answer, empty if it is not there."""
        return self._headers.get(name) or ""

    def chunks(self) -> Iterator[bytes]:
        """Yield bytes as they arrive, until the server ends the stream. Raises `ServerUnreachable`."""
        return self._chunks

    def frames(self, *, with_heartbeats: bool = False) -> Iterator[Frame]:
        """Yield the frames of a log or file stream; heartbeats, which are empty frames, on demand."""
        cutter = FrameCutter(self._url, with_heartbeats=with_heartbeats)
        for chunk in self._chunks:
            yield from cutter.feed(chunk)
        cutter.end()

    def lines(self) -> Iterator[bytes]:
        """Yield whole lines without their newline; a last line without one counts."""
        cutter = LineCutter()
        for chunk in self._chunks:
            yield from cutter.feed(chunk)
        yield from cutter.end()


class AsyncByteStream:
    """The body of an endless answer, read without blocking the loop."""

    def __init__(self, chunks: AsyncIterator[bytes], headers: Headers, url: str) -> None:
        """`chunks` are the bytes of the body as they arrive."""
        self._chunks = chunks
        self._headers = headers
        self._url = url

    def header(self, name: str) -> str:
        """Give a header of the answer, empty if it is not there."""
        return self._headers.get(name) or ""

    def chunks(self) -> AsyncIterator[bytes]:
        """Yield bytes as they arrive, until the server ends the stream. Raises `ServerUnreachable`."""
        return self._chunks

    async def frames(self, *, with_heartbeats: bool = False) -> AsyncIterator[Frame]:
        """Yield the frames of a log or file stream; heartbeats, which are empty frames, on demand."""
        cutter = FrameCutter(self._url, with_heartbeats=with_heartbeats)
        async for chunk in self._chunks:
            for frame in cutter.feed(chunk):
                yield frame
        cutter.end()

    async def lines(self) -> AsyncIterator[bytes]:
        """Yield whole lines without their newline; a last line without one counts."""
        cutter = LineCutter()
        async for chunk in self._chunks:
            for line in cutter.feed(chunk):
                yield line
        for line in cutter.end():
            yield line


class FrameCutter:
    """Cuts JSON objects written back to back into frames."""

    def __init__(self, url: str, *, with_heartbeats: bool = False) -> None:
        self._url = url
        self._with_heartbeats = with_heartbeats
        self._pending = b""

    def feed(self, chunk: bytes) -> list[Frame]:
        """The frames that are whole with `chunk`. Raises `BadAnswer`."""
        self._pending += chunk
        frames, end = [], 0
        while match := _OBJECT.match(self._pending, end):
            frames.append(msgspec.json.decode(match[0], type=Frame))
            end = match.end()
        self._pending = self._pending[end:]
        if len(self._pending) > FRAME_BYTES_MAX:
            raise BadAnswer(self._url, f"a frame of more than {FRAME_BYTES_MAX} bytes")
        return [frame for frame in frames if self._with_heartbeats or frame != _HEARTBEAT]

    def end(self) -> None:
        """Raises `BadAnswer` if the stream ended within a frame."""
        if self._pending.strip():
            raise BadAnswer(self._url, "the stream ends within a frame")


class LineCutter:
    """Cuts bytes into lines."""

    def __init__(self) -> None:
        self._pending = b""

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that are whole with `chunk`, without their newline."""
        *lines, self._pending = (self._pending + chunk).split(b"\n")
        return lines

    def end(self) -> list[bytes]:
        """The last line, if it has no newline."""
        return [self._pending] if self._pending else []


def chunks_of(answer: http.client.HTTPResponse, url: str) -> Iterator[bytes]:
    """Read a body as it arrives. Raises `ServerUnreachable`."""
    while True:
        try:
            chunk = answer.read1(READ_CHUNK_BYTES)
        except TimeoutError as error:
            raise ServerUnreachable(method="GET", url=url, cause="the stream fell silent") from error
        except (http.client.HTTPException, OSError) as error:
            raise ServerUnreachable(method="GET", url=url, cause=describe(error)) from error
        if not chunk:
            return
        yield chunk


_HEARTBEAT = Frame()

# Frames hold no nested objects, so one ends at the first brace outside a string.
_OBJECT = re.compile(rb'\s*\{(?:[^"{}]+|"[^"\\]*(?:\\.[^"\\]*)*")*\}')
