"""All rules of a group about nodes, taken together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from yurt.model.group import TaskGroup
from yurt.model.job import Job
from yurt.model.placement_rules import Constraint
from yurt.model.push_nodes import suits_push_nodes
from yurt.scheduler.feasible import devices, drivers, networks, push_nodes, secrets, volumes
from yurt.scheduler.feasible.base import BaseSet, base_set
from yurt.scheduler.feasible.constraints import escapes, holds_on, is_distinct, label
from yurt.state.columns import NodeColumns

CLASS_LABEL = "computed class ineligible"

NO_CLASSES: frozenset[int] = frozenset()


class Level(Enum):
    """Where a rule was written, which decides how its verdicts are reported."""

    JOB = "job"
    GROUP = "group"
    # About one node at a time: never a verdict on its class.
    NODE = "node"


class Rule(NamedTuple):
    """One rule about nodes: its label in placement metrics and the nodes that meet it.

    With `by_class` nodes of one computed class cannot differ about it. `constraint` is what was
    written, if it was a constraint.
    """

    label: str
    mask: NDArray[np.bool_]
    level: Level
    by_class: bool
    constraint: Constraint | None = None


class Filtered(NamedTuple):
    """Nodes of the base set that rules turned away, by label and by node class."""

    nodes: int
    labels: dict[str, int]
    node_classes: dict[str, int]


class Feasibility:
    """Which nodes of the base set a group may run on, as far as that is about the nodes alone.

    Nothing here depends on allocations, so one object serves every job with the same rules until
    nodes change.
    """

    def __init__(self, columns: NodeColumns, job: Job, group: TaskGroup) -> None:
        self._columns = columns
        self.base: BaseSet = base_set(columns, job)
        self.job_escapes = any(map(escapes, job.constraints or ()))
        self.group_escapes = any(map(escapes, group_constraints(group))) or any(volumes.csi_volumes(group))
        self.missing_volumes = tuple(
            f"csi-volume:{job.namespace}:{request.source}" for request in volumes.csi_volumes(group)
        )
        self.rules: tuple[Rule, ...] = tuple(_rules(columns, job, group))
        mask = self.base.mask
        for rule in self.rules:
            mask = mask & rule.mask
        self.mask: NDArray[np.bool_] = mask
        self.slots: NDArray[np.intp] = np.flatnonzero(mask)
        self._filtered: dict[tuple[bool, bool, frozenset[int]], Filtered] = {}

    @property
    def escapes(self) -> bool:
        """Whether nodes of one computed class may differ about the job or the group."""
        return self.job_escapes or self.group_escapes

    def filtered(self, *, job_seen: bool, group_seen: bool, seen: frozenset[int] = NO_CLASSES) -> Filtered:
        """Count the nodes that rules turned away.

        A class of nodes is turned away by a rule once, and later just for its class: within one pass
        over the nodes, and in later passes of the same attempt (`job_seen`, `group_seen`). `seen` are
        the codes of single classes that were turned away before in the attempt.
        """
        key = (job_seen, group_seen, seen)
        known = self._filtered.get(key)
        if known is None:
            known = self._filtered[key] = self._count(job_seen, group_seen, seen)
        return known

    def turned_away_class(self, slot: int) -> int | None:
        """The code of a node's class if it is known from now on that rules turn it away."""
        for rule in self.rules:
            if not rule.mask[slot]:
                escapes = self.job_escapes if rule.level is Level.JOB else self.group_escapes
                if rule.level is Level.NODE or escapes:
                    return None
                return int(self._columns.computed_classes.column[slot])
        return None

    def labels_at(self, slots: NDArray[np.intp]) -> dict[str, int]:
        """Count the rules that some slots break, the first of each, without regard to classes."""
        labels: dict[str, int] = {}
        left = slots
        for rule in self.rules:
            met = rule.mask[left]
            broken = len(left) - int(np.count_nonzero(met))
            if broken:
                labels[rule.label] = labels.get(rule.label, 0) + broken
                left = left[met]
        return labels

    def class_eligibility(self) -> dict[str, bool]:
        """Whether each computed class met the rules; classes that failed for other reasons are left out."""
        size = self._columns.size
        classes = self._columns.computed_classes
        codes = classes.column[:size]
        passed = self.base.mask
        by_class = self.base.mask
        for rule in self.rules:
            if rule.level is not Level.NODE:
                passed = passed & rule.mask
                if rule.by_class:
                    by_class = by_class & rule.mask
        eligible = np.bincount(codes[passed], minlength=len(classes.texts)) > 0
        undecided = np.bincount(codes[by_class], minlength=len(classes.texts)) > 0
        present = np.bincount(codes[self.base.mask], minlength=len(classes.texts)) > 0
        return {
            classes.texts[code]: bool(eligible[code])
            for code in np.flatnonzero(present & (eligible | ~undecided)).tolist()
        }

    def _count(self, job_seen: bool, group_seen: bool, seen: frozenset[int]) -> Filtered:
        columns = self._columns
        left = self.base.mask
        labels: dict[str, int] = {}
        for rule in self.rules:
            failed = left & ~rule.mask
            count = int(np.count_nonzero(failed))
            if not count:
                continue
            left = left & rule.mask
            named = self._named(rule, failed, job_seen=job_seen, group_seen=group_seen, seen=seen)
            if named:
                labels[rule.label] = labels.get(rule.label, 0) + named
            if count > named:
                labels[CLASS_LABEL] = labels.get(CLASS_LABEL, 0) + count - named
        turned_away = self.base.mask & ~left
        node_classes = columns.node_classes
        counts = np.bincount(node_classes.column[: columns.size][turned_away]).tolist()
        by_class = {node_classes.texts[code]: count for code, count in enumerate(counts) if code and count}
        return Filtered(int(np.count_nonzero(turned_away)), labels, by_class)

    def _named(
        self,
        rule: Rule,
        failed: NDArray[np.bool_],
        *,
        job_seen: bool,
        group_seen: bool,
        seen: frozenset[int],
    ) -> int:
        """How many of the failed nodes are reported with the rule's own label."""
        count = int(np.count_nonzero(failed))
        if rule.level is Level.NODE:
            return count
        is_job = rule.level is Level.JOB
        if self.job_escapes if is_job else self.group_escapes:
            return count
        if job_seen if is_job else group_seen:
            return 0
        codes = self._columns.computed_classes.column[: self._columns.size][failed]
        classes = np.bincount(codes)
        return int(np.count_nonzero(classes)) - sum(
            code < len(classes) and bool(classes[code]) for code in seen
        )


