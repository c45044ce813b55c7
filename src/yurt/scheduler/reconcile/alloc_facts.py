"""What can be read off an allocation: the predicates that reconciling is built from."""

from __future__ import annotations

import msgspec

from yurt.model.alloc import (
    CLIENT_FAILED,
    CLIENT_RUNNING,
    CLIENT_UNKNOWN,
    Allocation,
    AllocStateChange,
    DesiredTransition,
)
from yurt.model.alloc_metric import AllocMetric
from yurt.model.deployment import Deployment
from yurt.model.group import TaskGroup
from yurt.model.job import Job
from yurt.model.policies import DisconnectStrategy, ReschedulePolicy
from yurt.model.task_state import TASK_DEAD, TaskState
from yurt.model.times import time_ns, time_text
from yurt.model.wire import Nanoseconds

RESCHEDULE_OK = "ok"
RESCHEDULE_NO_PLACEMENT = "no placement"

_NO_TRANSITION = DesiredTransition()


class _FinishedTask(msgspec.Struct, frozen=True, rename={"finished_at": "FinishedAt"}):
    """The part of a task state that says when the task ended."""

    finished_at: str | None = None


# Reading this one member is far cheaper than decoding events nobody looks at.
_finished_decoder = msgspec.msgpack.Decoder(dict[str, _FinishedTask])
_states_decoder = msgspec.msgpack.Decoder(dict[str, TaskState])
_metric_decoder = msgspec.msgpack.Decoder(AllocMetric)


def transition(alloc: Allocation) -> DesiredTransition:
    """What the servers want done with it; unset flags count as false."""
    return alloc.desired_transition or _NO_TRANSITION


def group_of(alloc: Allocation) -> TaskGroup | None:
    """Its group in the job version it runs."""
    return alloc.job.group(alloc.task_group)


def reschedule_policy(alloc: Allocation) -> ReschedulePolicy | None:
    """The reschedule policy of the job version it runs."""
    group = group_of(alloc)
    return group.reschedule_policy if group is not None else None


def disconnect_strategy(alloc: Allocation) -> DisconnectStrategy | None:
    """The disconnect block of the job version it runs."""
    group = group_of(alloc)
    return group.disconnect if group is not None else None


def lost_after(alloc: Allocation) -> Nanoseconds:
    """How long it may be unknown; 0 without a disconnect block."""
    strategy = disconnect_strategy(alloc)
    return strategy.lost_after if strategy is not None else 0


def replaces_on_disconnect(alloc: Allocation) -> bool:
    """Whether it is replaced while its node is silent; true unless its job says otherwise."""
    strategy = disconnect_strategy(alloc)
    return strategy is None or strategy.replace is not False


def ran_successfully(alloc: Allocation) -> bool:
    """Whether all of its tasks ended, none of them failed."""
    if not alloc.task_states:
        return False
    states = _states_decoder.decode(alloc.task_states)
    return bool(states) and all(s.state == TASK_DEAD and not s.failed for s in states.values())


def reschedule_failed(alloc: Allocation) -> bool:
    """Whether the last try to place it anew found no node."""
    tracker = alloc.reschedule_tracker
    return tracker is not None and tracker.last_reschedule not in ("", RESCHEDULE_OK)


def awaits_reconnect(alloc: Allocation) -> bool:
    """Whether the last the servers noted of it is that it is unknown."""
    if alloc.client_status not in (CLIENT_UNKNOWN, CLIENT_RUNNING, CLIENT_FAILED):
        return False
    newest = next((change.value for change in reversed(alloc.alloc_states) if change.value), "")
    return newest == CLIENT_UNKNOWN


def last_unknown_time(alloc: Allocation) -> Nanoseconds:
    """When the newest unbroken time of being unknown began; 0 if there was none."""
    began = 0
    for change in reversed(alloc.alloc_states):
        if change.value == CLIENT_UNKNOWN:
            began = time_ns(change.time)
        elif began:
            break
    return began


def is_expired(alloc: Allocation, now: Nanoseconds) -> bool:
    """Whether it has been unknown for longer than its job allows."""
    if alloc.client_status != CLIENT_UNKNOWN:
        return False
    since = last_unknown_time(alloc)
    return since != 0 and since + lost_after(alloc) <= now


def last_event_time(alloc: Allocation) -> Nanoseconds:
    """When its last task ended, else when it was last changed."""
    latest = 0
    if alloc.task_states:
        for task in _finished_decoder.decode(alloc.task_states).values():
            if task.finished_at is not None:
                latest = max(latest, time_ns(task.finished_at))
    return latest or alloc.modify_time


def task_states(alloc: Allocation) -> dict[str, TaskState]:
    """Its task states, decoded."""
    return _states_decoder.decode(alloc.task_states) if alloc.task_states else {}


def best_score(alloc: Allocation) -> float | None:
    """The highest normalised score of its placement; None if none was kept."""
    if not alloc.metrics:
        return None
    scored = _metric_decoder.decode(alloc.metrics).score_meta_data
    return max((entry.norm_score for entry in scored), default=None) if scored else None


def is_canary(alloc: Allocation) -> bool:
    """Whether it tries a new version out."""
    return alloc.deployment_status is not None and alloc.deployment_status.canary


def health(alloc: Allocation) -> bool | None:
    """Whether it is healthy in its deployment; None while unknown."""
    return alloc.deployment_status.healthy if alloc.deployment_status is not None else None


def is_of_version(alloc: Allocation, job: Job) -> bool:
    """Whether it runs exactly this version of this job."""
    return alloc.job.version == job.version and alloc.job.create_index == job.create_index


def is_older_than(alloc: Allocation, job: Job) -> bool:
    """Whether it runs an earlier version of the job, or an earlier job of the same name."""
    return alloc.job.version < job.version or alloc.job.create_index < job.create_index


def is_part_of(alloc: Allocation, deployment: Deployment | None) -> bool:
    """Whether it belongs to a deployment."""
    return deployment is not None and alloc.deployment_id == deployment.id


def with_state(alloc: Allocation, client_status: str, now: Nanoseconds) -> tuple[AllocStateChange, ...]:
    """Its recorded changes of client status, with one more."""
    return (*alloc.alloc_states, AllocStateChange(value=client_status, time=time_text(now)))
