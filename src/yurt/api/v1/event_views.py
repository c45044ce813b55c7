"""Events as the stream shows them: what an entry changed, by topic."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from yurt.api.v1.acl_events import ACL_EVENT_TYPES, ACL_TOPICS
from yurt.api.v1.alloc_views import alloc_view
from yurt.api.v1.host_volumes import volume_view
from yurt.api.v1.node_views import node_view
from yurt.model.job import JOB_DEAD, JOB_PENDING
from yurt.model.variable import metadata_of
from yurt.model.wire import Wire
from yurt.state.journal import Change, Changed

# What a change is called; kinds of entry that are not here make no events.
EVENT_TYPES: Mapping[str, str] = {
    "RegisterNode": "NodeRegistration",
    "DeregisterNodes": "NodeDeregistration",
    "SetNodeStatus": "NodeStreamEvent",
    "SetNodeEligibility": "NodeEligibility",
    "SetNodeDrain": "NodeDrain",
    "UpsertNodePools": "NodePoolUpserted",
    "DeleteNodePools": "NodePoolDeleted",
    "RegisterJob": "JobRegistered",
    "DeregisterJob": "JobDeregistered",
    "UpsertEvals": "EvaluationUpdated",
    "CommitPlan": "PlanResult",
    "ReportAllocs": "AllocationUpdated",
    "SetDesiredTransitions": "AllocationUpdateDesiredStatus",
    "SetDeploymentStatus": "DeploymentStatusUpdate",
    "PromoteDeployment": "DeploymentPromotion",
    "SetAllocHealth": "DeploymentAllocHealth",
    "UpsertServices": "ServiceRegistration",
    "DeleteServices": "ServiceDeregistration",
    "PutVariable": "VariableUpdated",
    "DeleteVariable": "VariableUpdated",
    "UpsertHostVolume": "HostVolumeRegistered",
    "DeleteHostVolume": "HostVolumeDeleted",
    "LockVariable": "VariableUpdated",
    "UnlockVariable": "VariableUpdated",
    **ACL_EVENT_TYPES,
}


class Event(Wire, frozen=True, kw_only=True):
    """Something that changed."""

    topic: str
    type: str
    key: str
    namespace: str
    filter_keys: tuple[str, ...] | None
    index: int
    payload: dict[str, Any]


def events_of(changed: Changed) -> Iterator[Event]:
    """The events of one entry."""
    kind = EVENT_TYPES.get(changed.kind)
    if kind is None:
        return
    for table, (topic, describe) in _TOPICS.items():
        for change in changed.tables.get(table, {}).values():
            described = describe(change)
            if described is None:
                continue
            key, namespace, filter_keys, payload = described
            yield Event(
                topic=topic,
                type=kind,
                key=key,
                namespace=namespace,
                filter_keys=filter_keys,
                index=changed.index,
                payload=payload,
            )


_Described = tuple[str, str, tuple[str, ...] | None, dict[str, Any]] | None


def _job(change: Change) -> _Described:
    job = change.row
    if job.stop and job.status == JOB_PENDING:
        # The evaluation that a stop brings along only makes sure of it, so the stop is told as done.
        job = replace(job, status=JOB_DEAD)
    return job.id, job.namespace, None, {"Job": job, "Deleted": change.is_deleted}


def _evaluation(change: Change) -> _Described:
    if change.is_deleted:
        return None
    one = change.row
    return one.id, one.namespace, (one.job_id, one.deployment_id), {"Evaluation": one}


def _allocation(change: Change) -> _Described:
    if change.is_deleted:
        return None
    alloc = change.row
    payload = {"Allocation": alloc_view(alloc, with_job=False), "Timeout": False, "TimeoutReason": ""}
    return alloc.id, alloc.namespace, (alloc.job_id, alloc.deployment_id), payload


def _deployment(change: Change) -> _Described:
    if change.is_deleted:
        return None
    one = change.row
    return one.id, one.namespace, (one.job_id,), {"Deployment": one}


def _service(change: Change) -> _Described:
    one = change.row
    return one.id, one.namespace, (one.job_id, one.service_name), {"Service": one}


def _node(change: Change) -> _Described:
    return change.row.id, "", None, {"Node": node_view(change.row)}


def _variable(change: Change) -> _Described:
    # Neither items nor locks: an event reaches everybody who may know that the variable is there.
    one = change.row
    payload = {"Metadata": metadata_of(one, with_lock=False), "Deleted": change.is_deleted}
    return one.path, one.namespace, None, payload


def _node_pool(change: Change) -> _Described:
    return change.row.name, "", None, {"NodePool": change.row}


def _host_volume(change: Change) -> _Described:
    one = change.row
    # Nomad names no key when a volume is gone.
    key = "" if change.is_deleted else one.id
    return key, one.namespace, (one.id, one.name, one.plugin_id), {"Volume": volume_view(one, None)}


_TOPICS: Mapping[str, tuple[str, Callable[[Change], _Described]]] = {
    "jobs": ("Job", _job),
    "evals": ("Evaluation", _evaluation),
    "allocs": ("Allocation", _allocation),
    "deployments": ("Deployment", _deployment),
    "services": ("Service", _service),
    "nodes": ("Node", _node),
    "node-pools": ("NodePool", _node_pool),
    "variables": ("Variable", _variable),
    "host-volumes": ("HostVolume", _host_volume),
    **ACL_TOPICS,
}
