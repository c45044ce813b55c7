"""The page about compatibility says what the replay of the recordings allows."""

from __future__ import annotations

from pathlib import Path

from tests.api.recordings.expected import EXPECTED_DIFFERENCES

PAGE = Path(__file__).parents[3] / "docs" / "compatibility.md"


def test_every_deliberate_difference_is_told_with_its_reason() -> None:
    page = PAGE.read_text()
    untold = {reason for reason in EXPECTED_DIFFERENCES.values() if reason not in page}
    assert not untold
