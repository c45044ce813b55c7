"""What can be compared between a recording and a cluster: everything but ids, times and indexes."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.scheduler.kinds.recorded_cluster import Recording
from yurt.model.alloc import Allocation
from yurt.model.evaluation import Evaluation
from yurt.model.plan_annotations import DesiredUpdates
from yurt.model.wire import wire_name
from yurt.state.state import State

Outline = Counter[str]


class Recorded:
    """Everything a recording's steps have shown so far."""

    def __init__(self) -> None:
        self._objects: dict[str, dict[str, Recording]] = {
            kind: {} for kind in ("Allocations", "Evaluations", "Deployments", "Jobs")
        }

    def take(self, after: Recording) -> None:
        """Take over what a step changed."""
        for kind, objects in self._objects.items():
            for one in after.get(kind, ()):
                objects[one["ID"]] = one
            for gone in (after.get("Gone") or {}).get(kind, ()):
                objects.pop(gone, None)

    def get(self, kind: str, object_id: str) -> Recording:
        """One object as it is now."""
        return self._objects[kind][object_id]

    def all(self, kind: str) -> list[Recording]:
        """All objects of a kind as they are now."""
        return list(self._objects[kind].values())

    def work_on(self, node_name: str) -> Counter[tuple[str, int]]:
        """What a node should run: allocations by group and job version."""
        return Counter(
            (one["TaskGroup"], one["JobVersion"])
            for one in self._objects["Allocations"].values()
            if one["NodeName"] == node_name and one["DesiredStatus"] == "run"
        )

    def allocs(self, *, names: bool) -> Outline:
        return Counter(_recorded_alloc(one, names=names) for one in self._objects["Allocations"].values())

    def evals(self) -> Outline:
        return Counter(_recorded_eval(one) for one in self._objects["Evaluations"].values())

    def deployments(self) -> Outline:
        return Counter(_recorded_deployment(one) for one in self._objects["Deployments"].values())

    def jobs(self) -> Outline:
        return Counter(_recorded_job(one) for one in self._objects["Jobs"].values())


def alloc_outline(state: State, *, names: bool) -> Outline:
    return Counter(_alloc(alloc, names=names) for alloc in state.allocs)


def eval_outline(state: State) -> Outline:
    return Counter(_eval(one) for one in state.evals)


def deployment_outline(state: State) -> Outline:
    found: Outline = Counter()
    for one in state.deployments:
        groups = {
            name: {
                wire_name(field): value
                for field in _COUNTERS
                if (value := getattr(group, field)) not in (0, False)
            }
            for name, group in one.task_groups.items()
        }
        found[_text(one.job_id, one.job_version, one.status, one.status_description, groups)] += 1
    return found


def job_outline(state: State) -> Outline:
    found: Outline = Counter()
    for job in state.jobs:
        summary = state.job_summaries[job.key]
        groups = {
            name: {
                wire_name(field): value for field in row.__struct_fields__ if (value := getattr(row, field))
            }
            for name, row in summary.summary.items()
        }
        found[_text(_job_id(job.id), job.status, job.version, job.stable, job.stop, groups)] += 1
    return found


_COUNTERS = (
    "auto_revert",
    "auto_promote",
    "promoted",
    "desired_canaries",
    "desired_total",
    "placed_allocs",
    "healthy_allocs",
    "unhealthy_allocs",
)


def _text(*parts: Any) -> str:
    return " | ".join(str(_sorted(part)) for part in parts)


def _sorted(part: Any) -> Any:
    return {key: _sorted(part[key]) for key in sorted(part)} if isinstance(part, dict) else part


def _job_id(job_id: str) -> str:
    """A job's id without what is the child's own: its time, and what is random."""
    for kind in ("/periodic", "/dispatch"):
        if f"{kind}-" in job_id:
            return job_id.partition(f"{kind}-")[0] + kind
    return job_id


