"""An evaluation: a reason to look at a job again."""

from __future__ import annotations

from yurt.model.alloc_metric import AllocMetric
from yurt.model.plan_annotations import PlanAnnotations
from yurt.model.wire import (
    DeploymentID,
    EvalID,
    JobID,
    Nanoseconds,
    NodeID,
    SparseWire,
    Time,
    Wire,
    wire_names,
)

EVAL_BLOCKED = "blocked"
EVAL_PENDING = "pending"
EVAL_COMPLETE = "complete"
EVAL_FAILED = "failed"
EVAL_CANCELED = "canceled"

TRIGGER_JOB_REGISTER = "job-register"
TRIGGER_JOB_DEREGISTER = "job-deregister"
TRIGGER_PERIODIC_JOB = "periodic-job"
TRIGGER_NODE_DRAIN = "node-drain"
TRIGGER_NODE_UPDATE = "node-update"
TRIGGER_ALLOC_STOP = "alloc-stop"
TRIGGER_SCHEDULED = "scheduled"
TRIGGER_ROLLING_UPDATE = "rolling-update"
TRIGGER_DEPLOYMENT_WATCHER = "deployment-watcher"
TRIGGER_FAILED_FOLLOW_UP = "failed-follow-up"
TRIGGER_MAX_PLAN_ATTEMPTS = "max-plan-attempts"
TRIGGER_ALLOC_FAILURE = "alloc-failure"
TRIGGER_ALLOC_RESCHEDULE = "alloc-reschedule"
TRIGGER_QUEUED_ALLOCS = "queued-allocs"
TRIGGER_PREEMPTION = "preemption"
TRIGGER_SCALING = "job-scaling"
TRIGGER_MAX_DISCONNECT_TIMEOUT = "max-disconnect-timeout"
TRIGGER_RECONNECT = "reconnect"

_TERMINAL = frozenset((EVAL_COMPLETE, EVAL_FAILED, EVAL_CANCELED))


class EvaluationStub(Wire, frozen=True, kw_only=True):
    """An evaluation in short."""

    id: EvalID
    namespace: str
    priority: int
    type: str
    triggered_by: str
    job_id: JobID
    node_id: NodeID
    deployment_id: DeploymentID
    status: str
    status_description: str
    wait_until: Time
    next_eval: str
    previous_eval: str
    blocked_eval: str
    create_index: int
    modify_index: int
    create_time: Nanoseconds
    modify_time: Nanoseconds


class Evaluation(SparseWire, frozen=True, kw_only=True, rename=wire_names(leader_acl="LeaderACL")):
    """A reason to look at a job again, and what came of it."""

    id: EvalID = EvalID("")
    namespace: str = ""
    priority: int = 0
    type: str = ""
    triggered_by: str = ""
    job_id: JobID = JobID("")
    job_modify_index: int = 0
    node_id: NodeID = NodeID("")
    node_modify_index: int = 0
    deployment_id: DeploymentID = DeploymentID("")
    status: str = ""
    status_description: str = ""
    wait: Nanoseconds = 0
    wait_until: Time = None
    next_eval: str = ""
    previous_eval: str = ""
    blocked_eval: str = ""
    related_evals: tuple[EvaluationStub, ...] | None = None
    failed_tg_allocs: dict[str, AllocMetric] | None = None
    plan_annotations: PlanAnnotations | None = None
    class_eligibility: dict[str, bool] | None = None
    quota_limit_reached: str = ""
    missing_non_node_resources: tuple[str, ...] | None = None
    escaped_computed_class: bool = False
    annotate_plan: bool = False
    queued_allocations: dict[str, int] | None = None
    leader_acl: str = ""
    snapshot_index: int = 0
    create_index: int = 0
    modify_index: int = 0
    create_time: Nanoseconds = 0
    modify_time: Nanoseconds = 0

    @property
    def is_terminal(self) -> bool:
        """Whether no scheduler will look at it again."""
        return self.status in _TERMINAL

    def stub(self) -> EvaluationStub:
        """The evaluation in short."""
        return EvaluationStub(**{name: getattr(self, name) for name in EvaluationStub.__struct_fields__})
