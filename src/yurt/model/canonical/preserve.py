"""Registrations that keep what operators or autoscalers have set since."""

from __future__ import annotations

from msgspec.structs import replace

from yurt.model.group import TaskGroup
from yurt.model.job import Job


def preserve(job: Job, existing: Job, *, counts: bool = False, resources: bool = False) -> Job:
    """Take over the `counts` of groups, or the `resources` of tasks, that `existing` has too."""
    groups = []
    for group in job.task_groups:
        known = existing.group(group.name)
        if known is not None and counts:
            group = replace(group, count=known.count)  # noqa: PLW2901 - the same group, with its old count
        groups.append(_with_resources(group, known) if known is not None and resources else group)
    return replace(job, task_groups=tuple(groups))


def _with_resources(group: TaskGroup, known: TaskGroup) -> TaskGroup:
    tasks = []
    for task in group.tasks:
        same = known.task(task.name)
        tasks.append(task if same is None else replace(task, resources=same.resources))
    return replace(group, tasks=tuple(tasks))
