"""The last launch of a periodic job."""

from __future__ import annotations

from yurt.model.wire import JobID, Nanoseconds, Wire


class PeriodicLaunch(Wire, frozen=True, kw_only=True):
    """The last time that a periodic job launched a child for. Outlives the child."""

    namespace: str
    id: JobID
    launch: Nanoseconds
    modify_index: int = 0
