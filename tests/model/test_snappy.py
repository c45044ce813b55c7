"""Dispatch payloads are read as they are stored."""

from __future__ import annotations

import pytest

from yurt.model.snappy import SnappyDamaged, compress, decompress


@pytest.mark.parametrize(
    ("block", "text"),
    [
        (b"\x00", b""),
        (b"\x0b\x28hello world", b"hello world"),
        (b"\x04\x08abc\x02\x03\x00", b"abca"),
        (b"\x0a\x00a\x15\x01", b"a" * 10),
    ],
)
def test_snappy_blocks(block: bytes, text: bytes) -> None:
    assert decompress(block) == text


@pytest.mark.parametrize("size", [0, 1, 60, 61, 127, 128, 256, 257, 16_384, 70_000])
def test_what_is_written_is_read(size: int) -> None:
    content = bytes(number % 251 for number in range(size))
    assert decompress(compress(content)) == content


def test_small_blocks_are_as_others_write_them() -> None:
    assert compress(b"hello world") == b"\x0b\x28hello world"


@pytest.mark.parametrize(
    "block",
    [b"", b"\x05", b"\x05\x10ab", b"\x01\x01\x05", b"\xff\xff\xff\xff\x7f", b"\x02\x00a", b"\x04\x00a\x0a"],
)
def test_damaged_snappy_blocks_are_refused(block: bytes) -> None:
    with pytest.raises(SnappyDamaged):
        decompress(block)
