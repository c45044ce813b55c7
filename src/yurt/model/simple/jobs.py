"""A simple job as a request of the wire's form."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from yurt.model.decode import BadRequestBody, fold, plan_of
from yurt.model.forms import JobForm
from yurt.model.forms.job import TaskGroupForm
from yurt.model.go_types import Folded
from yurt.model.job import (
    JOB_PRIORITY_MIN,
    JOB_TYPES,
    SERVICE,
)
from yurt.model.resources import MAIN_ADDRESS
from yurt.model.simple.constraints import group_rules, wanted_properties
from yurt.model.simple.fields import BadField, Fields
from yurt.model.simple.spelling import wire_spelling
from yurt.model.simple.tasks import TaskRequest, port_label, task_request

COUNT_MAX = 1 << 31
# No cluster allows more; most allow less, which is checked later.
PRIORITY_MAX = 32766
# What else a job may say, besides what stands in its groups.
_JOB_EXTRAS = frozenset(("name", "datacenters", "node_pool", "meta", "update", "spreads", "affinities"))
_GROUP_MEMBERS = frozenset(("name", "count", "constraints", "tasks"))


def job_request(job: Fields, *, job_id: str, region: str) -> Folded:
    """A simple job as a folded request of the wire. Raises BadField.

    `region` is the one that Yurt's nodes are in. The result still has to be made canonical and checked.
    """
    kind = job.text("type", SERVICE)
    if kind not in JOB_TYPES:
        raise job.bad("type", f'must be one of {", ".join(JOB_TYPES)}, not "{kind}"')
    extras = {key: item for key, item in job.value.items() if key in _JOB_EXTRAS}
    request: dict[str, Any] = {
        **_folded(extras, JobForm, job),
        "ID": job_id,
        "Type": kind,
        "TaskGroups": group_requests(job),
    }
    if job.has("priority"):
        request["Priority"] = job.whole("priority", 0, least=JOB_PRIORITY_MIN, most=PRIORITY_MAX)
    rules = wanted_properties(job.fields_if_any("constraints"), region=region)
    if rules:
        request["Constraints"] = rules
    return request


def group_requests(job: Fields) -> list[Folded]:
    """The groups of a simple job, whose names must differ. Raises BadField."""
    groups = []
    names = set()
    for group in job.each("task_groups"):
        request = group_request(group)
        if request["Name"] in names:
            raise group.bad("name", f'another group is called "{request["Name"]}"; choose another')
        names.add(request["Name"])
        groups.append(request)
    return groups


def group_request(group: Fields) -> Folded:
    """One group of a simple job. Raises BadField."""
    name = group.text("name")
    count = group.whole("count", 1, least=0, most=COUNT_MAX)
    rules = group_rules(group.each_if_any("constraints"))
    tasks = list(_tasks(group))
    extras = {key: item for key, item in group.value.items() if key not in _GROUP_MEMBERS}
    request = {
        **wire_spelling(extras, plan_of(TaskGroupForm)),
        "Name": name,
        "Count": count,
        "Tasks": [task.task for task in tasks],
    }
    if rules:
        request["Constraints"] = rules
    _publish(request, [task.port for task in tasks if task.port])
    return _checked(request, TaskGroupForm, group)


def _tasks(group: Fields) -> Iterable[TaskRequest]:
    names = set()
    for task in group.each("tasks"):
        request = task_request(task)
        name = request.task["Name"]
        if name in names:
            raise task.bad("name", f'another task of this group is called "{name}"; choose another')
        names.add(name)
        yield request


def _publish(group: dict[str, Any], ports: list[int]) -> None:
    """Reserve host ports in the group's network, which may be there already."""
    if not ports:
        return
    networks = group.setdefault("Networks", [{}])
    if type(networks) is not list or not networks or type(networks[0]) is not dict:
        return  # its kind is wrong, which folding says
    first = networks[0]
    known = first.get("ReservedPorts") or []
    labels = {port.get("Label") for port in known if type(port) is dict}
    first["ReservedPorts"] = [
        *known,
        *(
            {"Label": port_label(port), "Value": port, "To": port, "HostNetwork": MAIN_ADDRESS}
            for port in ports
            if port_label(port) not in labels
        ),
    ]


def _folded(value: dict[str, Any], form: type[msgspec.Struct], at: Fields) -> Folded:
    return _checked(wire_spelling(value, plan_of(form)), form, at)


def _checked(value: dict[str, Any], form: type[msgspec.Struct], at: Fields) -> Folded:
    try:
        return fold(value, plan_of(form))
    except BadRequestBody as error:
        raise BadField(at.at, str(error)) from None
