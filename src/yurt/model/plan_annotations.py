"""What a plan would change, for people."""

from __future__ import annotations

from typing import Any

from yurt.model.wire import Wire


class DesiredUpdates(Wire, frozen=True, kw_only=True):
    """How many allocations of a group a plan touches, and how."""

    ignore: int = 0
    place: int = 0
    migrate: int = 0
    stop: int = 0
    in_place_update: int = 0
    destructive_update: int = 0
    canary: int = 0
    preemptions: int = 0
    disconnect: int = 0
    reconnect: int = 0
    reschedule_now: int = 0
    reschedule_later: int = 0


class PlanAnnotations(Wire, frozen=True, kw_only=True):
    """What a plan would change."""

    desired_tg_updates: dict[str, DesiredUpdates] | None = None
    # AllocListStubs, rendered by the API from the allocations to preempt.
    preempted_allocs: tuple[dict[str, Any], ...] | None = None
