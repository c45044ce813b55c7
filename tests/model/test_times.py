"""Times as texts and back, to the nanosecond."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yurt.model.times import TIME_NS_LIMIT, time_ns, time_text


@pytest.mark.parametrize(
    ("at", "text"),
    [
        (0, None),
        (1_700_000_000_000_000_000, "2023-11-14T22:13:20Z"),
        (1_700_000_000_120_000_000, "2023-11-14T22:13:20.12Z"),
        (1_700_000_000_000_000_001, "2023-11-14T22:13:20.000000001Z"),
        (-1, "1969-12-31T23:59:59.999999999Z"),
    ],
)
def test_a_time_and_its_text(at: int, text: str | None) -> None:
    assert time_text(at) == text
    assert time_ns(text) == at


@given(st.integers(-TIME_NS_LIMIT, TIME_NS_LIMIT - 1))
def test_every_time_survives(at: int) -> None:
    assert time_ns(time_text(at)) == at


@pytest.mark.parametrize(
    ("text", "at"),
    [
        pytest.param("0001-01-01T00:00:00Z", 0, id="Go's zero time"),
        pytest.param("1970-01-01T02:00:00.5+02:00", 500_000_000, id="a zone"),
        pytest.param("1970-01-01T00:00:00.1234567891Z", 123_456_789, id="more digits than matter"),
    ],
)
def test_other_texts(text: str, at: int) -> None:
    assert time_ns(text) == at


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "2024-01-01",
        "2024-01-01T10:00:00",
        "2024-13-01T00:00:00Z",
        "9999-12-31T00:00:00Z",
        "1600-01-01T00:00:00Z",
    ],
)
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - each has its own words
        time_ns(text)
