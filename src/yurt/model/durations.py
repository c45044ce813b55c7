"""Durations as texts, written as Go writes them."""

from __future__ import annotations

import re
from functools import lru_cache

from yurt.model.times import HOUR_NS, MINUTE_NS, SECOND_NS
from yurt.model.wire import Nanoseconds

DURATIONS_KEPT = 1024

_MILLISECOND_NS = 1_000_000
_MICROSECOND_NS = 1_000


# Job specifications repeat a few durations, most of them defaults.
@lru_cache(maxsize=DURATIONS_KEPT)
def duration_text(duration: Nanoseconds) -> str:
    """Write a duration: `1m0s`, `2.450428214s`, `1.5ms`, `0s`."""
    if duration < 0:
        return "-" + duration_text(-duration)
    if duration == 0:
        return "0s"
    if duration < _MICROSECOND_NS:
        return f"{duration}ns"
    if duration < _MILLISECOND_NS:
        return f"{_decimal(duration, _MICROSECOND_NS)}µs"
    if duration < SECOND_NS:
        return f"{_decimal(duration, _MILLISECOND_NS)}ms"
    hours, below_hour = divmod(duration, HOUR_NS)
    minutes, below_minute = divmod(below_hour, MINUTE_NS)
    seconds = f"{_decimal(below_minute, SECOND_NS)}s"
    if hours:
        return f"{hours}h{minutes}m{seconds}"
    return f"{minutes}m{seconds}" if minutes else seconds


def _decimal(number: int, unit: int) -> str:
    """`number / unit` with all its digits and no trailing zeros."""
    whole, rest = divmod(number, unit)
    if not rest:
        return str(whole)
    return f"{whole}.{str(rest).zfill(len(str(unit)) - 1).rstrip('0')}"


_UNITS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60 * 1_000_000_000,
    "h": 3600 * 1_000_000_000,
}
_PART = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)")


def parse_duration(text: str) -> Nanoseconds:
    """Read a duration as Go writes it: `1h2m3s`, `500ms`, `0`. Raises ValueError for other text."""
    sign, rest = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    if rest == "0":
        return 0
    total, end = 0, 0
    while end < len(rest):
        part = _PART.match(rest, end)
        if part is None:
            raise ValueError(f"{text!r} is not a duration; write it like 30s, 1m30s or 500ms")
        whole, _, fraction = part[1].partition(".")
        unit = _UNITS[part[2]]
        total += int(whole or "0") * unit + int(fraction or "0") * unit // 10 ** len(fraction)
        end = part.end()
    if not rest:
        raise ValueError("an empty text is not a duration; write it like 30s, 1m30s or 500ms")
    return sign * total
