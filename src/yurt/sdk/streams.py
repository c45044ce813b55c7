"""Answers that go on: raw bytes, log frames and lines of JSON."""

import http.client
import re
from collections.abc import Iterator

import msgspec

from yurt.sdk.errors import BadAnswer, ServerUnreachable
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

    def __init__(self, answer: http.client.HTTPResponse, url: str) -> None:
        """Takes over an answer whose body has not been read."""
        self._answer = answer
        self._url = url

    def header(self, name: str) -> str:
        """Give a header of the answer, empty if it is not there."""
        return self._answer.getheader(name) or ""

    def chunks(self) -> Iterator[bytes]:
        """Yield bytes as they arrive, until the server ends the stream. Raises `ServerUnreachable`."""
        while True:
            try:
                chunk = self._answer.read1(READ_CHUNK_BYTES)
            except TimeoutError as error:
                raise ServerUnreachable(
                    method="GET", url=self._url, cause="the stream fell silent"
                ) from error
            except (http.client.HTTPException, OSError) as error:
                raise ServerUnreachable(method="GET", url=self._url, cause=describe(error)) from error
            if not chunk:
                return
            yield chunk

    def frames(self, *, with_heartbeats: bool = False) -> Iterator[Frame]:
        """Yield the frames of a log or file stream; heartbeats, which are empty frames, on demand."""
        for text in split_objects(self.chunks(), self._url):
            frame = msgspec.json.decode(text, type=Frame)
            if with_heartbeats or frame != _HEARTBEAT:
                yield frame

    def lines(self) -> Iterator[bytes]:
        """Yield whole lines without their newline; a last line without one counts."""
        rest = b""
        for chunk in self.chunks():
            *lines, rest = (rest + chunk).split(b"\n")
            yield from lines
        if rest:
            yield rest


_HEARTBEAT = Frame()


def split_objects(chunks: Iterator[bytes], url: str) -> Iterator[bytes]:
    """Cut a stream of JSON objects written back to back into its objects."""
    pending = b""
    for chunk in chunks:
        pending += chunk
        end = 0
        while match := _OBJECT.match(pending, end):
            yield match[0]
            end = match.end()
        pending = pending[end:]
        if len(pending) > FRAME_BYTES_MAX:
            raise BadAnswer(url, f"a frame of more than {FRAME_BYTES_MAX} bytes")
    if pending.strip():
        raise BadAnswer(url, "the stream ends within a frame")


# Frames hold no nested objects, so one ends at the first brace outside a string.
_OBJECT = re.compile(rb'\s*\{(?:[^"{}]+|"[^"\\]*(?:\\.[^"\\]*)*")*\}')
