"""Dispatch payloads are read as they are stored."""

from __future__ import annotations

import pytest

from yurt.agent.snappy import SnappyDamaged, decompress


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


@pytest.mark.parametrize(
    "block",
    [b"", b"\x05", b"\x05\x10ab", b"\x01\x01\x05", b"\xff\xff\xff\xff\x7f", b"\x02\x00a", b"\x04\x00a\x0a"],
)
def test_damaged_snappy_blocks_are_refused(block: bytes) -> None:
    with pytest.raises(SnappyDamaged):
        decompress(block)
