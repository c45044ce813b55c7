"""Durations as texts, written as Go writes them."""

from __future__ import annotations

from yurt.model.times import HOUR_NS, MINUTE_NS, SECOND_NS
from yurt.model.wire import Nanoseconds

_MILLISECOND_NS = 1_000_000
_MICROSECOND_NS = 1_000


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
