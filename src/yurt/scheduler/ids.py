"""Ids drawn from a seeded generator."""

from __future__ import annotations

from random import Random


def new_id(rng: Random) -> str:
    """Draw a UUID (version 4 in form)."""
    bits = rng.getrandbits(128)
    bits = bits & ~(0xF << 76) | (0x4 << 76)
    bits = bits & ~(0x3 << 62) | (0x2 << 62)
    text = f"{bits:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
