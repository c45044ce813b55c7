"""Evaluations and the plans they made."""

from yurt.sdk.types.allocs import AllocMetric, AllocStub
from yurt.sdk.wire import Record


class DesiredUpdates(Record, frozen=True):
    """How many allocations of a group a plan ignores, places, stops, ..."""

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


class PlanAnnotations(Record, frozen=True):
    """What a plan does, by group."""

    desired_tg_updates: dict[str, DesiredUpdates] = {}
    preempted_allocs: tuple[AllocStub, ...] = ()


class EvalStub(Record, frozen=True):
    """An evaluation as its relatives name it."""

    id: str = ""
    priority: int = 0
    triggered_by: str = ""
    node_id: str = ""
    status: str = ""
    status_description: str = ""


class Evaluation(EvalStub, frozen=True):
    """One evaluation. Times in nanoseconds, `wait_until` an RFC 3339 text."""

    namespace: str = ""
    type: str = ""
    job_id: str = ""
    deployment_id: str = ""
    wait: int = 0
    wait_until: str = ""
    next_eval: str = ""
    previous_eval: str = ""
    blocked_eval: str = ""
    related_evals: tuple[EvalStub, ...] = ()
    failed_tg_allocs: dict[str, AllocMetric] = {}
    plan_annotations: PlanAnnotations | None = None
    quota_limit_reached: str = ""
    missing_non_node_resources: tuple[str, ...] = ()
    queued_allocations: dict[str, int] = {}
    create_index: int = 0
    modify_index: int = 0
    create_time: int = 0
    modify_time: int = 0


class EvalsDeleted(Record, frozen=True):
    """The answer to deleting evaluations."""

    count: int = 0


class EvalCount(Record, frozen=True):
    """How many evaluations a filter matches."""

    count: int = 0
