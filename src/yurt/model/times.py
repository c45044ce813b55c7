"""RFC 3339 texts for Unix times in nanoseconds, without a clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from yurt.model.wire import Nanoseconds, Time

SECOND_NS = 1_000_000_000
MINUTE_NS = 60 * SECOND_NS
HOUR_NS = 60 * MINUTE_NS

TIME_NS_LIMIT = 1 << 63

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def time_text(at: Nanoseconds) -> Time:
    """Write a Unix time in nanoseconds as RFC 3339 text; 0 is the zero time, None."""
    if at == 0:
        return None
    seconds, fraction = divmod(at, SECOND_NS)
    text = (_EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S")
    # Trailing zeros of the fraction are dropped, as Go's RFC3339Nano does.
    return f"{text}.{fraction:09d}".rstrip("0") + "Z" if fraction else f"{text}Z"


def time_ns(text: Time) -> Nanoseconds:
    """Read RFC 3339 text as a Unix time in nanoseconds; None is 0.

    Raises ValueError for other text, and for times that 64 bits of nanoseconds do not reach.
    """
    if text is None or text.startswith("0001-01-01T00:00:00"):
        return 0
    whole, dot, rest = text.partition(".")
    if dot:
        digits = len(rest) - len(rest.lstrip("0123456789"))
        fraction, zone = rest[:digits], rest[digits:]
    else:
        fraction, zone = "", ""
    at = datetime.fromisoformat(whole + zone)
    if at.tzinfo is None:
        raise ValueError(f"time {text!r} has no zone; write it as 2006-01-02T15:04:05Z")
    whole_ns = ((at - _EPOCH) // timedelta(microseconds=1)) * 1000
    at_ns = whole_ns + int((fraction + "000000000")[:9])
    if not -TIME_NS_LIMIT <= at_ns < TIME_NS_LIMIT:
        raise ValueError(f"time {text!r} is not between the years 1678 and 2262")
    return at_ns
