"""The parts of a job diff."""

from __future__ import annotations

from yurt.model.wire import JobID, Wire

NONE = "None"
ADDED = "Added"
DELETED = "Deleted"
EDITED = "Edited"


class FieldDiff(Wire, frozen=True, kw_only=True):
    """One value, as text."""

    type: str
    name: str
    old: str = ""
    new: str = ""
    annotations: tuple[str, ...] | None = None


class ObjectDiff(Wire, frozen=True, kw_only=True):
    """One block."""

    type: str
    name: str
    fields: tuple[FieldDiff, ...] | None = None
    objects: tuple[ObjectDiff, ...] | None = None


class TaskDiff(Wire, frozen=True, kw_only=True):
    """One task."""

    type: str
    name: str
    fields: tuple[FieldDiff, ...] | None = None
    objects: tuple[ObjectDiff, ...] | None = None
    annotations: tuple[str, ...] | None = None


class TaskGroupDiff(Wire, frozen=True, kw_only=True):
    """One group."""

    type: str
    name: str
    fields: tuple[FieldDiff, ...] | None = None
    objects: tuple[ObjectDiff, ...] | None = None
    tasks: tuple[TaskDiff, ...] | None = None
    updates: dict[str, int] | None = None


class JobDiff(Wire, frozen=True, kw_only=True):
    """A whole job."""

    type: str
    id: JobID
    fields: tuple[FieldDiff, ...] | None = None
    objects: tuple[ObjectDiff, ...] | None = None
    task_groups: tuple[TaskGroupDiff, ...] | None = None


def type_of(old: object | None, new: object | None) -> str:
    """How two versions of a part differ, if at all."""
    if old is None and new is None:
        return NONE
    if old is None:
        return ADDED
    if new is None:
        return DELETED
    return NONE if old == new else EDITED
