"""Times written in Go's layouts, which show one moment: Mon Jan 2 15:04:05 2006."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo

from yurt.model.times import SECOND_NS
from yurt.model.wire import Nanoseconds

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]

_PARTS: dict[str, Callable[[datetime], str]] = {
    "January": lambda t: MONTHS[t.month - 1],
    "Jan": lambda t: MONTHS[t.month - 1][:3],
    "Monday": lambda t: DAYS[t.weekday()],
    "Mon": lambda t: DAYS[t.weekday()][:3],
    "MST": lambda t: t.tzname() or "",
    "2006": lambda t: f"{t.year:04d}",
    "-07:00:00": lambda t: f"{_offset(t, ':')}:00",
    "-07:00": lambda t: _offset(t, ":"),
    "-0700": lambda t: _offset(t, ""),
    "-07": lambda t: _offset(t, "")[:3],
    "Z07:00": lambda t: _offset(t, ":") if t.utcoffset() else "Z",
    "Z0700": lambda t: _offset(t, "") if t.utcoffset() else "Z",
    "002": lambda t: f"{t.timetuple().tm_yday:03d}",
    "01": lambda t: f"{t.month:02d}",
    "02": lambda t: f"{t.day:02d}",
    "03": lambda t: f"{t.hour % 12 or 12:02d}",
    "04": lambda t: f"{t.minute:02d}",
    "05": lambda t: f"{t.second:02d}",
    "06": lambda t: f"{t.year % 100:02d}",
    "15": lambda t: f"{t.hour:02d}",
    "PM": lambda t: "PM" if t.hour >= 12 else "AM",
    "pm": lambda t: "pm" if t.hour >= 12 else "am",
    "_2": lambda t: f"{t.day:2d}",
    "1": lambda t: str(t.month),
    "2": lambda t: str(t.day),
    "3": lambda t: str(t.hour % 12 or 12),
    "4": lambda t: str(t.minute),
    "5": lambda t: str(t.second),
}
_PART = re.compile(r"[.,](?:0+|9+)(?!\d)|" + "|".join(map(re.escape, _PARTS)))


def time_in_layout(at: Nanoseconds, layout: str, zone: tzinfo = UTC) -> str:
    """Write a Unix time as a layout shows it in a zone; the layout `unix` is the seconds."""
    if layout == "unix":
        return str(at // SECOND_NS)
    seconds, fraction_ns = divmod(at, SECOND_NS)
    moment = (_EPOCH + timedelta(seconds=seconds)).astimezone(zone)

    def written(found: re.Match[str]) -> str:
        part = found.group()
        if part[0] not in ".,":
            return _PARTS[part](moment)
        digits = f"{fraction_ns:09d}"[: len(part) - 1]
        if part[1] == "9":
            digits = digits.rstrip("0")
        return part[0] + digits if digits else ""

    return _PART.sub(written, layout)


def _offset(moment: datetime, between: str) -> str:
    minutes = (moment.utcoffset() or timedelta()) // timedelta(minutes=1)
    hours, rest = divmod(abs(minutes), 60)
    return f"{'-' if minutes < 0 else '+'}{hours:02d}{between}{rest:02d}"
