"""Allocations that another control plane places on a node of ours."""

from __future__ import annotations

import re

import msgspec
from msgspec.structs import replace

from yurt.model.allocated import (
    AllocatedCpu,
    AllocatedMemory,
    AllocatedPort,
    AllocatedResources,
    AllocatedShared,
    AllocatedTaskResources,
)
from yurt.model.canonical import canonical_job
from yurt.model.client_protocol import ClientAlloc
from yurt.model.group import TaskGroup
from yurt.model.job import BATCH
from yurt.model.multi_error import MultiError
from yurt.model.node import Node
from yurt.model.simple.fields import BadField, Fields
from yurt.model.simple.jobs import job_request
from yurt.model.validate import JobRules, job_errors
from yurt.model.wire import AllocID, EvalID, Nanoseconds

NAME_CHARS_MAX = 128
# Whoever places the work decides what becomes of it when it fails.
NO_RESTARTS = {"attempts": 0, "mode": "fail"}

_RULES = JobRules(count_max=1, namespace_exists=True, node_pool_exists=True, capabilities=None)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class ExternalRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What `POST /allocations` asks for, checked as far as it can be without the node."""

    alloc_id: AllocID
    job_id: str
    group: Fields


def read_allocation(body: Fields) -> ExternalRequest:
    """Read the body of `POST /allocations`. Raises BadField."""
    alloc_id, job_id, group = body.text("allocation_id"), body.text("job_id"), body.fields("task_group")
    if len(alloc_id) > NAME_CHARS_MAX or not _NAME.fullmatch(alloc_id):
        # It becomes the name of a directory.
        text = f"must be letters, digits, dots, dashes and underscores, at most {NAME_CHARS_MAX}"
        raise body.bad("allocation_id", text)
    return ExternalRequest(alloc_id=AllocID(alloc_id), job_id=job_id, group=group)


def external_alloc(asked: ExternalRequest, node: Node, *, now: Nanoseconds) -> ClientAlloc:
    """The allocation that a node runs for another control plane. Raises BadField.

    What nothing is said about is not limited, and failed tasks are not restarted.
    """
    given = dict(asked.group.value)
    if "restart" not in given and "restart_policy" not in given:
        given["restart"] = NO_RESTARTS
    document = Fields({"type": BATCH, "task_groups": [{**given, "count": 1}]})
    try:
        request = job_request(document, job_id=asked.job_id, region="global")
    except BadField as error:
        raise BadField(error.name.replace("task_groups[0]", "task_group"), error.problem) from None
    job = canonical_job(request, region="global", new_id=str)
    (group,) = job.task_groups
    # There is no server of ours that could sign identities for it.
    group = replace(group, tasks=tuple(replace(task, identity=None) for task in group.tasks))
    job = replace(job, task_groups=(group,), create_index=1, modify_index=1, job_modify_index=1)
    problems: MultiError | None = job_errors(job, _RULES)
    if problems is not None:
        raise BadField("task_group", " ".join(str(problems).split()))
    return ClientAlloc(
        id=asked.alloc_id,
        name=f"{job.id}.{group.name}[0]",
        namespace=job.namespace,
        node_id=node.id,
        eval_id=EvalID(""),
        job=job,
        task_group=group.name,
        resources=_given(group, node),
        desired_status="run",
        create_time=now,
    )


def _given(group: TaskGroup, node: Node) -> AllocatedResources:
    ip_address = node.attributes.get("unique.network.ip-address", "")
    ports = tuple(
        AllocatedPort(label=port.label, value=port.value, to=port.to, host_ip=ip_address)
        for network in group.networks or ()
        for port in network.reserved_ports or ()
    )
    networks = tuple(replace(network, ip=ip_address) for network in group.networks or ())
    tasks = {
        task.name: AllocatedTaskResources(
            cpu=AllocatedCpu(cpu_shares=task.resources.cpu),
            memory=AllocatedMemory(memory_mb=task.resources.memory_mb),
        )
        for task in group.tasks
    }
    shared = AllocatedShared(
        disk_mb=group.ephemeral_disk.size_mb, ports=ports or None, networks=networks or None
    )
    return AllocatedResources(
        tasks=tasks, task_lifecycles={task.name: task.lifecycle for task in group.tasks}, shared=shared
    )
