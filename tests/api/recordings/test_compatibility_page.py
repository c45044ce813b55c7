"""The page about compatibility says what the replay of the recordings allows."""

from __future__ import annotations

from pathlib import Path

from tests.api.recordings.acl_expected import ACL_DIFFERENCES
from tests.api.recordings.expected import EXPECTED_DIFFERENCES

PAGE = Path(__file__).parents[3] / "docs" / "compatibility.md"


def test_every_deliberate_difference_is_told_with_its_reason() -> None:
    page = PAGE.read_text()
    reasons = (*EXPECTED_DIFFERENCES.values(), *ACL_DIFFERENCES.values())
    untold = {reason for reason in reasons if reason not in page}
    assert not untold
