"""Cron expressions: reading them, and finding the next time they match.

Fields: minute, hour, day of month, month, day of week; a sixth is the year; with seven the first is the
second. If both day fields are restricted, either may match.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

import msgspec

from yurt.errors import YurtError
from yurt.model.times import SECOND_NS
from yurt.model.wire import Nanoseconds

YEAR_MIN, YEAR_MAX = 1970, 2099
PARSED_SPECS_MAX = 1024
"""How many parsed expressions are remembered."""

_MACROS = {
    "@annually": "0 0 0 1 1 * *",
    "@yearly": "0 0 0 1 1 * *",
    "@monthly": "0 0 0 1 * * *",
    "@weekly": "0 0 0 * * 0 *",
    "@daily": "0 0 0 * * * *",
    "@hourly": "0 0 * * * * *",
}
_MONTH_NAMES = "january february march april may june july august september october november december"
_MONTHS = {name: number for number, name in enumerate(_MONTH_NAMES.split(), start=1)}
_MONTHS |= {name[:3]: number for name, number in _MONTHS.items()}
_DAY_NAMES = "sunday monday tuesday wednesday thursday friday saturday"
_DAYS = {name: number for number, name in enumerate(_DAY_NAMES.split())}
_DAYS |= {name[:3]: number for name, number in _DAYS.items()}
# No zone has ever changed its clock by more than this at once, save for crossing the date line.
_CLOCK_CHANGE_MAX = timedelta(hours=3)


class BadCronSpec(YurtError):
    """A text that is no cron expression."""


class BadTimeZone(YurtError):
    """A name that is no time zone."""


class CronSpec(msgspec.Struct, frozen=True):
    """A parsed expression: the values that each field admits."""

    seconds: tuple[int, ...]
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    months: frozenset[int]
    years: frozenset[int]
    days: DaysOfMonth
    weekdays: DaysOfWeek

    def days_in(self, year: int, month: int) -> list[int]:
        """Give the matching days of a month, in order."""
        if self.days.any and self.weekdays.any:
            return list(range(1, calendar.monthrange(year, month)[1] + 1))
        matching: set[int] = set()
        if not self.days.any:
            matching |= self.days.within(year, month)
        if not self.weekdays.any:
            matching |= self.weekdays.within(year, month)
        return sorted(matching)


class DaysOfMonth(msgspec.Struct, frozen=True):
    """The day-of-month field: numbers, the last day, working days near a day or near the last."""

    any: bool = False
    numbers: frozenset[int] = frozenset()
    last: bool = False
    near: frozenset[int] = frozenset()
    near_last: bool = False

    def within(self, year: int, month: int) -> set[int]:
        """Give the matching days of one month."""
        last = calendar.monthrange(year, month)[1]
        days = {day for day in self.numbers if day <= last}
        days |= {_working_day_near(year, month, day) for day in self.near if day <= last}
        if self.last:
            days.add(last)
        if self.near_last:
            days.add(_working_day_near(year, month, last))
        return days


class DaysOfWeek(msgspec.Struct, frozen=True):
    """The day-of-week field, Sunday being 0: every such day, the last or the k-th of the month."""

    any: bool = False
    numbers: frozenset[int] = frozenset()
    last: frozenset[int] = frozenset()
    counted: frozenset[tuple[int, int]] = frozenset()

    def within(self, year: int, month: int) -> set[int]:
        """Give the matching days of one month."""
        first_weekday, length = calendar.monthrange(year, month)
        days = set()
        for day in range(1, length + 1):
            weekday = (first_weekday + day) % 7  # monthrange counts from Monday
            if (
                weekday in self.numbers
                or (weekday in self.last and day + 7 > length)
                or (weekday, (day + 6) // 7) in self.counted
            ):
                days.add(day)
        return days


@lru_cache(maxsize=PARSED_SPECS_MAX)
def parse_cron(text: str) -> CronSpec:
    """Read a cron expression. Raises BadCronSpec."""
    fields = _MACROS.get(text.strip().lower(), text).split()
    if len(fields) < 5:
        raise BadCronSpec("missing field(s)")
    if len(fields) == 5:
        fields = ["0", *fields, "*"]
    elif len(fields) == 6:
        fields = ["0", *fields]
    seconds = _numbers(fields[0], "second", 0, 59)
    minutes = _numbers(fields[1], "minute", 0, 59)
    hours = _numbers(fields[2], "hour", 0, 23)
    months = _numbers(fields[4], "month", 1, 12, names=_MONTHS)
    years = _numbers(fields[6], "year", YEAR_MIN, YEAR_MAX)
    return CronSpec(
        seconds=tuple(sorted(seconds)),
        minutes=tuple(sorted(minutes)),
        hours=tuple(sorted(hours)),
        months=frozenset(months),
        years=frozenset(years),
        days=_days_of_month(fields[3]),
        weekdays=_days_of_week(fields[5]),
    )


def find_zone(name: str) -> ZoneInfo:
    """Find a time zone; an empty name is UTC. Raises BadTimeZone."""
    try:
        return ZoneInfo(name or "UTC")
    except (KeyError, ValueError, OSError):
        raise BadTimeZone(f"unknown time zone {name}") from None


def next_after(spec: str, after: Nanoseconds, time_zone: str) -> Nanoseconds | None:
    """Give the first matching Unix time later than `after`, or None if there is none.

    A wall-clock time that a clock change skips does not match; one that it repeats matches twice.
    Raises BadCronSpec or BadTimeZone.
    """
    cron = parse_cron(spec)
    zone = find_zone(time_zone)
    start = datetime.fromtimestamp(after // SECOND_NS, tz=UTC)
    local = start.astimezone(zone)
    nearby = {
        (start + shift).astimezone(zone).utcoffset()
        for shift in (-_CLOCK_CHANGE_MAX, timedelta(0), _CLOCK_CHANGE_MAX)
    }
    lookback = _CLOCK_CHANGE_MAX if len(nearby) > 1 else timedelta(0)
    best: datetime | None = None
    for wall in _matches(cron, local.replace(tzinfo=None) - lookback):
        if best is not None and wall > best.astimezone(zone).replace(tzinfo=None) + lookback:
            break
        for instant in _instants(wall, zone):
            if instant > start and (best is None or instant < best):
                best = instant
        if best is not None and not lookback:
            break
    return None if best is None else int(best.timestamp()) * SECOND_NS


def _instants(wall: datetime, zone: ZoneInfo) -> Iterator[datetime]:
    """Give the moments at which clocks in `zone` show `wall`: none, one or two."""
    seen = None
    for fold in (0, 1):
        instant = wall.replace(tzinfo=zone, fold=fold).astimezone(UTC)
        if instant != seen and instant.astimezone(zone).replace(tzinfo=None) == wall:
            yield instant
        seen = instant


def _matches(cron: CronSpec, start: datetime) -> Iterator[datetime]:
    """Give the matching wall-clock times from `start` on, in order."""
    for year in range(start.year, YEAR_MAX + 1):
        if year not in cron.years:
            continue
        for month in range(1, 13):
            if month not in cron.months or (year, month) < (start.year, start.month):
                continue
            for day in cron.days_in(year, month):
                if (year, month, day) >= (start.year, start.month, start.day):
                    yield from _matches_on(cron, datetime(year, month, day), start)  # noqa: DTZ001 - wall clock


def _matches_on(cron: CronSpec, day: datetime, start: datetime) -> Iterator[datetime]:
    for hour in cron.hours:
        if day.replace(hour=hour, minute=59, second=59) < start:
            continue
        for minute in cron.minutes:
            if day.replace(hour=hour, minute=minute, second=59) < start:
                continue
            for second in cron.seconds:
                wall = day.replace(hour=hour, minute=minute, second=second)
                if wall >= start:
                    yield wall


def _working_day_near(year: int, month: int, day: int) -> int:
    """Find the Monday to Friday nearest to a day, without leaving the month."""
    weekday = calendar.weekday(year, month, day)
    if weekday == calendar.SATURDAY:
        return day - 1 if day > 1 else day + 2
    if weekday == calendar.SUNDAY:
        return day + 1 if day < calendar.monthrange(year, month)[1] else day - 2
    return day


_ITEM = re.compile(r"(?P<all>[*?])|(?P<first>\w+)(?:-(?P<last>\w+))?")


def _numbers(
    field: str, name: str, lowest: int, highest: int, *, names: dict[str, int] | None = None
) -> set[int]:
    values: set[int] = set()
    for item in field.split(","):
        found = _item(item, lowest, highest, names or {})
        if found is None:
            raise _syntax_error(name, item)
        values |= found
    return values


def _item(item: str, lowest: int, highest: int, names: dict[str, int]) -> set[int] | None:
    """Read `*`, `a`, `a-b`, each with or without `/step`; None if it is none of these."""
    span, slash, step_text = item.partition("/")
    found = _ITEM.fullmatch(span)
    if found is None or (slash and not step_text.isdecimal()):
        return None
    step = int(step_text) if slash else 1
    first, last = lowest, highest
    if not found["all"]:
        ends = [_number(text, names) for text in (found["first"], found["last"] or found["first"])]
        if ends[0] is None or ends[1] is None:
            return None
        first, last = ends[0], ends[1]
        if slash and found["last"] is None:
            last = highest
    if not (1 <= step <= highest and lowest <= first <= last <= highest):
        return None
    return set(range(first, last + 1, step))


def _number(text: str, names: dict[str, int]) -> int | None:
    return int(text) if text.isdecimal() else names.get(text.lower())


def _days_of_month(field: str) -> DaysOfMonth:
    numbers: set[int] = set()
    near: set[int] = set()
    last = near_last = False
    for item in field.lower().split(","):
        if item in ("*", "?"):
            return DaysOfMonth(any=True)
        if item == "l":
            last = True
        elif item in ("lw", "wl"):
            near_last = True
        elif item.endswith("w") and item[:-1].isdecimal() and 1 <= int(item[:-1]) <= 31:
            near.add(int(item[:-1]))
        else:
            found = _item(item, 1, 31, {})
            if found is None:
                raise _syntax_error("day-of-month", item)
            numbers |= found
    return DaysOfMonth(False, frozenset(numbers), last, frozenset(near), near_last)


def _days_of_week(field: str) -> DaysOfWeek:
    numbers: set[int] = set()
    last: set[int] = set()
    counted: set[tuple[int, int]] = set()
    for item in field.lower().split(","):
        if item in ("*", "?"):
            return DaysOfWeek(any=True)
        day_text, hash_mark, count = item.partition("#")
        day = _number(day_text.removesuffix("l") if not hash_mark else day_text, _DAYS)
        if hash_mark and day is not None and day <= 7 and count in ("1", "2", "3", "4", "5"):
            counted.add((day % 7, int(count)))
        elif not hash_mark and day is not None and day <= 7 and item.endswith("l") and item not in _DAYS:
            last.add(day % 7)
        else:
            found = _item(item, 0, 7, _DAYS)
            if found is None:
                raise _syntax_error("day-of-week", item)
            numbers |= {number % 7 for number in found}
    return DaysOfWeek(False, frozenset(numbers), frozenset(last), frozenset(counted))


def _syntax_error(field: str, item: str) -> BadCronSpec:
    return BadCronSpec(f"syntax error in {field} field: '{item}'")
