"""Explaining: what every node would say to one more instance of a group."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from random import Random

import msgspec
import numpy as np

from yurt.model.group import TaskGroup
from yurt.model.job import Job
from yurt.model.node import Node
from yurt.model.scheduler_configuration import SchedulerConfiguration
from yurt.model.wire import ALL_NODE_POOL, NodeID
from yurt.scheduler.assign.group import Given
from yurt.scheduler.configuration import effective_configuration
from yurt.scheduler.feasible.base import in_datacenters
from yurt.scheduler.feasible.distinct import HOSTS_LABEL
from yurt.scheduler.feasible.targets import resolve
from yurt.scheduler.rank.exhausted import LABELS
from yurt.scheduler.selection import Selection
from yurt.scheduler.view import View


class Verdict(Enum):
    """What a node would say."""

    SUITS = "suits"
    # A rule turns the instance away.
    FILTERED = "filtered"
    # The rules are met, but there is no room.
    EXHAUSTED = "exhausted"
    # The node is no candidate: not ready, or in another pool or datacenter.
    NOT_CONSIDERED = "not considered"


class NodeVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What one node would say, and why.

    `rule` names what turned the instance away; `found` and `wanted` are the values that it compared.
    `scores` are the parts of `score`, for nodes that suit.
    """

    node_id: NodeID
    node_name: str
    verdict: Verdict
    rule: str = ""
    found: str | None = None
    wanted: str | None = None
    scores: dict[str, float] = {}
    score: float = 0.0


def explain_group(
    view: View, job: Job, group: TaskGroup, *, configuration: SchedulerConfiguration
) -> list[NodeVerdict]:
    """Say for every node whether one more instance of a group could go there; the best come first.

    Computed from what the view shows when asked; nothing is kept and the view is not changed.
    """
    verdicts = list(_Explainer(view, job, group, configuration).all())
    order = list(Verdict)
    return sorted(verdicts, key=lambda one: (order.index(one.verdict), -one.score, one.node_name))


class _Explainer:
    """Goes through the checks of one node after the other, in the order in which placing makes them."""

    def __init__(self, view: View, job: Job, group: TaskGroup, configuration: SchedulerConfiguration) -> None:
        self._view = view
        self._job = job
        # Whatever is drawn here is thrown away with the verdicts.
        self._selection = Selection(
            view,
            job,
            group,
            rng=Random(0),
            configuration=effective_configuration(view.state, job, configuration),
        )

    def all(self) -> Iterator[NodeVerdict]:
        ranking = self._selection.ranking
        wishes = self._selection.wishes(None)
        finals = ranking.finals(wishes)
        parts = ranking.parts(np.arange(len(ranking.field.slots)), wishes)
        for slot, node in enumerate(self._view.columns.nodes):
            if node is None:
                continue
            against = self._outside(node) or self._broken_rule(slot, node) or self._distinct(slot, node)
            if against is None:
                position = ranking.field.position(slot)
                against = self._lack(position, slot, node)
                if against is None:
                    against = NodeVerdict(
                        node_id=node.id,
                        node_name=node.name,
                        verdict=Verdict.SUITS,
                        scores=parts[position],
                        score=float(finals[position]),
                    )
            yield against

    def _outside(self, node: Node) -> NodeVerdict | None:
        """Why a node is not in the base set."""
        job = self._job
        if not node.is_ready:
            state = (
                node.status
                if node.status != "ready"
                else "draining"
                if node.drain_strategy is not None
                else node.scheduling_eligibility
            )
            return _against(node, Verdict.NOT_CONSIDERED, "ready", found=state, wanted="ready")
        if job.node_pool not in ("", ALL_NODE_POOL, node.node_pool):
            return _against(
                node, Verdict.NOT_CONSIDERED, "node pool", found=node.node_pool, wanted=job.node_pool
            )
        if not in_datacenters(node.datacenter, job.datacenters):
            wanted = ", ".join(job.datacenters or ())
            return _against(node, Verdict.NOT_CONSIDERED, "datacenter", found=node.datacenter, wanted=wanted)
        return None

    def _broken_rule(self, slot: int, node: Node) -> NodeVerdict | None:
        for rule in self._selection.found.rules:
            if rule.mask[slot]:
                continue
            if rule.constraint is None:
                return _against(node, Verdict.FILTERED, rule.label)
            found = resolve(node, rule.constraint.ltarget)
            wanted = resolve(node, rule.constraint.rtarget)
            return _against(node, Verdict.FILTERED, rule.label, found=found, wanted=wanted)
        return None

    def _distinct(self, slot: int, node: Node) -> NodeVerdict | None:
        hosts = self._selection.hosts
        if hosts.is_asked and (count := hosts.taken().get(slot, 0)):
            return _against(node, Verdict.FILTERED, HOSTS_LABEL, found=str(count), wanted="0")
        for one in self._selection.properties:
            code = int(one.column.codes[slot])
            value = one.column.values[code]
            if value is None or one.used[code] >= one.allowed:
                found = None if value is None else str(int(one.used[code]))
                wanted = f"fewer than {one.allowed}"
                return _against(node, Verdict.FILTERED, one.label(code), found=found, wanted=wanted)
        return None

    def _lack(self, position: int, slot: int, node: Node) -> NodeVerdict | None:
        """What runs out on a node: amounts first, since these tell most, then what must be chosen."""
        field = self._selection.ranking.field
        for dimension, label in LABELS.items():
            if dimension not in field.dimensions:
                continue
            free = int(field.room[dimension][position])
            wanted = field.wanted_on(dimension, position)
            if free < wanted:
                return _against(node, Verdict.EXHAUSTED, label, found=str(free), wanted=str(wanted))
        given = self._selection.assigner.give(slot)
        if not isinstance(given, Given):
            return _against(node, Verdict.EXHAUSTED, given)
        return None


def _against(
    node: Node, verdict: Verdict, rule: str, *, found: str | None = None, wanted: str | None = None
) -> NodeVerdict:
    return NodeVerdict(
        node_id=node.id, node_name=node.name, verdict=verdict, rule=rule, found=found, wanted=wanted
    )
