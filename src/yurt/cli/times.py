"""How points in time are shown: absolute in the local zone, or by their distance from now."""

from datetime import UTC, datetime, timedelta

from yurt.model.durations import duration_text
from yurt.model.times import HOUR_NS, MINUTE_NS, SECOND_NS, time_ns

DAY_NS = 24 * HOUR_NS
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS = (
    ("y", 365 * DAY_NS),
    ("mo", 30 * DAY_NS),
    ("d", DAY_NS),
    ("h", HOUR_NS),
    ("m", MINUTE_NS),
    ("s", SECOND_NS),
)
UNITS_SHOWN_MAX = 2


def time_of(text: str) -> int:
    """Read RFC 3339 text as nanoseconds; empty and zero times are 0."""
    return time_ns(text or None)


def absolute(at_ns: int) -> str:
    """Write a time to the second with its zone offset; the zero time is empty."""
    if at_ns == 0:
        return ""
    local = (_EPOCH + timedelta(seconds=at_ns // SECOND_NS)).astimezone()
    text = local.strftime("%Y-%m-%dT%H:%M:%S%z")
    return f"{text[:-5]}Z" if text.endswith("+0000") else f"{text[:-2]}:{text[-2:]}"


def absolute_text(text: str) -> str:
    """Like `absolute`, for an RFC 3339 text."""
    return absolute(time_of(text))


def relative(at_ns: int, now_ns: int) -> str:
    """Say how far away a time is, in its two largest units: `1m5s ago`, `58s from now`; 0 is empty."""
    if at_ns == 0:
        return ""
    # Whole seconds on both sides, so that the distance is the one that two absolute times show.
    distance = now_ns // SECOND_NS * SECOND_NS - at_ns // SECOND_NS * SECOND_NS
    return f"{largest_units(abs(distance))} {'ago' if distance >= 0 else 'from now'}"


def largest_units(duration_ns: int) -> str:
    """Write a duration in its two largest units, zero ones left out; below a second it is `0s`."""
    text = ""
    shown = 0
    for unit, size in _UNITS:
        count, duration_ns = divmod(duration_ns, size)
        if count or shown:
            shown += 1
            text += f"{count}{unit}" if count else ""
        if shown == UNITS_SHOWN_MAX:
            break
    return text or "0s"


def launch_time(at_ns: int, now_ns: int) -> str:
    """Write a future launch with its distance in hours, minutes and seconds."""
    distance = (at_ns - now_ns) // SECOND_NS * SECOND_NS
    return f"{absolute(at_ns)} ({duration_text(distance)} from now)"
