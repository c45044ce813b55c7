"""Functions on points in time."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone

from yurt.jobspec.hcl.durations import parse_duration
from yurt.jobspec.hcl.function import ArgumentError, CallError, Parameter, Registry
from yurt.jobspec.hcl.values import STRING

FUNCTIONS = Registry()

_TIMESTAMP = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:([Zz])|([+-])(\d\d):(\d\d))", re.ASCII
)
_PARTS = (("year", 4), ("month", 2), ("day of month", 2), ("hour", 2), ("minute", 2), ("second", 2))
_FORMAT_ITEM = re.compile(r"'((?:[^']|'')*)'|(([A-Za-z])\3*)|([^A-Za-z']+)|(')")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@FUNCTIONS.add("formatdate", Parameter("format", STRING), Parameter("time", STRING))
def _formatdate(template: str, timestamp: str) -> str:
    moment = _moment(timestamp, 1)
    texts = []
    for item in _FORMAT_ITEM.finditer(template):
        quoted, verb, _, other, stray = item.groups()
        if stray is not None:
            raise ArgumentError(0, "unterminated literal '")
        if verb is None:
            texts.append(quoted.replace("''", "'") if quoted is not None else other)
        elif verb in _VERBS:
            texts.append(_VERBS[verb](moment))
        else:
            raise ArgumentError(0, f'invalid date format verb "{verb}"')
    return "".join(texts)


@FUNCTIONS.add("timeadd", Parameter("timestamp", STRING), Parameter("duration", STRING))
def _timeadd(timestamp: str, duration: str) -> str:
    moment = _moment(timestamp, 0)
    try:
        moment += timedelta(microseconds=parse_duration(duration) // 1000)
    except OverflowError:
        raise CallError("the result is not within the years 1 to 9999") from None
    except ValueError as error:
        raise CallError(str(error)) from None
    return moment.strftime("%Y").rjust(4, "0") + moment.strftime("-%m-%dT%H:%M:%S") + _zone(moment)


def _moment(text: str, index: int) -> datetime:
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        raise ArgumentError(index, f"not a valid RFC3339 timestamp: {_first_problem(text)}")
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    offset = UTC
    if match[7] is None:
        minutes = int(match[9]) * 60 + int(match[10])
        offset = timezone(timedelta(minutes=-minutes if match[8] == "-" else minutes)) if minutes else UTC
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=offset)
    except ValueError as error:
        raise ArgumentError(index, f"not a valid RFC3339 timestamp: {error}") from None


def _first_problem(text: str) -> str:
    """The first part of a timestamp that is not a number."""
    pos = 0
    for name, width in _PARTS:
        part = text[pos : pos + width]
        if not (part.isascii() and part.isdigit() and len(part) == width):
            return f'cannot use "{part}" as {name}' if part else f"missing {name}"
        pos += width + 1
    return "a UTC offset such as Z or +01:00 must follow the seconds, and nothing after it"


def _zone(moment: datetime, *, colon: str = ":", utc: str = "Z") -> str:
    offset = moment.utcoffset() or timedelta()
    if not offset and utc:
        return utc
    minutes = abs(int(offset.total_seconds())) // 60
    return f"{'-' if offset < timedelta() else '+'}{minutes // 60:02}{colon}{minutes % 60:02}"


_VERBS: dict[str, Callable[[datetime], str]] = {
    "YYYY": lambda m: f"{m.year:04}",
    "YY": lambda m: f"{m.year % 100:02}",
    "MMMM": lambda m: _MONTHS[m.month - 1],
    "MMM": lambda m: _MONTHS[m.month - 1][:3],
    "MM": lambda m: f"{m.month:02}",
    "M": lambda m: str(m.month),
    "DD": lambda m: f"{m.day:02}",
    "D": lambda m: str(m.day),
    "EEEE": lambda m: _DAYS[m.weekday()],
    "EEE": lambda m: _DAYS[m.weekday()][:3],
    "hh": lambda m: f"{m.hour:02}",
    "h": lambda m: str(m.hour),
    "HH": lambda m: f"{(m.hour - 1) % 12 + 1:02}",
    "H": lambda m: str((m.hour - 1) % 12 + 1),
    "mm": lambda m: f"{m.minute:02}",
    "m": lambda m: str(m.minute),
    "ss": lambda m: f"{m.second:02}",
    "s": lambda m: str(m.second),
    "AA": lambda m: "AM" if m.hour < 12 else "PM",
    "aa": lambda m: "am" if m.hour < 12 else "pm",
    "ZZZZZ": lambda m: _zone(m, utc=""),
    "ZZZZ": lambda m: _zone(m, colon="", utc=""),
    "ZZZ": lambda m: _zone(m, colon="", utc="UTC"),
    "Z": _zone,
}
