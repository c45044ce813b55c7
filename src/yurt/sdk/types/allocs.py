"""Allocations, their tasks, and how their placement went."""

import msgspec

from yurt.sdk.wire import Record


class DeploymentHealth(Record, frozen=True):
    """An allocation's part in a deployment; `healthy` is None while undecided."""

    healthy: bool | None = None
    canary: bool = False


class TaskEvent(Record, frozen=True):
    """Something that happened to a task; `time` is in nanoseconds. `exit_code` is that of an end."""

    type: str = ""
    time: int = 0
    exit_code: int = 0
    message: str = ""
    display_message: str = ""


class TaskState(Record, frozen=True):
    """Where a task stands. Times are RFC 3339 texts, empty when unset."""

    state: str = ""
    failed: bool = False
    restarts: int = 0
    last_restart: str = ""
    started_at: str = ""
    finished_at: str = ""
    events: tuple[TaskEvent, ...] = ()


class RescheduleEvent(Record, frozen=True):
    """One past replacement; times and delays in nanoseconds."""

    reschedule_time: int = 0
    delay: int = 0


class RescheduleTracker(Record, frozen=True):
    """The replacements that led to an allocation."""

    events: tuple[RescheduleEvent, ...] = ()


class NodeScore(Record, frozen=True):
    """How one node scored for a placement."""

    node_id: str = ""
    scores: dict[str, float] = {}
    norm_score: float = 0.0


class AllocMetric(Record, frozen=True):
    """Why nodes were passed over in a placement."""

    nodes_evaluated: int = 0
    nodes_filtered: int = 0
    nodes_exhausted: int = 0
    nodes_available: dict[str, int] = {}
    class_filtered: dict[str, int] = {}
    constraint_filtered: dict[str, int] = {}
    class_exhausted: dict[str, int] = {}
    dimension_exhausted: dict[str, int] = {}
    quota_exhausted: tuple[str, ...] = ()
    score_meta_data: tuple[NodeScore, ...] = ()
    allocation_time: int = 0
    coalesced_failures: int = 0


class Port(Record, frozen=True):
    """A port of a network."""

    label: str = ""
    value: int = 0
    to: int = 0


class Network(Record, frozen=True):
    """A network given to a task or group."""

    mode: str = ""
    device: str = ""
    ip: str = ""
    reserved_ports: tuple[Port, ...] = ()
    dynamic_ports: tuple[Port, ...] = ()


class PortMapping(Record, frozen=True):
    """A port of the group on the host."""

    label: str = ""
    value: int = 0
    to: int = 0
    host_ip: str = ""


class TaskCpu(Record, frozen=True):
    """CPU given to a task: shares in MHz, whole cores by number."""

    cpu_shares: int = msgspec.field(name="CpuShares", default=0)
    reserved_cores: tuple[int, ...] = ()


class TaskMemory(Record, frozen=True):
    """Memory given to a task."""

    memory_mb: int = 0
    memory_max_mb: int = 0


class TaskDevice(Record, frozen=True):
    """Devices of one model given to a task."""

    vendor: str = ""
    type: str = ""
    name: str = ""
    device_ids: tuple[str, ...] = ()


class TaskResources(Record, frozen=True):
    """What a task was given."""

    cpu: TaskCpu = msgspec.field(name="Cpu", default=TaskCpu())
    memory: TaskMemory = TaskMemory()
    networks: tuple[Network, ...] = ()
    devices: tuple[TaskDevice, ...] = ()


class SharedResources(Record, frozen=True):
    """What the tasks of an allocation share."""

    networks: tuple[Network, ...] = ()
    disk_mb: int = 0
    ports: tuple[PortMapping, ...] = ()


class Lifecycle(Record, frozen=True):
    """When a task runs besides the main ones."""

    hook: str = ""
    sidecar: bool = False


class AllocatedResources(Record, frozen=True):
    """Everything an allocation was given. Main tasks are absent from `task_lifecycles`."""

    tasks: dict[str, TaskResources] = {}
    task_lifecycles: dict[str, Lifecycle] = {}
    shared: SharedResources = SharedResources()


class NetworkStatus(Record, frozen=True):
    """The allocation's own network, in bridge mode."""

    interface_name: str = ""
    address: str = ""


class DesiredTransition(Record, frozen=True):
    """What an allocation was told to do."""

    migrate: bool | None = None


