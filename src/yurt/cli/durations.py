"""Durations in Go's notation, in nanoseconds: `1h30m`, `500ms`, `1.5s`."""

import re

MICROSECOND_NS = 1_000
MILLISECOND_NS = 1_000_000
SECOND_NS = 1_000_000_000
MINUTE_NS = 60 * SECOND_NS
HOUR_NS = 60 * MINUTE_NS
DAY_NS = 24 * HOUR_NS

_UNITS_NS = {
    "ns": 1,
    "us": MICROSECOND_NS,
    "µs": MICROSECOND_NS,
    "μs": MICROSECOND_NS,
    "ms": MILLISECOND_NS,
    "s": SECOND_NS,
    "m": MINUTE_NS,
    "h": HOUR_NS,
}
_PART = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)")


def parse_duration(text: str) -> int | None:
    """Read a duration; None for text that is none."""
    sign, rest = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    if rest == "0":
        return 0
    if not rest or _PART.sub("", rest):
        return None
    total = 0
    for number, unit in _PART.findall(rest):
        whole, _, fraction = number.partition(".")
        scale = _UNITS_NS[unit]
        total += int(whole or 0) * scale + (int(fraction) * scale // 10 ** len(fraction) if fraction else 0)
    return sign * total


def format_duration(duration_ns: int) -> str:
    """Write a duration as Go does: `1h0m0s`, `60.781µs`, `0s`."""
    if duration_ns < 0:
        return "-" + format_duration(-duration_ns)
    if duration_ns == 0:
        return "0s"
    for unit, scale in (("ns", 1), ("µs", MICROSECOND_NS), ("ms", MILLISECOND_NS)):
        if duration_ns < scale * 1000:
            return _decimal(duration_ns, scale) + unit
    minutes_ns, seconds_ns = divmod(duration_ns, MINUTE_NS)
    text = _decimal(seconds_ns, SECOND_NS) + "s"
    hours, minutes = divmod(minutes_ns, 60)
    if hours:
        return f"{hours}h{minutes}m{text}"
    return f"{minutes}m{text}" if minutes else text


def _decimal(value: int, scale: int) -> str:
    whole, fraction = divmod(value, scale)
    if not fraction:
        return str(whole)
    digits = f"{fraction:0{len(str(scale)) - 1}d}".rstrip("0")
    return f"{whole}.{digits}"
