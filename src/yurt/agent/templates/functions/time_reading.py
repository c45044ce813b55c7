"""Times read as Go's layouts show them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

from yurt.agent.templates.functions.times import DAYS, MONTHS
from yurt.model.times import SECOND_NS
from yurt.model.wire import Nanoseconds

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_OFFSET = r"[+-]\d\d:?(?:\d\d)?"
# What each part of a layout stands for; the names are those of the groups below.
_PATTERNS = {
    "January": rf"(?P<month_name>{'|'.join(MONTHS)})",
    "Jan": rf"(?P<month_name>{'|'.join(name[:3] for name in MONTHS)})",
    "Monday": rf"(?:{'|'.join(DAYS)})",
    "Mon": rf"(?:{'|'.join(name[:3] for name in DAYS)})",
    "MST": r"[A-Z]{3,4}",
    "2006": r"(?P<year>\d{4})",
    "-07:00": rf"(?P<offset>{_OFFSET})",
    "-0700": rf"(?P<offset>{_OFFSET})",
    "-07": rf"(?P<offset>{_OFFSET})",
    "Z07:00": rf"(?P<offset>Z|{_OFFSET})",
    "Z0700": rf"(?P<offset>Z|{_OFFSET})",
    "01": r"(?P<month>\d\d)",
    "02": r"(?P<day>\d\d)",
    "03": r"(?P<hour>\d\d)",
    "04": r"(?P<minute>\d\d)",
    "05": r"(?P<second>\d\d(?:[.,]\d+)?)",
    "06": r"(?P<short_year>\d\d)",
    "15": r"(?P<hour>\d\d)",
    "PM": r"(?P<half>AM|PM)",
    "pm": r"(?P<half>am|pm)",
    "_2": r"(?P<day>[ \d]\d)",
    "1": r"(?P<month>\d\d?)",
    "2": r"(?P<day>\d\d?)",
    "3": r"(?P<hour>\d\d?)",
    "4": r"(?P<minute>\d\d?)",
    "5": r"(?P<second>\d\d?(?:[.,]\d+)?)",
}
_PART = re.compile(r"[.,](?:0+|9+)(?!\d)|" + "|".join(map(re.escape, _PATTERNS)))


def read_time(layout: str, written: str) -> Nanoseconds | None:
    """The Unix time that a text shows in a layout, in UTC without a zone; None when it does not fit."""
    pattern, at = "", 0
    for part in _PART.finditer(layout):
        pattern += re.escape(layout[at : part.start()]) + _PATTERNS.get(part.group(), "")
        at = part.end()
    pattern += re.escape(layout[at:])
    try:
        found = re.fullmatch(pattern, written)
    except re.error:  # a part that is there twice
        return None
    return _unix(found.groupdict()) if found is not None else None


def _unix(parts: dict[str, str | None]) -> Nanoseconds | None:
    def number(name: str, otherwise: int) -> int:
        value = parts.get(name)
        return int(value) if value else otherwise

    name = parts.get("month_name")
    month = (
        next(at for at, each in enumerate(MONTHS, 1) if each.startswith(name)) if name else number("month", 1)
    )
    short = number("short_year", 0)
    century = 1900 if short >= 69 else 2000
    year = number("year", century + short if parts.get("short_year") else 0)
    hour = number("hour", 0)
    if half := parts.get("half"):
        hour = hour % 12 + (12 if half.lower() == "pm" else 0)
    seconds, _, fraction = (parts.get("second") or "0").replace(",", ".").partition(".")
    try:
        moment = datetime(
            year,
            month,
            number("day", 1),
            hour,
            number("minute", 0),
            int(seconds),
            tzinfo=_zone(parts.get("offset")),
        )
    except ValueError:
        return None
    whole = (moment - _EPOCH) // timedelta(seconds=1)
    return whole * SECOND_NS + int(f"{fraction:0<9}"[:9] or 0)


def _zone(offset: str | None) -> timezone:
    if not offset or offset == "Z":
        return UTC
    digits = offset[1:].replace(":", "").ljust(4, "0")
    length = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-length if offset[0] == "-" else length)
