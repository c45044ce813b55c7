"""The root of every error Yurt raises on purpose."""

from __future__ import annotations


class YurtError(Exception):
    """An operating error: its text says what failed and what to do next, and is shown to people as it is.

    Subclasses carry their facts as attributes. A bug is never one of these.
    """