def feasibility(columns: NodeColumns, job: Job, group: TaskGroup) -> Feasibility:
    """The rules of a group, judged; kept until nodes or their readiness change."""
    network = group.networks[0] if group.networks else None
    key = (
        "feasible",
        job.namespace if group.volumes else "",
        job.node_pool,
        job.datacenters,
        job.constraints,
        tuple(group_constraints(group)),
        tuple(task.driver for task in group.tasks),
        tuple(devices.requested_devices(group)),
        None if network is None else (network.mode, tuple(networks.named_host_networks(network))),
        tuple(secrets.secret_providers(group)),
        tuple((group.volumes or {}).values()),
        suits_push_nodes(group),
    )
    known: Feasibility | None = columns.ready_memo.get(key)
    if known is None:
        known = Feasibility(columns, job, group)
        columns.keep_ready(key, known)
    return known


def group_constraints(group: TaskGroup) -> Sequence[Constraint]:
    """The constraints of a group, followed by those of its tasks."""
    return (*(group.constraints or ()), *(rule for task in group.tasks for rule in task.constraints or ()))


def _rules(columns: NodeColumns, job: Job, group: TaskGroup) -> Iterator[Rule]:
    """The rules in the order in which a node is checked."""
    for rule in job.constraints or ():
        if not is_distinct(rule):
            yield Rule(label(rule), holds_on(columns, rule), Level.JOB, True, rule)
    of_a_kind = push_nodes.nodes_for(columns, group)
    if of_a_kind is not None:
        yield Rule(push_nodes.LABEL, of_a_kind, Level.GROUP, True)
    for driver in sorted({task.driver for task in group.tasks}):
        yield Rule(drivers.LABEL, drivers.nodes_with_driver(columns, driver), Level.GROUP, False)
    for rule in group_constraints(group):
        if not is_distinct(rule):
            yield Rule(label(rule), holds_on(columns, rule), Level.GROUP, True, rule)
    with_devices = devices.nodes_with_devices(columns, group)
    if with_devices is not None:
        yield Rule(devices.LABEL, with_devices, Level.GROUP, False)
    for text, mask in networks.network_rules(columns, group):
        yield Rule(text, mask, Level.GROUP, False)
    for provider in secrets.secret_providers(group):
        yield Rule(secrets.LABEL, secrets.nodes_with_provider(columns, provider), Level.GROUP, True)
    if not volumes.volumes_per_alloc(group):
        with_volumes = volumes.nodes_with_volumes(columns, job.namespace, group, 0)
        if with_volumes is not None:
            yield Rule(volumes.LABEL, with_volumes, Level.NODE, False)
    for request in volumes.csi_volumes(group):
        nobody = np.zeros(columns.size, dtype=np.bool_)
        yield Rule(f"missing CSI Volume {request.source}", nobody, Level.NODE, False)
