"""A placer: scores all nodes for one group and places its instances one by one or in bulk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

import numpy as np
from numpy.typing import NDArray

from yurt.model.alloc import Allocation
from yurt.model.alloc_metric import SCORES_KEPT_MAX, AllocMetric, NodeScore
from yurt.model.allocated import AllocatedResources
from yurt.model.group import TaskGroup
from yurt.model.job import Job
from yurt.model.scheduler_configuration import SchedulerConfiguration
from yurt.model.wire import NodeID
from yurt.scheduler.ask import Ask, ask_of
from yurt.scheduler.assign.group import Assigner, Given
from yurt.scheduler.configuration import effective_configuration
from yurt.scheduler.feasible import volumes
from yurt.scheduler.feasible.distinct import HOSTS_LABEL, DistinctHosts, DistinctProperty, distinct_properties
from yurt.scheduler.feasible.group import Feasibility, feasibility
from yurt.scheduler.metrics import Tally, alloc_metric, encode_metric
from yurt.scheduler.preempt import find_victims, may_preempt, preemption_score
from yurt.scheduler.rank.algorithms import algorithm_for
from yurt.scheduler.rank.candidates import Field, Floats
from yurt.scheduler.rank.cores_cpu import cpu_with_cores
from yurt.scheduler.rank.exhausted import count_exhausted
from yurt.scheduler.rank.pick_many import pick_many
from yurt.scheduler.rank.pick_spread import pick_spread
from yurt.scheduler.rank.ranking import NOWHERE, Ranking, Wish, keys
from yurt.scheduler.rank.spread import NAME as SPREAD_NAME
from yurt.scheduler.rank.spread import spreads_of
from yurt.scheduler.requests import Placed, PlaceRequest
from yurt.scheduler.view import View
from yurt.state.use import CPU

PENALTY_NAME = "node-reschedule-penalty"
DEVICES_NAME = "devices"
PREEMPTION_NAME = "preemption"

# Instances get metrics of their own up to this many, and up to this many nodes scored for them in
# all; instances of larger groups share one, since working them out would take longer than placing.
OWN_METRICS_INSTANCES_MAX = 64
OWN_METRICS_SCORES_MAX = 20_000

# Nodes compared when room must be made: enough to choose from, and few enough to search.
PREEMPTION_OPTIONS_MAX = 64


class Placer:
    """Places the instances of one group on any nodes they may run on."""

    def __init__(
        self,
        view: View,
        job: Job,
        group: TaskGroup,
        *,
        rng: Random,
        configuration: SchedulerConfiguration,
        classes_seen: bool = False,
    ) -> None:
        configuration = effective_configuration(view.state, job, configuration)
        self._view = view
        self._job = job
        self._group = group
        self._rng = rng
        self._job_seen = classes_seen
        self._group_seen = False
        self._may_preempt = may_preempt(configuration.preemption_config, job.type)
        self.ask: Ask = ask_of(group, oversubscribe=configuration.memory_oversubscription_enabled)
        self._assigner = Assigner(view, self.ask, rng)
        self.found: Feasibility = feasibility(view.columns, job, group)
        self.hosts: DistinctHosts = DistinctHosts(view, job, group)
        self.properties: list[DistinctProperty] = list(distinct_properties(view, job, group))
        slots = self.found.slots
        if self.hosts.is_asked and (taken := self.hosts.taken()):
            slots = slots[~np.isin(slots, np.fromiter(taken, dtype=np.intp))]
        field = Field(view, job, group, self.ask, slots)
        if self.ask.cores:
            field.wanted[CPU] = cpu_with_cores(view, self.ask, slots)
        algorithm = algorithm_for(configuration.scheduler_algorithm, job.type)
        self.ranking: Ranking = Ranking(field, algorithm, algorithm.columns, rng.getrandbits(32))
        self._spreads = spreads_of(view, job, group, slots)
        # Positions that had room but could not be assigned ports, devices or cores, with the reason.
        self._refused: dict[int, str] = {}
        # Positions where nobody can be displaced.
        self._hopeless: set[int] = set()
        self._device_scores: Floats | None = self._score_devices()
        # No node has room any more: what is left can only be placed where others are displaced.
        self._is_full = False

    def place(self, requests: Sequence[PlaceRequest]) -> list[Placed]:
        """Place requests in their order, until the first that finds no node."""
        placed: list[Placed] = []
        at = 0
        while at < len(requests):
            run = self._bulk_length(requests, at)
            if run:
                got = self._place_many(requests[at : at + run])
            else:
                one = self._place_one(requests[at])
                got = [one] if one is not None else []
            placed += got
            at += len(got)
            if len(got) < run and self._may_preempt:
                self._is_full = True
            elif len(got) < max(run, 1):
                break
        return placed

    def explain_failure(self) -> AllocMetric:
        """Why a further instance would find no node."""
        return alloc_metric(self._job, self.found.base, self._tally())

    def _bulk_length(self, requests: Sequence[PlaceRequest], start: int) -> int:
        """How many requests from `start` on are alike, if there are enough to be placed in one go."""
        run = 0
        for request in requests[start:]:
            if request.penalty_nodes or request.preferred_node is not None:
                break
            run += 1
        if self._is_full:
            return 0
        nodes = len(self.ranking.field.slots)
        if run <= OWN_METRICS_INSTANCES_MAX and run * nodes <= OWN_METRICS_SCORES_MAX:
            return 0
        if volumes.volumes_per_alloc(self._group):
            return 0
        if not self.ask.is_plain and not self._has_only_ample_ports(run):
            return 0
        return run

    def _has_only_ample_ports(self, instances: int) -> bool:
        ask = self.ask
        if ask.task_networks or ask.cores or ask.devices or self._refused:
            return False
        return self._assigner.has_ample_ports(self.ranking.field.slots, instances)

    def _place_many(self, requests: Sequence[PlaceRequest]) -> list[Placed]:
        """Place alike requests in bulk; they share one metric, that of the first."""
        ranking, field = self.ranking, self.ranking.field
        wishes = self.wishes(None)
        metrics = encode_metric(self._metric(ranking.finals(wishes), wishes))
        per_node_max = 1 if self.hosts.is_asked else None
        if self._spreads or self.properties:
            picks = pick_spread(
                ranking,
                len(requests),
                spreads=self._spreads,
                properties=self.properties,
                per_node_max=per_node_max,
                rng=self._rng,
            )
        else:
            picks = pick_many(ranking, len(requests), per_node_max=per_node_max)
        slots = field.slots[np.asarray(picks, dtype=np.intp)]
        node_ids = self._view.columns.node_ids
        key, group = self._job.key, self._group.name
        if self.ask.is_plain:
            resources = self.ask.resources
            self._view.place_each(key, group, slots, resources)
            placed = [
                Placed(request=request, node_id=node_ids[slot], resources=resources, metrics=metrics)
                for request, slot in zip(requests, slots.tolist(), strict=False)
            ]
        else:
            placed = list(self._assign_each(requests, slots.tolist(), metrics))
        touched = np.unique(np.asarray(picks, dtype=np.intp))
        ranking.look_again(touched)
        if self.hosts.is_asked:
            ranking.fits[touched] = False
        self._job_seen = self._group_seen = True
        return placed

    def _assign_each(
        self, requests: Sequence[PlaceRequest], slots: Sequence[int], metrics: bytes
    ) -> Iterator[Placed]:
        for request, slot in zip(requests, slots, strict=False):
            given = self._assigner.give(slot)
            assert isinstance(given, Given), f"ample ports ran out: {given}"
            self._view.place(self._job.key, self._group.name, slot, given.resources)
            yield Placed(
                request=request,
                node_id=self._node_id(slot),
                resources=given.resources,
                metrics=metrics,
            )

    def _place_one(self, request: PlaceRequest) -> Placed | None:
        """Place one request on the best node; where none has room, on one that can be given room."""
        within = self._nodes_for(request)
        preferred = self._preferred(request)
        placed: Placed | None = None
        if preferred is not None and (within is None or within[preferred]):
            only = np.zeros(len(self.ranking.field.slots), dtype=np.bool_)
            only[preferred] = True
            placed = self._select(request, only)
        if placed is None:
            placed = self._select(request, within)
        if placed is None and self._may_preempt:
            placed = self._select_with_preemption(request, within)
        return placed

    def _select(self, request: PlaceRequest, within: NDArray[np.bool_] | None) -> Placed | None:
        ranking = self.ranking
        wishes = self.wishes(request)
        finals = ranking.finals(wishes)
        allowed = ranking.fits if within is None else ranking.fits & within
        allowed = self._without_full_properties(allowed)
        order = keys(finals, allowed, ranking.ties)
        while len(order):
            position = int(order.argmax())
            if order[position] == NOWHERE:
                break
            slot = int(ranking.field.slots[position])
            given = self._assigner.give(slot)
            if isinstance(given, Given):
                metrics = encode_metric(self._metric(finals, wishes, order))
                self._enter(position, given.resources)
                return Placed(
                    request=request,
                    node_id=self._node_id(slot),
                    resources=given.resources,
                    metrics=metrics,
                )
            self._refuse(position, given)
            order[position] = NOWHERE
        return None

    def _select_with_preemption(
        self, request: PlaceRequest, within: NDArray[np.bool_] | None
    ) -> Placed | None:
        ranking = self.ranking
        options = self._preemption_options(within)
        if not options:
            return None
        size = len(ranking.field.slots)
        values, counted = np.zeros(size), np.zeros(size, dtype=np.bool_)
        for position, victims in options.items():
            if victims:
                values[position], counted[position] = preemption_score(victims), True
        wishes = [*self.wishes(request), Wish(PREEMPTION_NAME, values, counted)]
        finals = ranking.finals(wishes)
        fits = np.zeros(size, dtype=np.bool_)
        fits[list(options)] = True
        order = keys(finals, fits, ranking.ties)
        for position in sorted(options, key=lambda position: -float(order[position])):
            victims = options[position]
            for victim in victims:
                self._view.preempt(victim)
            slot = int(ranking.field.slots[position])
            given = self._assigner.give(slot)
            if isinstance(given, Given):
                metrics = encode_metric(self._metric(finals, wishes, order))
                self._enter(position, given.resources)
                return Placed(
                    request=request,
                    node_id=self._node_id(slot),
                    resources=given.resources,
                    metrics=metrics,
                    preempted=tuple(victim.id for victim in victims),
                )
            for victim in victims:
                self._view.unpreempt(victim)
        return None

    def _preemption_options(self, within: NDArray[np.bool_] | None) -> dict[int, list[Allocation]]:
        """Victims for some of the nodes that have no room, by position."""
        field = self.ranking.field
        allowed = np.ones(len(field.slots), dtype=np.bool_) if within is None else within
        allowed = self._without_full_properties(allowed)
        if self.hosts.is_asked:
            allowed = allowed & (field.column_of(self.hosts.taken()) == 0)
        options: dict[int, list[Allocation]] = {}
        positions = np.flatnonzero(allowed)
        for position in positions[np.argsort(self.ranking.ties[positions])].tolist():
            if position in self._hopeless:
                continue
            cpu_mhz = int(np.broadcast_to(field.wanted[CPU], field.slots.shape)[position])
            victims = find_victims(self._view, int(field.slots[position]), self._job, self.ask, cpu_mhz)
            if victims is None:
                self._hopeless.add(position)
                continue
            options[position] = victims
            if len(options) == PREEMPTION_OPTIONS_MAX:
                break
        return options

    def _enter(self, position: int, resources: AllocatedResources) -> None:
        """Show a placement in the view, and score its node again."""
        ranking, field = self.ranking, self.ranking.field
        slot = int(field.slots[position])
        self._view.place(self._job.key, self._group.name, slot, resources)
        self._refused.pop(position, None)
        if self.ask.cores:
            field.set_wanted(CPU, position, int(cpu_with_cores(self._view, self.ask, np.asarray([slot]))[0]))
        ranking.look_again(np.asarray([position]))
        if self.hosts.is_asked:
            ranking.fits[position] = False
        for spread in self._spreads:
            spread.place(int(spread.index[position]))
        for one in self.properties:
            one.used[one.column.codes[slot]] += 1
        if self._device_scores is not None:
            self._device_scores[position] = self._device_score(position)
        self._job_seen = self._group_seen = True

    def _refuse(self, position: int, reason: str) -> None:
        self._refused[position] = reason
        self.ranking.fits[position] = False

    def wishes(self, request: PlaceRequest | None) -> list[Wish]:
        """What the job itself asks of the score."""
        size = len(self.ranking.field.slots)
        wishes: list[Wish] = []
        if request is not None and request.penalty_nodes:
            penalty = np.zeros(size)
            for slot in map(self._view.columns.slots.get, request.penalty_nodes):
                position = -1 if slot is None else self.ranking.field.position(slot)
                if position >= 0:
                    penalty[position] = -1.0
            wishes.append(Wish(PENALTY_NAME, penalty, penalty != 0.0))
        if self._device_scores is not None:
            wishes.append(Wish(DEVICES_NAME, self._device_scores, np.ones(size, dtype=np.bool_)))
        if self._spreads:
            total = np.zeros(size)
            for spread in self._spreads:
                total += spread.boosts[spread.index]
            wishes.append(Wish(SPREAD_NAME, total, total != 0.0))
        return wishes

    def _score_devices(self) -> Floats | None:
        if not any(request.affinities for _, request in self.ask.devices):
            return None
        return np.asarray(
            [self._device_score(position) for position in range(len(self.ranking.field.slots))],
            dtype=np.float64,
        )

    def _device_score(self, position: int) -> float:
        given = self._assigner.give(int(self.ranking.field.slots[position]))
        return (given.device_score or 0.0) if isinstance(given, Given) else 0.0

    def _nodes_for(self, request: PlaceRequest) -> NDArray[np.bool_] | None:
        """Mask of the positions that have the request's own volumes; None if all may be used."""
        if not volumes.volumes_per_alloc(self._group):
            return None
        mask = volumes.nodes_with_volumes(self._view.columns, self._group, request.name_index)
        return None if mask is None else np.asarray(mask[self.ranking.field.slots])

    def _preferred(self, request: PlaceRequest) -> int | None:
        if request.preferred_node is None:
            return None
        slot = self._view.columns.slots.get(request.preferred_node)
        position = -1 if slot is None else self.ranking.field.position(slot)
        return position if position >= 0 else None

    def _without_full_properties(self, allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        slots = self.ranking.field.slots
        for one in self.properties:
            allowed = allowed & ~(one.missing() | one.full())[slots]
        return allowed

    def _metric(self, finals: Floats, wishes: list[Wish], order: Floats | None = None) -> AllocMetric:
        ranking = self.ranking
        if order is None:
            order = keys(finals, self._without_full_properties(ranking.fits), ranking.ties)
        return alloc_metric(
            self._job, self.found.base, self._tally(), self._best_scores(finals, wishes, order)
        )

    def _best_scores(self, finals: Floats, wishes: list[Wish], order: Floats) -> tuple[NodeScore, ...]:
        best = _best(order, SCORES_KEPT_MAX)
        parts = self.ranking.parts(best, wishes)
        slots = self.ranking.field.slots[best].tolist()
        return tuple(
            NodeScore(
                node_id=self._node_id(slot),
                scores={PENALTY_NAME: 0.0, **part},
                norm_score=float(finals[position]),
            )
            for slot, part, position in zip(slots, parts, best.tolist(), strict=True)
        )

    def _tally(self) -> Tally:
        """What happens to all nodes as things are now."""
        found, field = self.found, self.ranking.field
        filtered = found.filtered(job_seen=self._job_seen, group_seen=self._group_seen)
        tally = Tally(
            evaluated=found.base.nodes,
            filtered=filtered.nodes,
            class_filtered=dict(filtered.node_classes),
            constraint_filtered=dict(filtered.labels),
        )
        turned_away = np.zeros(len(field.slots), dtype=np.bool_)
        if self.hosts.is_asked:
            slots = [slot for slot in self.hosts.taken() if found.mask[slot]]
            self._count_filtered(tally, HOSTS_LABEL, np.asarray(slots, dtype=np.intp))
            turned_away |= field.column_of(self.hosts.taken()) > 0
        for one in self.properties:
            closed = (one.missing() | one.full())[field.slots] & ~turned_away
            for code in np.unique(one.column.codes[field.slots[closed]]).tolist():
                here = field.slots[closed & (one.column.codes[field.slots] == code)]
                self._count_filtered(tally, one.label(code), here)
            turned_away |= closed
        full = np.flatnonzero(~self.ranking.fits & ~turned_away)
        if len(full):
            count_exhausted(tally, field, full, self._refused)
        return tally

    def _count_filtered(self, tally: Tally, label: str, slots: NDArray[np.intp]) -> None:
        if not len(slots):
            return
        tally.filter(label, len(slots))
        classes = self._view.columns.node_classes
        for code, count in enumerate(np.bincount(classes.column[slots]).tolist()):
            if code and count:
                name = classes.texts[code]
                tally.class_filtered[name] = tally.class_filtered.get(name, 0) + count

    def _node_id(self, slot: int) -> NodeID:
        node_id = self._view.columns.node_ids[slot]
        assert node_id is not None, f"slot {slot} has no node"
        return node_id


def _best(order: Floats, count: int) -> NDArray[np.intp]:
    """The positions with the highest keys, best first. For few this is faster than partitioning."""
    order = order.copy()
    best: list[int] = []
    while len(best) < min(count, len(order)):
        position = int(order.argmax())
        if order[position] == NOWHERE:
            break
        best.append(position)
        order[position] = NOWHERE
    return np.asarray(best, dtype=np.intp)
