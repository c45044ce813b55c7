"""Differences between two versions of a job."""

from yurt.sdk.wire import Record


class FieldDiff(Record, frozen=True):
    """A changed (or, for context, an unchanged) member; values are texts."""

    type: str = "None"
    name: str = ""
    old: str = ""
    new: str = ""
    annotations: tuple[str, ...] = ()


class ObjectDiff(Record, frozen=True):
    """A changed block."""

    type: str = "None"
    name: str = ""
    fields: tuple[FieldDiff, ...] = ()
    objects: tuple["ObjectDiff", ...] = ()


class TaskDiff(Record, frozen=True):
    """The changes of a task, and what they force."""

    type: str = "None"
    name: str = ""
    fields: tuple[FieldDiff, ...] = ()
    objects: tuple[ObjectDiff, ...] = ()
    annotations: tuple[str, ...] = ()


class GroupDiff(Record, frozen=True):
    """The changes of a group; `updates` counts what happens to its allocations."""

    type: str = "None"
    name: str = ""
    fields: tuple[FieldDiff, ...] = ()
    objects: tuple[ObjectDiff, ...] = ()
    tasks: tuple[TaskDiff, ...] = ()
    updates: dict[str, int] = {}


class JobDiff(Record, frozen=True):
    """The changes of a job."""

    type: str = "None"
    id: str = ""
    fields: tuple[FieldDiff, ...] = ()
    objects: tuple[ObjectDiff, ...] = ()
    task_groups: tuple[GroupDiff, ...] = ()
