"""Searching inside jobs: groups, tasks, services, images and commands."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from yurt.model.group import TaskGroup
from yurt.model.job import Job
from yurt.model.task import Task
from yurt.model.wire import Wire

# The option of a driver's configuration that says what it runs, and what such a find is called.
_RUNS = {
    "docker": ("image", "images"),
    "exec": ("command", "commands"),
    "raw_exec": ("command", "commands"),
    "java": ("class", "classes"),
}


class FuzzyMatch(Wire, frozen=True, kw_only=True):
    """Something found by a part of its name, and where it is."""

    id: str
    scope: tuple[str, ...] | None = None


class Hit(NamedTuple):
    """A find, with the place of the text in its name."""

    at: int
    name: str
    scope: tuple[str, ...] | None


def position(name: str, text: str) -> int:
    """Where `text`, in lower case, is in a name; -1 if it is not."""
    return name.lower().find(text)


def best_first(hits: Iterable[Hit]) -> list[FuzzyMatch]:
    """Finds with the text near the beginning come first, then short names."""
    ordered = sorted(hits, key=lambda hit: (hit.at, len(hit.name), hit.name))
    return [FuzzyMatch(id=hit.name, scope=hit.scope) for hit in ordered]


def job_hits(jobs: Iterable[Job], text: str) -> dict[str, list[Hit]]:
    """What is found in jobs, by kind; kinds without a find are left out."""
    found: dict[str, list[Hit]] = {}

    def look(kind: str, name: str, scope: tuple[str, ...]) -> None:
        at = position(name, text)
        if at >= 0:
            found.setdefault(kind, []).append(Hit(at, name, scope))

    for job in jobs:
        own = (job.namespace, job.id)
        look("jobs", job.name, own)
        for group in job.task_groups:
            look("groups", group.name, own)
            for kind, name, scope in _group_names(group, own):
                look(kind, name, scope)
    return found


def _group_names(group: TaskGroup, own: tuple[str, ...]) -> Iterable[tuple[str, str, tuple[str, ...]]]:
    in_group = (*own, group.name)
    for service in group.services or ():
        yield "services", service.name, in_group
    for task in group.tasks:
        yield "tasks", task.name, in_group
        in_task = (*in_group, task.name)
        for service in task.services or ():
            yield "services", service.name, in_task
        yield from ((kind, name, in_task) for kind, name in _what_runs(task))


def _what_runs(task: Task) -> Iterable[tuple[str, str]]:
    option, kind = _RUNS.get(task.driver, ("", ""))
    value = (task.config or {}).get(option)
    if isinstance(value, str):
        yield kind, value
