"""Jobs and the answers to what is done with them."""

from yurt.sdk.types.allocs import AllocMetric
from yurt.sdk.types.diffs import JobDiff
from yurt.sdk.types.evals import Evaluation, PlanAnnotations
from yurt.sdk.wire import Record


class GroupCounts(Record, frozen=True):
    """How many allocations of a group are in which state."""

    queued: int = 0
    starting: int = 0
    running: int = 0
    failed: int = 0
    complete: int = 0
    lost: int = 0
    unknown: int = 0


class ChildCounts(Record, frozen=True):
    """How many children of a periodic or parameterized job are in which state."""

    pending: int = 0
    running: int = 0
    dead: int = 0

    def any(self) -> bool:
        """Whether there is a child at all."""
        return bool(self.pending or self.running or self.dead)


class JobSummary(Record, frozen=True):
    """A job's allocations and children, counted."""

    job_id: str = ""
    namespace: str = ""
    summary: dict[str, GroupCounts] = {}
    children: ChildCounts | None = None


class JobStub(Record, frozen=True):
    """A job in a list. `submit_time` in nanoseconds."""

    id: str = ""
    parent_id: str = ""
    name: str = ""
    namespace: str = ""
    type: str = ""
    priority: int = 0
    periodic: bool = False
    parameterized_job: bool = False
    stop: bool = False
    status: str = ""
    submit_time: int = 0


class Periodic(Record, frozen=True):
    """When a periodic job is launched."""

    enabled: bool = False
    spec: str = ""
    specs: tuple[str, ...] = ()
    time_zone: str = ""


class Parameterized(Record, frozen=True):
    """What a dispatch must and may carry."""

    payload: str = ""
    meta_required: tuple[str, ...] = ()
    meta_optional: tuple[str, ...] = ()


class Task(Record, frozen=True):
    """A task of a stored job."""

    name: str = ""


class GroupReschedule(Record, frozen=True):
    """How failed allocations of a group are replaced; durations in nanoseconds."""

    attempts: int = 0
    interval: int = 0
    delay: int = 0
    delay_function: str = ""
    max_delay: int = 0
    unlimited: bool = False


class Group(Record, frozen=True):
    """A group of a stored job."""

    name: str = ""
    count: int = 0
    tasks: tuple[Task, ...] = ()
    reschedule_policy: GroupReschedule | None = None
    max_run_duration: int = 0


class Region(Record, frozen=True):
    """A region of a multi-region job."""

    name: str = ""


class Multiregion(Record, frozen=True):
    """The regions of a multi-region job."""

    regions: tuple[Region, ...] = ()


class VersionTag(Record, frozen=True):
    """A name given to a version."""

    name: str = ""
    description: str = ""


class Job(Record, frozen=True):
    """A stored job."""

    id: str = ""
    parent_id: str = ""
    name: str = ""
    namespace: str = ""
    region: str = ""
    type: str = ""
    priority: int = 0
    datacenters: tuple[str, ...] = ()
    node_pool: str = ""
    task_groups: tuple[Group, ...] = ()
    periodic: Periodic | None = None
    parameterized_job: Parameterized | None = None
    multiregion: Multiregion | None = None
    dispatch_idempotency_token: str = ""
    stop: bool = False
    status: str = ""
    stable: bool = False
    version: int = 0
    version_tag: VersionTag | None = None
    submit_time: int = 0
    create_index: int = 0
    modify_index: int = 0
    job_modify_index: int = 0


class Registered(Record, frozen=True):
    """The answer to registering, scaling, reverting or evaluating a job.

    `eval_id` is empty where nothing is scheduled: periodic and parameterized jobs.
    """

    eval_id: str = ""
    eval_create_index: int = 0
    job_modify_index: int = 0
    warnings: str = ""


class Validated(Record, frozen=True):
    """The answer to validating a job; `error` is empty for a valid one."""

    driver_config_validated: bool = False
    validation_errors: tuple[str, ...] = ()
    error: str = ""
    warnings: str = ""


class Planned(Record, frozen=True):
    """What registering a job would do."""

    annotations: PlanAnnotations | None = None
    failed_tg_allocs: dict[str, AllocMetric] = {}
    job_modify_index: int = 0
    created_evals: tuple[Evaluation, ...] = ()
    diff: JobDiff | None = None
    next_periodic_launch: str = ""
    warnings: str = ""


class Dispatched(Record, frozen=True):
    """The answer to a dispatch; a repeated idempotency token gives the first job and no evaluation."""

    dispatched_job_id: str = ""
    eval_id: str = ""


class Versions(Record, frozen=True):
    """The kept versions of a job, newest first, and the changes between them when asked for."""

    versions: tuple[Job, ...] = ()
    diffs: tuple[JobDiff, ...] = ()


class Submission(Record, frozen=True):
    """The source a job was registered from."""

    source: str = ""
    format: str = ""
    variable_flags: dict[str, str] = {}
    variables: str = ""


class Action(Record, frozen=True):
    """A named command of a task."""

    name: str = ""
    task_name: str = ""
    task_group_name: str = ""


class ScalingEvent(Record, frozen=True):
    """One change of a group's count; `time` in nanoseconds."""

    time: int = 0
    count: int | None = None
    previous_count: int = 0
    message: str = ""
    error: bool = False
    eval_id: str = ""


class GroupScale(Record, frozen=True):
    """A group's count and its changes, newest first."""

    desired: int = 0
    events: tuple[ScalingEvent, ...] = ()


class ScaleStatus(Record, frozen=True):
    """A job's counts."""

    job_id: str = ""
    task_groups: dict[str, GroupScale] = {}


class JobStatusAlloc(Record, frozen=True):
    """An allocation among those of a job."""

    id: str = ""
    group: str = ""
    client_status: str = ""
    node_id: str = ""
    job_version: int = 0
    has_paused_task: bool = False


class JobStatus(Record, frozen=True):
    """A job with its allocations."""

    id: str = ""
    namespace: str = ""
    name: str = ""
    type: str = ""
    node_pool: str = ""
    datacenters: tuple[str, ...] = ()
    priority: int = 0
    version: int = 0
    submit_time: int = 0
    modify_index: int = 0
    allocs: tuple[JobStatusAlloc, ...] = ()
    group_count_sum: int = 0
    child_statuses: tuple[str, ...] = ()
    parent_id: str = ""
    stop: bool = False
    status: str = ""
