"""A job of the model as a simple job, whichever dialect it was made in.

What a view shows can be sent back as an update: nothing that differs from the defaults is left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import msgspec

from yurt.model.canonical import canonical_job
from yurt.model.group import TaskGroup
from yurt.model.job import Job
from yurt.model.placement_rules import Constraint
from yurt.model.push_nodes import DECLARED_AS
from yurt.model.simple.constraints import group_constraints, properties_of
from yurt.model.simple.fields import Fields
from yurt.model.simple.jobs import job_request
from yurt.model.simple.spelling import snake_case
from yurt.model.simple.tasks import PROCESS_DRIVER, WRITTEN_KEY, is_plain, port_label, written
from yurt.model.task import Task

_GROUP_MEMBERS = frozenset(("name", "count", "constraints", "tasks", "networks"))
_TASK_MEMBERS = frozenset(("name", "driver", "config", "resources", "meta"))
_AMOUNTS = frozenset(("cpu", "memory_mb"))


def constraints_view(job: Job) -> dict[str, str]:
    """The properties that a job wants of its nodes."""
    return properties_of(job.constraints or ())


def groups_view(job: Job) -> list[dict[str, Any]]:
    """The groups of a job; rules about nodes that only groups can say here stand in each of them."""
    rules = [rule for rule in job.constraints or () if rule.operand != DECLARED_AS]
    return [_group(group, job, rules) for group in job.task_groups]


def _group(group: TaskGroup, job: Job, job_rules: Iterable[Constraint]) -> dict[str, Any]:
    usual = _usual_group(job.type)
    view: dict[str, Any] = {"name": group.name, "count": group.count}
    rules = group_constraints((*job_rules, *(group.constraints or ())))
    if rules:
        view["constraints"] = rules
    view["tasks"] = [_task(task, group, usual) for task in group.tasks]
    networks = _own_networks(group)
    return view | _extras(group, usual, _GROUP_MEMBERS) | ({"networks": networks} if networks else {})


def _task(task: Task, group: TaskGroup, usual_group: TaskGroup) -> dict[str, Any]:
    said = written(task, group)
    said_plainly = is_plain(task, group)
    usual = usual_group.tasks[0 if said_plainly and task.driver == PROCESS_DRIVER else 1]
    amounts = {
        name: item
        for name, item in _extras(task.resources, usual.resources, _AMOUNTS).items()
        if item != getattr(usual.resources, name)
    }
    view: dict[str, Any] = {"name": task.name, "resources": {**said.resources, **amounts}}
    if said_plainly:
        view["config"] = said.config
    else:
        view |= {"driver": task.driver, "config": task.config or {}}
    meta = {key: value for key, value in (task.meta or {}).items() if key != WRITTEN_KEY}
    extras = _extras(task, usual, _TASK_MEMBERS)
    if task.restart_policy == group.restart_policy:
        extras.pop("restart_policy", None)
    return view | ({"meta": meta} if meta else {}) | extras


def _own_networks(group: TaskGroup) -> list[dict[str, Any]]:
    """The group's networks, unless they are just the ports that its containers publish."""
    networks = group.networks or ()
    published = {
        port_label(said["port"])
        for task in group.tasks
        if "port" in (said := written(task, group).config) and is_plain(task, group)
    }
    if len(networks) == 1 and published:
        (network,) = networks
        ports = {port.label for port in network.reserved_ports or ()}
        bare = msgspec.structs.replace(network, reserved_ports=None)
        if ports == published and bare == type(network)():
            return []
    return [snake_case(network) for network in networks]


def _extras(part: msgspec.Struct, usual: msgspec.Struct, shown: frozenset[str]) -> dict[str, Any]:
    """The members that are not shown elsewhere, and not what they are when nothing is said."""
    return {
        name: snake_case(value)
        for name in part.__struct_fields__
        if name not in shown and (value := getattr(part, name)) is not None and value != getattr(usual, name)
    }


@cache
def _usual_group(kind: str) -> TaskGroup:
    """A group of a process and a container, about which nothing is said."""
    tasks = [{"name": "p", "config": {"command": "x"}}, {"name": "c", "config": {"image": "x"}}]
    plain = {"type": kind, "task_groups": [{"name": "g", "tasks": tasks}]}
    request = job_request(Fields(plain), job_id="j", region="global")
    return canonical_job(request, region="global", new_id=str).task_groups[0]
