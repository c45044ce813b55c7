"""The functions of sprig on times, which templates call with the prefix `sprig_`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from yurt.agent.templates.functions.sprig_texts import text
from yurt.agent.templates.functions.sprig_values import to_int
from yurt.agent.templates.functions.time_reading import read_time
from yurt.agent.templates.functions.times import time_in_layout
from yurt.agent.templates.language import FunctionFailed
from yurt.agent.templates.language.values import Record, Value
from yurt.model.durations import duration_text, parse_duration
from yurt.model.times import HOUR_NS, MINUTE_NS, SECOND_NS
from yurt.model.wire import Nanoseconds

HTML_DATE = "2006-01-02"
# How Go shows a time.
SHOWN = "2006-01-02 15:04:05.999999999 -0700 MST"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY_NS = 24 * HOUR_NS
# Sprig counts months of 30 days and years of 365.
_ROUND_UNITS = (
    ("y", 365 * _DAY_NS),
    ("mo", 30 * _DAY_NS),
    ("d", _DAY_NS),
    ("h", HOUR_NS),
    ("m", MINUTE_NS),
    ("s", SECOND_NS),
)


class Time(Record):
    """A moment, shown in a zone."""

    type_name = "time.Time"

    def __init__(self, at: Nanoseconds, zone: tzinfo = UTC) -> None:
        self.at = at
        self.zone = zone

    def text(self) -> str:
        """The time as Go shows it."""
        return self.format(SHOWN)

    def format(self, layout: str) -> str:
        """The time as a layout shows it."""
        return time_in_layout(self.at, layout, self.zone)

    def methods(self) -> Mapping[str, Callable[..., Value]]:
        """Its parts, and how it is written."""
        moment = (_EPOCH + timedelta(seconds=self.at // SECOND_NS)).astimezone(self.zone)
        return {
            "Add": self._add,
            "Day": lambda: moment.day,
            "Format": self._format,
            "Hour": lambda: moment.hour,
            "Minute": lambda: moment.minute,
            "Month": lambda: self.format("January"),
            "Second": lambda: moment.second,
            "String": self.text,
            "UTC": lambda: Time(self.at),
            "Unix": lambda: self.at // SECOND_NS,
            "UnixNano": lambda: self.at,
            "Weekday": lambda: self.format("Monday"),
            "Year": lambda: moment.year,
            "YearDay": lambda: moment.timetuple().tm_yday,
        }

    def _format(self, layout: str) -> str:
        return self.format(layout)

    def _add(self, duration: int) -> Time:
        return Time(self.at + duration, self.zone)


class SprigTimes:
    """The functions for one rendering, which happens `now`."""

    def __init__(self, now: Nanoseconds) -> None:
        self._now = now

    def all(self) -> Mapping[str, Callable[..., Value]]:
        """The functions by name, prefix included."""
        own: dict[str, Callable[..., Value]] = {
            "ago": self._ago,
            "date": self._date,
            "dateInZone": self._date_in_zone,
            "dateModify": _date_modify,
            "date_in_zone": self._date_in_zone,
            "date_modify": _date_modify,
            "duration": _duration,
            "durationRound": self._duration_round,
            "htmlDate": self._html_date,
            "htmlDateInZone": self._html_date_in_zone,
            "mustDateModify": _must_date_modify,
            "mustToDate": _must_to_date,
            "must_date_modify": _must_date_modify,
            "now": self._time,
            "toDate": _to_date,
            "unixEpoch": _unix_epoch,
        }
        return {f"sprig_{name}": call for name, call in own.items()}

    def _time(self) -> Time:
        return Time(self._now)

    def _moment(self, value: Value) -> Time:
        """A time, or Unix seconds; now for anything else."""
        if isinstance(value, Time):
            return value
        return Time(value * SECOND_NS) if type(value) is int else Time(self._now)

    def _ago(self, value: Value) -> str:
        passed = self._now - self._moment(value).at
        return duration_text((passed + SECOND_NS // 2) // SECOND_NS * SECOND_NS)

    def _date(self, layout: str, value: Value) -> str:
        return self._moment(value).format(layout)

    def _date_in_zone(self, layout: str, value: Value, zone: str) -> str:
        try:
            found: tzinfo = ZoneInfo(zone) if zone else UTC
        except (ZoneInfoNotFoundError, ValueError, OSError):
            found = UTC
        return Time(self._moment(value).at, found).format(layout)

    def _html_date(self, value: Value) -> str:
        return self._date(HTML_DATE, value)

    def _html_date_in_zone(self, value: Value, zone: str) -> str:
        return self._date_in_zone(HTML_DATE, value, zone)

    def _duration_round(self, value: Value) -> str:
        """A duration in its largest unit; a time is taken as the duration since then."""
        if isinstance(value, Time):
            length = self._now - value.at
        elif isinstance(value, str):
            length = _parsed(value) or 0
        else:
            length = to_int(value)
        sign, length = ("-", -length) if length < 0 else ("", length)
        for unit, size in _ROUND_UNITS:
            if length > size:
                return f"{sign}{length // size}{unit}"
        return f"{sign}0s"


def _parsed(written: str) -> Nanoseconds | None:
    try:
        return parse_duration(written)
    except ValueError:
        return None


def _duration(seconds: Value) -> str:
    return duration_text(to_int(seconds) * SECOND_NS)


def _date_modify(change: str, value: Value) -> Value:
    length = _parsed(change)
    return value if length is None or not isinstance(value, Time) else Time(value.at + length, value.zone)


def _must_date_modify(change: str, value: Value) -> Value:
    if _parsed(change) is None:
        raise FunctionFailed(f"time: invalid duration {change!r}")
    return _date_modify(change, value)


def _must_to_date(layout: str, written: str) -> Time:
    found = read_time(layout, written)
    if found is None:
        raise FunctionFailed(f'parsing time "{written}" as "{layout}": cannot parse it')
    return Time(found)


def _to_date(layout: str, written: str) -> Time:
    """The time of a text; that of year 1 for one that does not fit the layout."""
    found = read_time(layout, written)
    return Time(found if found is not None else _ZERO)


_ZERO = int((datetime(1, 1, 1, tzinfo=UTC) - _EPOCH).total_seconds()) * SECOND_NS


def _unix_epoch(value: Value) -> str:
    if not isinstance(value, Time):
        raise FunctionFailed(f"unixEpoch: a time is needed, not {text(value)}")
    return str(value.at // SECOND_NS)
