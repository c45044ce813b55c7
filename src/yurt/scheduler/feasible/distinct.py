"""Distinct hosts and properties: rules about where a job's other allocations are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from yurt.model.group import TaskGroup
from yurt.model.job import Job
from yurt.scheduler.feasible.targets import TargetColumn, target_column
from yurt.scheduler.operands import DISTINCT_HOSTS, DISTINCT_PROPERTY, parse_bool
from yurt.scheduler.view import View

HOSTS_LABEL = "distinct_hosts"
DISTINCT_COUNT_DEFAULT = 1


class DistinctHosts:
    """At most one allocation of a job, or of a group, on each node."""

    def __init__(self, view: View, job: Job, group: TaskGroup) -> None:
        self.of_job = any(_is_on(rule.operand, rule.rtarget) for rule in job.constraints or ())
        self.of_group = any(_is_on(rule.operand, rule.rtarget) for rule in group.constraints or ())
        self._view, self._job, self._group = view, job, group

    @property
    def is_asked(self) -> bool:
        """Whether the rule is in force at all."""
        return self.of_job or self.of_group

    def taken(self) -> Mapping[int, int]:
        """The slots where an allocation is in the way."""
        places = self._view.places(self._job)
        return places.held_any() if self.of_job else places.held(self._group.name)


class DistinctProperty:
    """At most so many allocations of a job, or of a group, on nodes with one value of a property."""

    def __init__(self, view: View, target: str, allowed: int, counts: Mapping[int, int]) -> None:
        self.target = target
        self.allowed = allowed
        self.column: TargetColumn = target_column(view.columns, target)
        self.used: NDArray[np.int64] = np.zeros(len(self.column.values), dtype=np.int64)
        codes = self.column.codes
        for slot, count in counts.items():
            self.used[codes[slot]] += count

    def missing(self) -> NDArray[np.bool_]:
        """Mask of the nodes that lack the property."""
        absent = self.column.numbers.get(None, -1)
        return np.asarray(self.column.codes == absent)

    def full(self) -> NDArray[np.bool_]:
        """Mask of the nodes whose value is used often enough."""
        return np.asarray((self.used >= self.allowed)[self.column.codes])

    def label(self, code: int) -> str:
        """Name the rule as placement metrics do, for nodes with the value `code`."""
        value = self.column.values[code]
        if value is None:
            return f'missing property "{self.target}"'
        return f"distinct_property: {self.target}={value} used by {int(self.used[code])} allocs"


def distinct_properties(view: View, job: Job, group: TaskGroup) -> Iterator[DistinctProperty]:
    """The distinct properties of a job and its group, with the counts as they are now."""
    for rule in job.constraints or ():
        if rule.operand == DISTINCT_PROPERTY:
            counts = view.places(job).live_any()
            yield DistinctProperty(view, rule.ltarget, _allowed(rule.rtarget), counts)
    for rule in (*(group.constraints or ()), *(r for task in group.tasks for r in task.constraints or ())):
        if rule.operand == DISTINCT_PROPERTY:
            counts = view.places(job).live(group.name)
            yield DistinctProperty(view, rule.ltarget, _allowed(rule.rtarget), counts)


def _is_on(operand: str, value: str) -> bool:
    return operand == DISTINCT_HOSTS and parse_bool(value) is not False


def _allowed(text: str) -> int:
    return int(text) if text.isdecimal() and int(text) else DISTINCT_COUNT_DEFAULT
