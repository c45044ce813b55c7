"""The difference between two versions of a job."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from msgspec.structs import replace

from yurt.model.group import TaskGroup
from yurt.model.job import Job
from yurt.model.task import Task
from yurt.scheduler.diff.fields import field_diffs, texts_of
from yurt.scheduler.diff.objects import map_diff, nested_diffs
from yurt.scheduler.diff.types import NONE, JobDiff, ObjectDiff, TaskDiff, TaskGroupDiff, type_of

# What servers keep about a job; no user asked for it.
_NOT_SUBMITTED = (
    "id",
    "status",
    "status_description",
    "version",
    "stable",
    "create_index",
    "modify_index",
    "job_modify_index",
    "submit_time",
    "nomad_token_id",
    "update",
    "version_tag",
)
_JOB_ORDER = (
    "datacenters",
    "constraints",
    "affinities",
    "periodic",
    "parameterized_job",
    "multiregion",
    "ui",
)
_GROUP_ORDER = (
    "constraints",
    "affinities",
    "restart_policy",
    "migrate",
    "reschedule_policy",
    "disconnect",
    "ephemeral_disk",
    "update",
    "networks",
    "services",
    "scaling",
    "consul",
    "volumes",
)
_TASK_ORDER_BEFORE_CONFIG = ("constraints", "affinities")
_TASK_ORDER = (
    "resources",
    "log_config",
    "dispatch_payload",
    "artifacts",
    "vault",
    "consul",
    "secrets",
    "templates",
    "identity",
    "identities",
    "actions",
    "schedule",
    "services",
    "volume_mounts",
    "csi_plugin_config",
)
_T = TypeVar("_T", TaskGroup, Task)


def job_diff(old: Job | None, new: Job) -> JobDiff:
    """Say how `new` differs from what is stored, if anything is."""
    fields = field_diffs(
        texts_of(old, skip=_NOT_SUBMITTED), texts_of(new, skip=_NOT_SUBMITTED), with_unchanged=False
    )
    objects = nested_diffs(old, new, order=_JOB_ORDER, skip=(*_NOT_SUBMITTED, "task_groups", "spreads"))
    groups = tuple(
        _group_diff(before, after)
        for before, after in _paired(old.task_groups if old is not None else (), new.task_groups)
    )
    is_same = old is not None and _submitted(old) == _submitted(new)
    return JobDiff(
        type=NONE if is_same else type_of(old, new),
        id=new.id,
        fields=fields or None,
        objects=objects or None,
        task_groups=groups or None,
    )


def _submitted(job: Job) -> Job:
    """A job without what servers keep about it."""
    empty = Job()
    return replace(job, **{name: getattr(empty, name) for name in _NOT_SUBMITTED if name != "id"})


def _paired(old: Sequence[_T], new: Sequence[_T]) -> Iterable[tuple[_T | None, _T | None]]:
    """The same parts of two versions, by their names, in the order of these."""
    before, after = {one.name: one for one in old}, {one.name: one for one in new}
    return [(before.get(name), after.get(name)) for name in sorted({**before, **after})]


def _group_diff(old: TaskGroup | None, new: TaskGroup | None) -> TaskGroupDiff:
    some = new if new is not None else old
    assert some is not None, "a pair has a member"
    skip = ("name", "tasks", "spreads")
    fields = field_diffs(texts_of(old, skip=skip), texts_of(new, skip=skip), with_unchanged=False)
    objects = nested_diffs(old, new, order=_GROUP_ORDER, skip=skip)
    tasks = tuple(
        _task_diff(before, after)
        for before, after in _paired(
            old.tasks if old is not None else (), new.tasks if new is not None else ()
        )
    )
    return TaskGroupDiff(
        type=type_of(old, new),
        name=some.name,
        fields=fields or None,
        objects=objects or None,
        tasks=tasks or None,
    )


def _task_diff(old: Task | None, new: Task | None) -> TaskDiff:
    some = new if new is not None else old
    assert some is not None, "a pair has a member"
    # Restart policies are told with the group, and lifecycles not at all, as in Nomad.
    skip = ("name", "config", "restart_policy", "lifecycle", "scaling_policies")
    fields = field_diffs(texts_of(old, skip=skip), texts_of(new, skip=skip), with_unchanged=False)
    config = map_diff(
        "Config", old.config if old is not None else None, new.config if new is not None else None
    )
    own = (*skip, *_TASK_ORDER, *_TASK_ORDER_BEFORE_CONFIG)
    rest = [field for field in some.__struct_fields__ if field not in own]
    first = nested_diffs(old, new, order=_TASK_ORDER_BEFORE_CONFIG, skip=(*skip, *_TASK_ORDER, *rest))
    others = nested_diffs(old, new, order=_TASK_ORDER, skip=(*skip, *_TASK_ORDER_BEFORE_CONFIG))
    objects: tuple[ObjectDiff, ...] = (*first, *((config,) if config is not None else ()), *others)
    return TaskDiff(type=type_of(old, new), name=some.name, fields=fields or None, objects=objects or None)
