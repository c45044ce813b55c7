"""Cron expressions, their next times, and clock changes."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from yurt.model.cron import BadCronSpec, BadTimeZone, next_after, parse_cron
from yurt.model.times import SECOND_NS

LOS_ANGELES = "America/Los_Angeles"


def ns(text: str, zone: str = "UTC", *, fold: int = 0) -> int:
    moment = datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone), fold=fold)
    return int(moment.astimezone(UTC).timestamp()) * SECOND_NS


def shown(at: int | None, zone: str) -> str:
    assert at is not None
    return datetime.fromtimestamp(at // SECOND_NS, tz=ZoneInfo(zone)).strftime("%m-%d %H:%M:%S %Z")


def launches(spec: str, start: str, count: int, zone: str = "UTC") -> list[str]:
    at = ns(start, zone)
    found = []
    for _ in range(count):
        later = next_after(spec, at, zone)
        assert later is not None
        found.append(shown(later, zone))
        at = later
    return found


@pytest.mark.parametrize(
    ("spec", "after", "expected"),
    [
        ("* * * * *", "2024-01-01T00:00:30", "2024-01-01T00:01:00"),
        ("*/15 * * * *", "2024-01-01T00:45:00", "2024-01-01T01:00:00"),
        ("5/20 * * * *", "2024-01-01T00:06:00", "2024-01-01T00:25:00"),
        ("0 9 * * 1-5", "2024-01-05T09:00:00", "2024-01-08T09:00:00"),
        ("0 0 29 2 *", "2023-01-01T00:00:00", "2024-02-29T00:00:00"),
        ("0 0 L * *", "2024-02-01T00:00:00", "2024-02-29T00:00:00"),
        ("0 0 15W * *", "2024-06-01T00:00:00", "2024-06-14T00:00:00"),
        ("0 0 1W * *", "2024-06-01T00:00:00", "2024-06-03T00:00:00"),
        ("0 0 LW * *", "2024-06-01T00:00:00", "2024-06-28T00:00:00"),
        ("0 0 * * 5L", "2024-06-01T00:00:00", "2024-06-28T00:00:00"),
        ("0 0 * * mon#2", "2024-06-01T00:00:00", "2024-06-10T00:00:00"),
        ("0 0 * jan-mar 7", "2024-06-01T00:00:00", "2025-01-05T00:00:00"),
        ("0 0 13 * fri", "2024-06-08T00:00:00", "2024-06-13T00:00:00"),
        ("0 0 1 1 * 2030", "2024-06-08T00:00:00", "2030-01-01T00:00:00"),
        ("30 * * * * * *", "2024-06-08T00:00:00", "2024-06-08T00:00:30"),
        ("@hourly", "2024-06-08T00:00:00", "2024-06-08T01:00:00"),
        ("@daily", "2024-06-08T00:00:01", "2024-06-09T00:00:00"),
        ("@weekly", "2024-06-08T00:00:01", "2024-06-09T00:00:00"),
        ("@monthly", "2024-06-08T00:00:01", "2024-07-01T00:00:00"),
        ("@annually", "2024-06-08T00:00:01", "2025-01-01T00:00:00"),
    ],
)
def test_next_time(spec: str, after: str, expected: str) -> None:
    assert next_after(spec, ns(after), "UTC") == ns(expected)


def test_no_next_time() -> None:
    assert next_after("0 0 1 1 * 2020", ns("2024-01-01T00:00:00"), "UTC") is None
    assert next_after("0 0 31 2 *", ns("2024-01-01T00:00:00"), "UTC") is None


@pytest.mark.parametrize(
    ("spec", "start", "expected"),
    [
        pytest.param(
            "2 2 * * *",
            "2019-03-08T12:00:00",
            ["03-09 02:02:00 PST", "03-11 02:02:00 PDT"],
            id="a skipped time does not match",
        ),
        pytest.param(
            "30 1 * * *",
            "2019-11-02T12:00:00",
            ["11-03 01:30:00 PDT", "11-03 01:30:00 PST", "11-04 01:30:00 PST"],
            id="a repeated time matches twice",
        ),
        pytest.param(
            "0 2 * * *", "2019-11-02T12:00:00", ["11-03 02:00:00 PST", "11-04 02:00:00 PST"], id="just after"
        ),
        pytest.param(
            "30 * * * *",
            "2019-11-03T00:00:00",
            ["11-03 00:30:00 PDT", "11-03 01:30:00 PDT", "11-03 01:30:00 PST", "11-03 02:30:00 PST"],
            id="every hour",
        ),
        pytest.param(
            "0,30 1 * * *",
            "2019-11-03T00:00:00",
            ["11-03 01:00:00 PDT", "11-03 01:30:00 PDT", "11-03 01:00:00 PST", "11-03 01:30:00 PST"],
            id="the repeated hour runs in order",
        ),
    ],
)
def test_clock_changes(spec: str, start: str, expected: list[str]) -> None:
    assert launches(spec, start, len(expected), LOS_ANGELES) == expected


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("* * *", "missing field(s)"),
        ("@fortnightly", "missing field(s)"),
        ("61 * * * *", "syntax error in minute field: '61'"),
        ("* 1,24 * * *", "syntax error in hour field: '24'"),
        ("* * 0 * *", "syntax error in day-of-month field: '0'"),
        ("* * * foo *", "syntax error in month field: 'foo'"),
        ("* * * * 8", "syntax error in day-of-week field: '8'"),
        ("*/0 * * * *", "syntax error in minute field: '*/0'"),
        ("5-1 * * * *", "syntax error in minute field: '5-1'"),
        ("* * * * mon#6", "syntax error in day-of-week field: 'mon#6'"),
    ],
)
def test_bad_expressions_are_named(spec: str, text: str) -> None:
    with pytest.raises(BadCronSpec) as refusal:
        parse_cron(spec)
    assert str(refusal.value) == text


@pytest.mark.parametrize("name", ["Nowhere/Else", "../etc/passwd", "/etc/localtime", "a\0b"])
def test_bad_time_zones_are_named(name: str) -> None:
    with pytest.raises(BadTimeZone, match="unknown time zone"):
        next_after("@daily", 0, name)
