"""The bytes of a snapshot, the same in a file and on the wire.

    magic                8 bytes
    format version       4      integers are big-endian
    header length        4
    CRC-32               4      of the two above and the header
    header               JSON: index, created_at_ns, kind
    chunks, each:
      length             4      more than 0
      CRC-32             4      of all lengths and contents so far, this chunk's included
      content
    end                  4      a length of 0
    number of chunks     8
    SHA-256              32     of all bytes before it

A chunk is checked before anyone sees it, and only a whole snapshot has an end: so a reader may take the
chunks as they come, and must not act on them before the last.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterable, Iterator

import msgspec

from yurt.log.errors import SnapshotCorrupt, SnapshotFormatTooNew

FORMAT_VERSION = 1
CHUNK_BYTES_MAX = 64 * 1024 * 1024
HEADER_BYTES_MAX = 64 * 1024

_MAGIC = b"YURTSNAP"
_PREAMBLE = struct.Struct(">8sIII")
_CHUNK = struct.Struct(">II")
_LENGTH = struct.Struct(">I")
_END = struct.Struct(">IQ")
_SHA256_BYTES = 32


class SnapshotHeader(msgspec.Struct, frozen=True, kw_only=True):
    """What a snapshot is of."""

    index: int  # the last log entry that its content includes
    created_at_ns: int  # since 1970, by the clock of who wrote it
    kind: str  # what its chunks are, in the words of who wrote it


class SnapshotEnd(msgspec.Struct, frozen=True, kw_only=True):
    """What a whole snapshot turned out to be."""

    chunks: int
    content_bytes: int
    total_bytes: int
    sha256: str


def encode_snapshot(header: SnapshotHeader, chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the bytes of a snapshot, piece by piece; `chunks` are asked for only as they are needed.

    A chunk has from 1 to CHUNK_BYTES_MAX bytes.
    """
    digest = hashlib.sha256()
    encoded = msgspec.json.encode(header)
    assert len(encoded) <= HEADER_BYTES_MAX
    preamble = _PREAMBLE.pack(_MAGIC, FORMAT_VERSION, len(encoded), _header_crc(FORMAT_VERSION, encoded))
    start = preamble + encoded
    digest.update(start)
    yield start
    count = crc = 0
    for chunk in chunks:
        assert 0 < len(chunk) <= CHUNK_BYTES_MAX, f"a chunk of {len(chunk)} bytes"
        count += 1
        crc = _chunk_crc(crc, chunk)
        piece = _CHUNK.pack(len(chunk), crc) + chunk
        digest.update(piece)
        yield piece
    counts = _END.pack(0, count)
    digest.update(counts)
    yield counts + digest.digest()


class SnapshotDecoder:
    """Takes the bytes of a snapshot as they come, in pieces of any size.

    `header` is there once its bytes are, `end` once the snapshot is whole. Raises SnapshotCorrupt and
    SnapshotFormatTooNew, which name `source`.
    """

    def __init__(self, source: str) -> None:
        self.header: SnapshotHeader | None = None
        self.end: SnapshotEnd | None = None
        self._source = source
        self._buffer = bytearray()
        self._digest = hashlib.sha256()
        self._crc = 0
        self._chunks = 0
        self._content_bytes = 0
        self._total_bytes = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Take `data` and yield the chunks that it completes. The iterator must be used up."""
        self._buffer += data
        if self.end is not None and self._buffer:
            raise self._corrupt("bytes follow its end")
        if self.header is None:
            self._decode_header()
        while self.header is not None and self.end is None:
            chunk = self._next_chunk()
            if chunk is None:
                break
            yield chunk

    def finish(self) -> SnapshotEnd:
        """Say that no bytes follow; raise SnapshotCorrupt unless the snapshot is whole."""
        if self.end is None:
            problem = "it is cut short" if self._total_bytes or self._buffer else "it is empty"
            raise self._corrupt(problem)
        return self.end

    def _decode_header(self) -> None:
        if not _MAGIC.startswith(bytes(self._buffer[: len(_MAGIC)])):
            raise self._corrupt("it is not a snapshot of Yurt")
        if len(self._buffer) < _PREAMBLE.size:
            return
        _, version, length, crc = _PREAMBLE.unpack_from(self._buffer)
        if version > FORMAT_VERSION:
            raise SnapshotFormatTooNew(self._source, found=version, supported=FORMAT_VERSION)
        if length > HEADER_BYTES_MAX:
            raise self._corrupt("its header is damaged")
        if len(self._buffer) < _PREAMBLE.size + length:
            return
        encoded = self._take(_PREAMBLE.size + length)[_PREAMBLE.size :]
        if crc != _header_crc(version, encoded):
            raise self._corrupt("its header is damaged")
        try:
            self.header = msgspec.json.decode(encoded, type=SnapshotHeader)
        except msgspec.MsgspecError as error:
            raise self._corrupt(f"its header cannot be read: {error}") from error

    def _next_chunk(self) -> bytes | None:
        if len(self._buffer) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack_from(self._buffer)
        if length == 0:
            self._decode_trailer()
            return None
        if length > CHUNK_BYTES_MAX:
            raise self._corrupt(f"chunk {self._chunks + 1} is damaged")
        if len(self._buffer) < _CHUNK.size + length:
            return None
        prefix = self._take(_CHUNK.size)
        chunk = self._take(length)
        self._crc = _chunk_crc(self._crc, chunk)
        self._chunks += 1
        if _CHUNK.unpack(prefix) != (length, self._crc):
            raise self._corrupt(f"chunk {self._chunks} is damaged")
        self._content_bytes += length
        return chunk

    def _decode_trailer(self) -> None:
        if len(self._buffer) < _END.size + _SHA256_BYTES:
            return
        _, chunks = _END.unpack(self._take(_END.size))
        expected = self._digest.digest()
        sha256 = self._take(_SHA256_BYTES)
        if chunks != self._chunks or sha256 != expected:
            raise self._corrupt("its checksum does not match its content")
        if self._buffer:
            raise self._corrupt("bytes follow its end")
        self.end = SnapshotEnd(
            chunks=chunks,
            content_bytes=self._content_bytes,
            total_bytes=self._total_bytes,
            sha256=sha256.hex(),
        )

    def _take(self, size: int) -> bytes:
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        self._digest.update(taken)
        self._total_bytes += size
        return taken

    def _corrupt(self, problem: str) -> SnapshotCorrupt:
        return SnapshotCorrupt(self._source, problem=problem)


def _header_crc(version: int, encoded: bytes) -> int:
    return zlib.crc32(encoded, zlib.crc32(struct.pack(">II", version, len(encoded))))


def _chunk_crc(previous: int, chunk: bytes) -> int:
    return zlib.crc32(chunk, zlib.crc32(_LENGTH.pack(len(chunk)), previous))
