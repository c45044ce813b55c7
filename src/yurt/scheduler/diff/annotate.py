"""Notes in a job diff: what each change makes the scheduler do."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from yurt.model.plan_annotations import DesiredUpdates
from yurt.scheduler.diff.types import (
    ADDED,
    DELETED,
    EDITED,
    FieldDiff,
    JobDiff,
    TaskDiff,
    TaskGroupDiff,
)

CREATE = "forces create"
DESTROY = "forces destroy"
IN_PLACE = "forces in-place update"
REPLACE = "forces create/destroy update"

_UPDATES = {
    "ignore": "ignore",
    "place": "create",
    "stop": "destroy",
    "migrate": "migrate",
    "canary": "canary",
    "in_place_update": "in-place update",
    "destructive_update": "create/destroy update",
}
# Changes that a running task can take over; the note is a guess, the counts say what happens.
_IN_PLACE_FIELDS = frozenset(("KillTimeout",))
_IN_PLACE_OBJECTS = frozenset(("Service", "Constraint", "Affinity"))


def annotated(diff: JobDiff, desired: Mapping[str, DesiredUpdates]) -> JobDiff:
    """Add to a diff what a dry run found that it leads to."""
    groups = tuple(_annotated_group(group, desired.get(group.name)) for group in diff.task_groups or ())
    return replace(diff, task_groups=groups or None)


def _annotated_group(group: TaskGroupDiff, desired: DesiredUpdates | None) -> TaskGroupDiff:
    updates = None
    if desired is not None:
        updates = {text: n for field, text in _UPDATES.items() if (n := getattr(desired, field))}
    return replace(
        group,
        updates=updates or None,
        fields=tuple(map(_annotated_count, group.fields or ())) or None,
        tasks=tuple(_annotated_task(task, group.type) for task in group.tasks or ()) or None,
    )


def _annotated_count(field: FieldDiff) -> FieldDiff:
    if field.name != "Count":
        return field
    grows = int(field.new or 0) > int(field.old or 0)
    return replace(field, annotations=(CREATE if grows else DESTROY,))


def _annotated_task(task: TaskDiff, group_type: str) -> TaskDiff:
    if task.type == ADDED and group_type == ADDED:
        note = CREATE
    elif task.type == DELETED and group_type == DELETED:
        note = DESTROY
    elif task.type in (ADDED, DELETED):
        note = REPLACE
    elif task.type == EDITED:
        note = IN_PLACE if _is_in_place(task) else REPLACE
    else:
        return task
    return replace(task, annotations=(note,))


def _is_in_place(task: TaskDiff) -> bool:
    fields = {field.name for field in task.fields or ()}
    objects = {one.name for one in task.objects or ()}
    return fields <= _IN_PLACE_FIELDS and objects <= _IN_PLACE_OBJECTS
