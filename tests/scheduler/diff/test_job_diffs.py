"""A diff names each change, block by block."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from yurt.model.group import TaskGroup
from yurt.model.job import Job
from yurt.model.placement_rules import Constraint, Spread
from yurt.model.plan_annotations import DesiredUpdates
from yurt.model.policies import ScalingPolicy
from yurt.model.resources import NetworkResource, Port
from yurt.model.service import Service, ServiceCheck
from yurt.model.task import Task
from yurt.model.task_parts import RestartPolicy, Template
from yurt.model.wire import JobID
from yurt.scheduler.diff.annotate import annotated
from yurt.scheduler.diff.job_diff import job_diff
from yurt.scheduler.diff.types import JobDiff, ObjectDiff, TaskDiff, TaskGroupDiff

TASK = Task(name="t", driver="docker", config={"image": "web:1", "args": ["-v", "-x"], "labels": {"a": "1"}})
GROUP = TaskGroup(name="g", tasks=(TASK,))
JOB = Job(
    id=JobID("j"), name="j", datacenters=("dc1", "dc2"), task_groups=(GROUP,), meta={"a": "1", "b": "2"}
)


def with_group(**changes: Any) -> Job:
    return replace(JOB, task_groups=(replace(GROUP, **changes),))


def with_task(**changes: Any) -> Job:
    return with_group(tasks=(replace(TASK, **changes),))


def group_of(diff: JobDiff) -> TaskGroupDiff:
    assert diff.task_groups is not None
    return diff.task_groups[0]


def task_of(diff: JobDiff) -> TaskDiff:
    tasks = group_of(diff).tasks
    assert tasks is not None
    return tasks[0]


def told(part: JobDiff | TaskGroupDiff | TaskDiff | ObjectDiff) -> list[tuple[str, str, str, str]]:
    """The changed members of a part."""
    return [(f.type, f.name, f.old, f.new) for f in part.fields or () if f.type != "None"]


def blocks(part: JobDiff | TaskGroupDiff | TaskDiff | ObjectDiff) -> list[tuple[str, str]]:
    return [(one.type, one.name) for one in part.objects or ()]


def test_the_same_job_differs_in_nothing() -> None:
    diff = job_diff(JOB, replace(JOB, version=3, modify_index=9, status="running"))
    assert (diff.type, diff.fields, diff.objects) == ("None", None, None)
    assert group_of(diff).type == "None"
    assert task_of(diff).type == "None"


def test_entries_of_maps_are_members() -> None:
    diff = job_diff(JOB, replace(JOB, meta={"a": "2", "c": "3"}))
    assert told(diff) == [
        ("Edited", "Meta[a]", "1", "2"),
        ("Deleted", "Meta[b]", "2", ""),
        ("Added", "Meta[c]", "", "3"),
    ]


def test_lists_of_texts_are_sets() -> None:
    (datacenters,) = job_diff(JOB, replace(JOB, datacenters=("dc2", "dc3"))).objects or ()
    assert (datacenters.type, datacenters.name) == ("Edited", "Datacenters")
    assert [(f.type, f.old, f.new) for f in datacenters.fields or ()] == [
        ("Added", "", "dc3"),
        ("Deleted", "dc1", ""),
        ("None", "dc2", "dc2"),
    ]


def test_a_changed_rule_is_one_more_and_one_less() -> None:
    old = replace(JOB, constraints=(Constraint(ltarget="${attr.a}", operand="=", rtarget="1"),))
    new = replace(JOB, constraints=(Constraint(ltarget="${attr.a}", operand="=", rtarget="2"),))
    assert blocks(job_diff(old, new)) == [("Added", "Constraint"), ("Deleted", "Constraint")]


def test_driver_configuration_is_told_flat() -> None:
    config = {"image": "web:2", "args": ["-v"], "labels": {"a": "2"}}
    (block,) = task_of(job_diff(JOB, with_task(config=config))).objects or ()
    assert block.name == "Config"
    assert told(block) == [
        ("Deleted", "args[1]", "-x", ""),
        ("Edited", "image", "web:1", "web:2"),
        ("Edited", "labels[a]", "1", "2"),
    ]


def test_named_blocks_are_edited() -> None:
    old = with_group(services=(Service(name="web", tags=("a",), checks=(ServiceCheck(name="c", path="/"),)),))
    new = with_group(
        services=(Service(name="web", tags=("b",), checks=(ServiceCheck(name="c", path="/x"),)),)
    )
    (service,) = group_of(job_diff(old, new)).objects or ()
    assert (service.type, service.name) == ("Edited", "Service")
    assert sorted(blocks(service)) == [("Edited", "Check"), ("Edited", "Tags")]


def test_templates_are_known_by_their_destination() -> None:
    old = with_task(templates=(Template(dest_path="local/a", embedded_tmpl="1"),))
    new = with_task(templates=(Template(dest_path="local/a", embedded_tmpl="2"),))
    (template,) = task_of(job_diff(old, new)).objects or ()
    assert (template.type, told(template)) == ("Edited", [("Edited", "EmbeddedTmpl", "1", "2")])


def test_ports_are_blocks_of_their_network() -> None:
    new = with_group(networks=(NetworkResource(mode="host", dynamic_ports=(Port(label="http"),)),))
    (network,) = group_of(job_diff(JOB, new)).objects or ()
    assert (network.type, network.name) == ("Added", "Network")
    assert blocks(network) == [("Added", "Dynamic Port")]


def test_spreads_change_a_job_without_a_word() -> None:
    diff = job_diff(JOB, replace(JOB, spreads=(Spread(attribute="${node.datacenter}"),)))
    assert (diff.type, diff.fields, diff.objects) == ("Edited", None, None)


def test_an_inherited_restart_policy_marks_tasks_without_a_word() -> None:
    policy = RestartPolicy(attempts=9)
    new = with_group(restart_policy=policy, tasks=(replace(TASK, restart_policy=policy),))
    diff = annotated(job_diff(JOB, new), {})
    task = task_of(diff)
    assert (task.type, task.fields, task.objects) == ("Edited", None, None)
    assert task.annotations == ("forces in-place update",)
    assert blocks(group_of(diff)) == [("Edited", "RestartPolicy")]


@pytest.mark.parametrize(
    ("changes", "note"),
    [
        ({"kill_timeout": 7}, "forces in-place update"),
        ({"constraints": (Constraint(operand="="),)}, "forces in-place update"),
        ({"leader": True}, "forces create/destroy update"),
        ({"env": {"A": "b"}}, "forces create/destroy update"),
    ],
)
def test_notes_guess_what_a_change_of_a_task_forces(changes: dict[str, Any], note: str) -> None:
    diff = annotated(job_diff(JOB, with_task(**changes)), {})
    assert task_of(diff).annotations == (note,)


def test_counts_of_a_dry_run_are_noted_with_their_group() -> None:
    desired = {"g": DesiredUpdates(place=2, in_place_update=3)}
    diff = annotated(job_diff(JOB, with_group(count=5)), desired)
    group = group_of(diff)
    assert group.updates == {"create": 2, "in-place update": 3}
    assert [(f.name, f.annotations) for f in group.fields or ()] == [("Count", ("forces create",))]


def test_a_scaling_block_shows_its_limits() -> None:
    diff = job_diff(JOB, with_group(scaling=ScalingPolicy(min=1, max=3)))
    assert blocks(group_of(diff)) == [("Added", "Scaling")]
