"""What can go wrong with an artifact."""

from __future__ import annotations

from yurt.errors import YurtError


class FetchFailed(YurtError):
    """An artifact cannot be had; the text says why."""
