"""What can be wrong with a filter expression."""

from __future__ import annotations

from yurt.errors import YurtError


class FilterUnreadable(YurtError):
    """The text is not an expression; the message names the place and what could stand there."""


class FilterFailed(YurtError):
    """The expression does not fit the objects it is tried on."""
