"""Snappy blocks, the form in which dispatch payloads are stored."""

from __future__ import annotations

from yurt.errors import YurtError

# What a dispatch may carry is limited to 16 KiB; a block that claims much more is damaged.
UNCOMPRESSED_BYTES_MAX = 1 << 20
_LITERAL, _COPY_1, _COPY_2 = 0, 1, 2
_LONG_LITERAL = 60


class SnappyDamaged(YurtError):
    """The bytes are not a Snappy block."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"damaged Snappy block: {reason}")


def compress(content: bytes) -> bytes:
    """Give a block that stands for `content`, as it is: payloads are too small for it to matter."""
    block = bytearray()
    length = len(content)
    while length >= 0x80:
        block.append(length & 0x7F | 0x80)
        length >>= 7
    block.append(length)
    size = len(content) - 1
    if size >= _LONG_LITERAL:
        width = (size.bit_length() + 7) // 8
        block.append((_LONG_LITERAL + width - 1) << 2 | _LITERAL)
        block += size.to_bytes(width, "little")
    elif content:
        block.append(size << 2 | _LITERAL)
    return bytes(block) + content


def decompress(block: bytes) -> bytes:
    """Give the bytes a block stands for. Raises SnappyDamaged."""
    try:
        length, at = _length(block)
        output = bytearray()
        while at < len(block):
            at = _element(block, at, output)
    except IndexError as error:
        raise SnappyDamaged("it ends too early") from error
    if len(output) != length:
        raise SnappyDamaged(f"it holds {len(output)} bytes and claims {length}")
    return bytes(output)


def _length(block: bytes) -> tuple[int, int]:
    length = shift = at = 0
    while True:
        byte = block[at]
        at += 1
        length |= (byte & 0x7F) << shift
        if length > UNCOMPRESSED_BYTES_MAX:
            raise SnappyDamaged(f"it claims more than {UNCOMPRESSED_BYTES_MAX} bytes")
        if byte < 0x80:
            return length, at
        shift += 7


def _element(block: bytes, at: int, output: bytearray) -> int:
    """Append what the element at `at` stands for; give where the next one is."""
    tag = block[at]
    kind, size = tag & 3, tag >> 2
    at += 1
    if kind == _LITERAL:
        if size >= _LONG_LITERAL:
            width = size - _LONG_LITERAL + 1
            size = int.from_bytes(block[at : at + width], "little")
            at += width
        end = at + size + 1
        if end > len(block):
            raise SnappyDamaged("it ends too early")
        output += block[at:end]
        return end
    if kind == _COPY_1:
        _copy(output, offset=(tag >> 5) << 8 | block[at], length=(size & 7) + 4)
        return at + 1
    width = 2 if kind == _COPY_2 else 4
    offset = int.from_bytes(block[at : at + width], "little")
    _copy(output, offset=offset, length=size + 1)
    return at + width


def _copy(output: bytearray, *, offset: int, length: int) -> None:
    if not 0 < offset <= len(output):
        raise SnappyDamaged("it refers to bytes before its start")
    start = len(output) - offset
    for position in range(start, start + length):  # the source may overlap what is being written
        output.append(output[position])