def _recorded_alloc(one: Recording, *, names: bool) -> str:
    tracker = one.get("RescheduleTracker")
    status = one.get("DeploymentStatus") or {}
    flags = {name: True for name, on in (one.get("DesiredTransition") or {}).items() if on}
    return _text(
        one["Name"] if names and "/periodic-" not in one["Name"] else one["TaskGroup"],
        _job_id(one["JobID"]),
        one.get("JobVersion", 0),
        one["DesiredStatus"],
        one.get("DesiredDescription", ""),
        one["ClientStatus"],
        bool(one.get("DeploymentID")),
        status.get("Healthy"),
        status.get("Canary", False),
        bool(one.get("PreviousAllocation")),
        bool(one.get("NextAllocation")),
        bool(one.get("FollowupEvalID")),
        flags,
        [event["Delay"] for event in tracker.get("Events") or ()] if tracker else None,
        tracker.get("LastReschedule") if tracker else None,
        [change["Value"] for change in one.get("AllocStates") or ()],
    )


def _alloc(alloc: Allocation, *, names: bool) -> str:
    tracker, status, flags = alloc.reschedule_tracker, alloc.deployment_status, alloc.desired_transition
    on = {
        wire_name(field): True
        for field in (flags.__struct_fields__ if flags is not None else ())
        if getattr(flags, field)
    }
    return _text(
        alloc.name if names and "/periodic-" not in alloc.name else alloc.task_group,
        _job_id(alloc.job_id),
        alloc.job.version,
        alloc.desired_status,
        alloc.desired_description,
        alloc.client_status,
        bool(alloc.deployment_id),
        status.healthy if status is not None else None,
        status.canary if status is not None else False,
        bool(alloc.previous_allocation),
        bool(alloc.next_allocation),
        bool(alloc.followup_eval_id),
        on,
        [event.delay for event in tracker.events or ()] if tracker is not None else None,
        tracker.last_reschedule if tracker is not None else None,
        [change.value for change in alloc.alloc_states],
    )


def _recorded_eval(one: Recording) -> str:
    annotations = one.get("PlanAnnotations")
    desired = annotations["DesiredTGUpdates"] if annotations is not None else None
    displaced = (annotations.get("PreemptedAllocs") or ()) if annotations is not None else ()
    return _text(
        _job_id(one["JobID"]),
        one["Type"],
        one["TriggeredBy"],
        one["Status"],
        one.get("StatusDescription", ""),
        one["Priority"],
        one.get("QueuedAllocations"),
        {g: {k: v for k, v in counts.items() if v} for g, counts in desired.items()} if desired else {},
        bool(one.get("DeploymentID")),
        bool(one.get("NodeID")),
        bool(one.get("NextEval")),
        bool(one.get("PreviousEval")),
        bool(one.get("BlockedEval")),
        sorted(one.get("FailedTGAllocs") or ()),
        sorted((alloc["JobID"], alloc["DesiredStatus"], alloc["ClientStatus"]) for alloc in displaced),
    )


def _eval(one: Evaluation) -> str:
    annotations = one.plan_annotations
    desired = (annotations.desired_tg_updates or {}) if annotations is not None else {}
    displaced = (annotations.preempted_allocs or ()) if annotations is not None else ()
    return _text(
        _job_id(one.job_id),
        one.type,
        one.triggered_by,
        one.status,
        one.status_description,
        one.priority,
        one.queued_allocations,
        {group: counts_of(counts) for group, counts in desired.items()},
        bool(one.deployment_id),
        bool(one.node_id),
        bool(one.next_eval),
        bool(one.previous_eval),
        bool(one.blocked_eval),
        sorted(one.failed_tg_allocs or ()),
        sorted((alloc.job_id, alloc.desired_status, alloc.client_status) for alloc in displaced),
    )


def counts_of(desired: DesiredUpdates) -> dict[str, int]:
    """The counts of a group that are not zero, by their names in the API."""
    return {wire_name(name): n for name in desired.__struct_fields__ if (n := getattr(desired, name))}


def _recorded_deployment(one: Recording) -> str:
    names = [wire_name(field) for field in _COUNTERS]
    groups = {
        name: {field: group[field] for field in names if group[field] not in (0, False)}
        for name, group in one["TaskGroups"].items()
    }
    return _text(one["JobID"], one["JobVersion"], one["Status"], one["StatusDescription"], groups)


def _recorded_job(one: Recording) -> str:
    groups = {
        name: {field: count for field, count in row.items() if count}
        for name, row in (one.get("Summary") or {}).items()
    }
    return _text(_job_id(one["ID"]), one["Status"], one["Version"], one["Stable"], one["Stop"], groups)
