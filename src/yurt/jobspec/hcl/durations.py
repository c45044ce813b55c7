"""Durations as Go writes them: `1h30m`, `1.5s`, `250ms`."""

import re
from fractions import Fraction

_UNITS_NS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_PART = re.compile(r"(\d*)(?:\.(\d*))?([^\d.]*)", re.ASCII)
_DURATION_MAX_NS = 2**63 - 1
_TEXT_LENGTH_MAX = 128


def parse_duration(text: str) -> int:
    """The nanoseconds that `text` means. Raises ValueError with a message that quotes it."""
    rest = text[1:] if text[:1] in ("+", "-") else text
    if rest == "0":
        return 0
    invalid = ValueError(f'time: invalid duration "{text[:_TEXT_LENGTH_MAX]}"')
    if not rest or len(rest) > _TEXT_LENGTH_MAX:
        raise invalid
    total = 0
    pos = 0
    while pos < len(rest):
        part = _PART.match(rest, pos)
        assert part is not None
        whole, fraction, unit = part.groups()
        if not whole and not fraction:
            raise invalid
        if not unit:
            raise ValueError(f'time: missing unit in duration "{text}"')
        if unit not in _UNITS_NS:
            raise ValueError(f'time: unknown unit "{unit}" in duration "{text}"')
        total += int(Fraction(f"{whole or 0}.{fraction or 0}") * _UNITS_NS[unit])
        if total > _DURATION_MAX_NS:
            raise invalid
        pos = part.end()
    return -total if text[0] == "-" else total
