"""Placing on given nodes: system jobs, whose instances each have their own."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
from numpy.typing import NDArray

from yurt.model.alloc import Allocation
from yurt.model.alloc_metric import AllocMetric, NodeScore
from yurt.model.group import TaskGroup
from yurt.model.job import Job
from yurt.model.scheduler_configuration import SchedulerConfiguration
from yurt.model.wire import NodeID
from yurt.scheduler.ask import ask_of
from yurt.scheduler.assign.group import Assigner, Given
from yurt.scheduler.configuration import effective_configuration
from yurt.scheduler.feasible import volumes
from yurt.scheduler.feasible.distinct import distinct_properties
from yurt.scheduler.feasible.group import feasibility
from yurt.scheduler.metrics import Tally, alloc_metric, encode_metric, failure_metric
from yurt.scheduler.preempt import find_victims, may_preempt
from yurt.scheduler.rank.algorithms import algorithm_for
from yurt.scheduler.rank.candidates import Field
from yurt.scheduler.rank.cores_cpu import cpu_with_cores
from yurt.scheduler.rank.exhausted import count_exhausted
from yurt.scheduler.rank.ranking import Ranking
from yurt.scheduler.requests import Placed, PlacedGroup, PlaceRequest
from yurt.scheduler.view import View
from yurt.state.use import CPU

# Up to so many instances get metrics with their own node's score; those of more share one without.
OWN_METRICS_INSTANCES_MAX = 64


def place_on_required_nodes(
    view: View,
    job: Job,
    group: TaskGroup,
    requests: Sequence[PlaceRequest],
    *,
    rng: Random,
    configuration: SchedulerConfiguration,
) -> PlacedGroup:
    """Place each request on its `required_node`, displacing others where the configuration lets it."""
    placer = _SystemPlacer(view, job, group, rng=rng, configuration=configuration)
    feasible, filtered = placer.sort_out(requests)
    placed: list[Placed] = []
    exhausted: list[PlaceRequest] = []
    first_failure: AllocMetric | None = None
    own_metrics = len(feasible) <= OWN_METRICS_INSTANCES_MAX
    if not own_metrics:
        placed, feasible = placer.place_many(feasible)
    for request in feasible:
        outcome = placer.place(request, own_metrics=own_metrics)
        if isinstance(outcome, Placed):
            placed.append(outcome)
        else:
            exhausted.append(request)
            first_failure = first_failure or outcome
    return PlacedGroup(
        placed=tuple(placed),
        failure=failure_metric(first_failure, group, len(exhausted)) if first_failure is not None else None,
        class_eligibility={} if placer.found.escapes else placer.found.class_eligibility(),
        escaped=placer.found.escapes,
        missing=placer.found.missing_volumes if filtered else (),
        filtered=tuple(filtered),
        filtered_metrics=placer.explain_filtered(filtered) if filtered else None,
        exhausted=tuple(exhausted),
    )


class _SystemPlacer:
    """Places instances of one group on one node each."""

    def __init__(
        self, view: View, job: Job, group: TaskGroup, *, rng: Random, configuration: SchedulerConfiguration
    ) -> None:
        configuration = effective_configuration(view.state, job, configuration)
        self._view = view
        self._job = job
        self._group = group
        self._may_preempt = may_preempt(configuration.preemption_config, job.type)
        self._delta_min = configuration.preemption_config.priority_delta_min
        self._ask = ask_of(group, oversubscribe=configuration.memory_oversubscription_enabled)
        self._assigner = Assigner(view, self._ask, rng)
        self.found = feasibility(view.columns, job, group)
        self._properties = list(distinct_properties(view, job, group))
        self._field = Field(view, job, group, self._ask, self.found.slots)
        if self._ask.cores:
            self._field.wanted[CPU] = cpu_with_cores(view, self._ask, self.found.slots)
        algorithm = algorithm_for(configuration.scheduler_algorithm, job.type)
        self._ranking = Ranking(self._field, algorithm, algorithm.columns[:1], 0)
        self._shared_metrics = encode_metric(self._metric(Tally(evaluated=1), ()))

    def sort_out(self, requests: Sequence[PlaceRequest]) -> tuple[list[PlaceRequest], list[PlaceRequest]]:
        """Tell requests whose nodes the rules allow from those whose nodes they turn away."""
        feasible: list[PlaceRequest] = []
        filtered: list[PlaceRequest] = []
        for request in requests:
            slot = self._slot(request)
            (feasible if slot is not None and self._is_allowed(request, slot) else filtered).append(request)
        return feasible, filtered

    def place_many(self, requests: Sequence[PlaceRequest]) -> tuple[list[Placed], list[PlaceRequest]]:
        """Place the requests that simply fit, all at once; the others are left to be placed one by one."""
        slots = [slot for request in requests if (slot := self._slot(request)) is not None]
        if not self._ask.is_plain or self._properties or len(set(slots)) < len(slots):
            return [], list(requests)
        at = np.searchsorted(self._field.slots, np.asarray(slots, dtype=np.intp))
        replaced = [request.replaces for request in requests if request.replaces is not None]
        for alloc in replaced:
            self._view.stop(alloc)
        if replaced:
            self._ranking.look_again(at)
        fits = self._ranking.fits[at].tolist()
        resources, metrics = self._ask.resources, self._shared_metrics
        placed: list[Placed] = []
        left: list[PlaceRequest] = []
        for request, fit in zip(requests, fits, strict=True):
            if fit:
                assert request.required_node is not None, "its slot was found"
                placed.append(
                    Placed(
                        request=request, node_id=request.required_node, resources=resources, metrics=metrics
                    )
                )
            else:
                left.append(request)
                if request.replaces is not None:
                    self._view.unstop(request.replaces)
        filled = np.asarray(slots, dtype=np.intp)[np.asarray(fits, dtype=np.bool_)]
        self._view.place_each(self._job.key, self._group.name, filled, resources)
        self._ranking.look_again(at)
        return placed, left

    def place(self, request: PlaceRequest, *, own_metrics: bool) -> Placed | AllocMetric:
        """Place a request on its node, or say what runs out there."""
        if request.replaces is not None:
            self._view.stop(request.replaces)
        slot = self._slot(request)
        assert slot is not None, "only requests with feasible nodes are placed"
        position = self._field.position(slot)
        at = np.asarray([position])
        if request.replaces is not None:
            self._ranking.look_again(at)
        victims: list[Allocation] = []
        given: Given | str | None = None
        if self._ranking.fits[position]:
            given = self._assigner.give(slot)
        if not isinstance(given, Given) and self._may_preempt:
            found = find_victims(
                self._view,
                slot,
                self._job,
                self._ask,
                self._field.wanted_on(CPU, position),
                delta_min=self._delta_min,
            )
            victims = found or []
            for victim in victims:
                self._view.preempt(victim)
            if found is not None:
                given = self._assigner.give(slot)
        if not isinstance(given, Given):
            for victim in victims:
                self._view.unpreempt(victim)
            if request.replaces is not None:
                self._view.unstop(request.replaces)
            return self._explain_exhausted(at, given)
        metrics = self._own_metrics(at) if own_metrics else self._shared_metrics
        self._view.place(self._job.key, self._group.name, slot, given.resources)
        self._ranking.look_again(at)
        for one in self._properties:
            one.used[one.column.codes[slot]] += 1
        return Placed(
            request=request,
            node_id=self._node_id(slot),
            resources=given.resources,
            metrics=metrics,
            preempted=tuple(victim.id for victim in victims),
        )

    def explain_filtered(self, requests: Sequence[PlaceRequest]) -> AllocMetric:
        """The rules that turned nodes away, summed over the nodes of `requests`."""
        slots = [slot for request in requests if (slot := self._slot(request)) is not None]
        at = np.asarray(slots, dtype=np.intp)
        tally = Tally(evaluated=len(slots))
        for label, nodes in self.found.labels_at(at).items():
            tally.filter(label, nodes)
        for slot in at[self.found.mask[at]].tolist():
            tally.filter(self._broken_property(slot) or volumes.LABEL, 1)
        classes = self._view.columns.node_classes
        for code, count in enumerate(np.bincount(classes.column[at]).tolist()):
            if code and count:
                tally.class_filtered[classes.texts[code]] = count
        return alloc_metric(self._job, None, tally, pool="")

    def _is_allowed(self, request: PlaceRequest, slot: int) -> bool:
        if not self.found.mask[slot] or self._broken_property(slot):
            return False
        if not volumes.volumes_per_alloc(self._group):
            return True
        mask = volumes.nodes_with_volumes(
            self._view.columns, self._job.namespace, self._group, request.name_index
        )
        return mask is None or bool(mask[slot])

    def _broken_property(self, slot: int) -> str:
        for one in self._properties:
            code = int(one.column.codes[slot])
            if one.column.values[code] is None or one.used[code] >= one.allowed:
                return one.label(code)
        return ""

    def _explain_exhausted(self, at: NDArray[np.intp], refusal: str | None) -> AllocMetric:
        tally = Tally(evaluated=1)
        given = refusal or self._assigner.give(int(self._field.slots[at[0]]))
        count_exhausted(tally, self._field, at, {int(at[0]): given} if isinstance(given, str) else {})
        return alloc_metric(self._job, self.found.base, tally)

    def _own_metrics(self, at: NDArray[np.intp]) -> bytes:
        (parts,) = self._ranking.parts(at, [])
        score = NodeScore(
            node_id=self._node_id(int(self._field.slots[at[0]])),
            scores=parts,
            norm_score=float(self._ranking.sums[at[0]] / self._ranking.weights[at[0]]),
        )
        return encode_metric(self._metric(Tally(evaluated=1), (score,)))

    def _metric(self, tally: Tally, scores: tuple[NodeScore, ...]) -> AllocMetric:
        # Nomad leaves the pool out of a system job's successes, and only there.
        return alloc_metric(self._job, self.found.base, tally, scores, pool="")

    def _slot(self, request: PlaceRequest) -> int | None:
        assert request.required_node is not None, "instances of system jobs have their own nodes"
        return self._view.columns.slots.get(request.required_node)

    def _node_id(self, slot: int) -> NodeID:
        node_id = self._view.columns.node_ids[slot]
        assert node_id is not None, f"slot {slot} has no node"
        return node_id
