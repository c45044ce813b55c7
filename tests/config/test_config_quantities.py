import pytest
from hypothesis import given
from hypothesis import strategies as st

from yurt.config.quantities import duration_text, nanoseconds, parse_duration, parse_size, size_text


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0", 0), ("30s", 30), ("1h30m", 5400), ("250ms", 0.25), ("1.5h", 5400), (".5s", 0.5), ("10us", 1e-5)],
)
def test_durations_are_read_as_seconds(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "5", "5d", "s", "1h 5m", "-5s", "1,5s", "5sx"])
def test_other_text_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="duration"):
        parse_duration(text)


@given(st.integers(min_value=0, max_value=10**18).map(lambda us: us // 1000 * 1000))
def test_a_written_duration_reads_as_the_same(duration_ns: int) -> None:
    seconds = duration_ns / 1e9
    assert nanoseconds(parse_duration(duration_text(seconds))) == pytest.approx(duration_ns, rel=1e-12)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (5, "5s"), (300, "5m"), (5400, "1h30m"), (0.25, "250ms"), (1.5, "1.5s"), (3601, "1h1s")],
)
def test_durations_are_written_briefly(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [("100GB", 100 * 10**9), ("1M", 10**6), ("1MiB", 2**20), ("1.5kB", 1500), ("512", 512), ("2 GiB", 2**31)],
)
def test_sizes_are_read_as_bytes(text: str, size_bytes: int) -> None:
    assert parse_size(text) == size_bytes


@pytest.mark.parametrize("text", ["", "big", "10XB", "-1MB"])
def test_other_text_is_no_size(text: str) -> None:
    with pytest.raises(ValueError, match="size"):
        parse_size(text)


@given(st.integers(min_value=0, max_value=10**15))
def test_a_written_size_reads_as_the_same(size_bytes: int) -> None:
    assert parse_size(size_text(size_bytes)) == size_bytes
