"""What autoscalers and people did to the counts of a job."""

from __future__ import annotations

from typing import Any

from yurt.model.wire import JobID, Nanoseconds, Wire

SCALING_EVENTS_MAX = 20


class ScalingEvent(Wire, frozen=True, kw_only=True):
    """One scaling of a group, or a note about it when there is no `count`."""

    time: Nanoseconds = 0
    count: int | None = None
    previous_count: int = 0
    message: str = ""
    error: bool = False
    meta: dict[str, Any] | None = None
    eval_id: str | None = None
    create_index: int = 0


class JobScalingEvents(Wire, frozen=True, kw_only=True):
    """The last `SCALING_EVENTS_MAX` events of each group of a job, newest first."""

    namespace: str
    job_id: JobID
    scaling_events: dict[str, tuple[ScalingEvent, ...]] = {}
    modify_index: int = 0