class AllocStub(Record, frozen=True):
    """An allocation in a list. Times in nanoseconds."""

    id: str = ""
    eval_id: str = ""
    name: str = ""
    namespace: str = ""
    node_id: str = ""
    node_name: str = ""
    job_id: str = ""
    job_type: str = ""
    job_version: int = 0
    task_group: str = ""
    desired_status: str = ""
    desired_description: str = ""
    client_status: str = ""
    client_description: str = ""
    task_states: dict[str, TaskState] = {}
    desired_transition: DesiredTransition = DesiredTransition()
    deployment_status: DeploymentHealth | None = None
    followup_eval_id: str = ""
    next_allocation: str = ""
    reschedule_tracker: RescheduleTracker | None = None
    preempted_allocations: tuple[str, ...] = ()
    create_index: int = 0
    modify_index: int = 0
    create_time: int = 0
    modify_time: int = 0


class AllocTask(Record, frozen=True):
    """A task as the allocation's job describes it."""

    name: str = ""
    lifecycle: Lifecycle | None = None
    volume_mounts: tuple["VolumeMount", ...] = ()


class VolumeMount(Record, frozen=True):
    """A volume seen inside a task."""

    volume: str = ""
    read_only: bool = False


class VolumeRequest(Record, frozen=True):
    """A volume asked for by a group; `type` is `host` or `csi`."""

    name: str = ""
    type: str = ""
    source: str = ""
    read_only: bool = False
    per_alloc: bool = False


class ReschedulePolicy(Record, frozen=True):
    """How failed allocations are replaced; durations in nanoseconds."""

    attempts: int = 0
    interval: int = 0
    unlimited: bool = False


class AllocGroup(Record, frozen=True):
    """A group as the allocation's job describes it."""

    name: str = ""
    tasks: tuple[AllocTask, ...] = ()
    volumes: dict[str, VolumeRequest] = {}
    reschedule_policy: ReschedulePolicy | None = None
    max_run_duration: int = 0


class AllocJob(Record, frozen=True):
    """The job version that an allocation runs."""

    id: str = ""
    type: str = ""
    version: int = 0
    task_groups: tuple[AllocGroup, ...] = ()


class Alloc(AllocStub, frozen=True):
    """One allocation in full."""

    job: AllocJob = AllocJob()
    allocated_resources: AllocatedResources = AllocatedResources()
    metrics: AllocMetric = AllocMetric()
    deployment_id: str = ""
    network_status: NetworkStatus | None = None
    previous_allocation: str = ""

    def group(self) -> AllocGroup:
        """The group that this allocation is one of; an empty one when its job does not have it any more."""
        return next((group for group in self.job.task_groups if group.name == self.task_group), AllocGroup())


class MemoryStats(Record, frozen=True):
    """Memory use in bytes; `measured` names the members that were measured."""

    rss: int = 0
    cache: int = 0
    swap: int = 0
    usage: int = 0
    max_usage: int = 0
    kernel_usage: int = 0
    kernel_max_usage: int = 0
    measured: tuple[str, ...] = ()


class CpuStats(Record, frozen=True):
    """CPU use; ticks in MHz."""

    system_mode: float = 0.0
    user_mode: float = 0.0
    total_ticks: float = 0.0
    throttled_periods: int = 0
    throttled_time: int = 0
    percent: float = 0.0
    measured: tuple[str, ...] = ()


class ResourceUsage(Record, frozen=True):
    """What a task or allocation uses now."""

    memory_stats: MemoryStats = MemoryStats()
    cpu_stats: CpuStats = msgspec.field(name="CpuStats", default=CpuStats())


class TaskUsage(Record, frozen=True):
    """What one task uses now."""

    resource_usage: ResourceUsage = ResourceUsage()


class AllocUsage(Record, frozen=True):
    """What an allocation uses now."""

    resource_usage: ResourceUsage = ResourceUsage()
    tasks: dict[str, TaskUsage] = {}


class CheckResult(Record, frozen=True):
    """The latest result of a service check; `timestamp` in seconds."""

    id: str = ""
    mode: str = ""
    status: str = ""
    status_code: int = 0
    output: str = ""
    timestamp: int = 0
    group: str = ""
    task: str = ""
    service: str = ""
    check: str = ""


class FileInfo(Record, frozen=True):
    """A file or directory of an allocation."""

    name: str = ""
    is_dir: bool = False
    size: int = 0
    file_mode: str = ""
    mod_time: str = ""
    content_type: str = ""


class Stopped(Record, frozen=True):
    """The answer to stopping an allocation."""

    eval_id: str = ""


class ScheduleState(Record, frozen=True):
    """Whether a scheduled task is paused."""

    schedule_state: str = ""
