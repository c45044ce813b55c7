"""What some answers say about themselves in their body, too."""

from __future__ import annotations

from yurt.model.wire import Wire


class ReadMeta(Wire, frozen=True, kw_only=True):
    """How fresh an answer is, and where it goes on."""

    index: int
    last_contact: int = 0
    known_leader: bool = True
    next_token: str = ""
