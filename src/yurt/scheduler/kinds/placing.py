"""Placing what reconciling asks for: nodes for instances, in the form of a plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random

from msgspec.structs import replace

from yurt.model.alloc import (
    CLIENT_FAILED,
    Allocation,
    RescheduleTracker,
)
from yurt.model.alloc_metric import AllocMetric
from yurt.model.evaluation import Evaluation
from yurt.model.group import TaskGroup
from yurt.model.job import Job
from yurt.model.plan import Placements, Preemption, UpdateAlloc
from yurt.model.wire import Nanoseconds, NodeID
from yurt.scheduler.kinds.endings import Unplaced
from yurt.scheduler.kinds.good_version import Target
from yurt.scheduler.kinds.placements import new_placements
from yurt.scheduler.metrics import failure_metric
from yurt.scheduler.place import place_group
from yurt.scheduler.reconcile.alloc_facts import RESCHEDULE_NO_PLACEMENT
from yurt.scheduler.reconcile.changes import Place, Stop
from yurt.scheduler.reconcile.reschedule_delay import replacement_tracker
from yurt.scheduler.requests import PlacedGroup, PlaceRequest
from yurt.scheduler.view import View


class GroupPlacer:
    """Places instances of the groups of one job, and keeps what comes of it for the plan.

    `limit` is how many may be placed in all; what is beyond is counted in `left_over`, unless its
    group has failed already. `turned_away` are classes of nodes, by code, that rules were found to turn
    away before, by group.
    """

    def __init__(
        self,
        view: View,
        evaluation: Evaluation,
        *,
        limit: int,
        now: Nanoseconds,
        rng: Random,
        new_id: Callable[[], str],
        turned_away: Mapping[str, frozenset[int]],
    ) -> None:
        self._turned_away = turned_away
        self._view = view
        self._evaluation = evaluation
        self._limit = limit
        self._now = now
        self._rng = rng
        self._new_id = new_id
        self._configuration = view.state.scheduler_configuration
        self._classes_seen = False
        self.placements: list[Placements] = []
        self.stops: list[Stop] = []
        self.updates: list[UpdateAlloc] = []
        self.preemptions: list[Preemption] = []
        self.preempted_of: dict[str, int] = {}
        self.placed_of: dict[str, int] = {}
        self.left_over = 0
        self._failed: dict[str, AllocMetric] = {}
        self._failures: dict[str, int] = {}
        self._class_eligibility: dict[str, bool] = {}
        self._escaped = False
        self._missing: tuple[str, ...] = ()
        self._quota = ""
        self._lacks_nodes = False

    def place(self, places: Sequence[Place], group: TaskGroup, target: Target) -> None:
        """Place instances of one group, all of the same job version."""
        if not places:
            return
        if group.name in self._failed:
            self._coalesce(group, len(places))
            return
        taken, beyond = places[: self._limit], places[self._limit :]
        if taken:
            requests = [self._request(place, group, target.job) for place in taken]
            outcome = place_group(
                self._view,
                target.job,
                group,
                requests,
                rng=self._rng,
                configuration=self._configuration,
                classes_seen=self._classes_seen or self._turned_away.get(group.name, False),
            )
            self._classes_seen = True
            self._limit -= len(outcome.placed)
            self._take(dict(zip(map(id, requests), taken, strict=True)), outcome, group, target)
        if group.name in self._failed:
            self._coalesce(group, len(beyond))
        else:
            self.left_over += len(beyond)

    @property
    def unplaced(self) -> Unplaced:
        """What found no node."""
        return Unplaced(
            failed=self._failed,
            class_eligibility=self._class_eligibility,
            escaped=self._escaped,
            missing=self._missing,
            quota="" if self._lacks_nodes else self._quota,
        )

    def _request(self, place: Place, group: TaskGroup, job: Job) -> PlaceRequest:
        previous = place.previous
        if previous is None:
            return PlaceRequest(name_index=place.name_index, is_canary=place.is_canary)
        return PlaceRequest(
            name_index=place.name_index,
            previous=previous,
            replaces=place.stop.alloc if place.stop is not None else None,
            penalty_nodes=_penalty_nodes(previous),
            preferred_node=self._preferred_node(previous, group, job),
            is_canary=place.is_canary,
        )

    def _preferred_node(self, previous: Allocation, group: TaskGroup, job: Job) -> NodeID | None:
        """The node that holds the data of a sticky disk."""
        disk, old = group.ephemeral_disk, previous.job
        if not (disk.sticky or disk.migrate):
            return None
        if (old.node_pool, old.datacenters) != (job.node_pool, job.datacenters):
            return None
        node = self._view.state.nodes.get(previous.node_id)
        return node.id if node is not None and node.is_ready else None

    def _take(self, places: dict[int, Place], outcome: PlacedGroup, group: TaskGroup, target: Target) -> None:
        answered = {id(placed.request): places.pop(id(placed.request)) for placed in outcome.placed}
        self.stops += [place.stop for place in answered.values() if place.stop is not None]
        if outcome.placed:
            placements, preemptions = new_placements(
                target.job,
                group.name,
                outcome.placed,
                eval_id=self._evaluation.id,
                deployment_id=target.deployment_id,
                new_id=self._new_id,
                tracker_of=lambda request: self._tracker(request, answered[id(request)]),
            )
            self.placements.append(placements)
            self.preemptions += preemptions
            self.preempted_of[group.name] = self.preempted_of.get(group.name, 0) + len(preemptions)
            self.placed_of[group.name] = self.placed_of.get(group.name, 0) + len(placements.ids)
        if outcome.failure is not None:
            self._fail(group, outcome, outcome.failure, list(places.values()))

    def _tracker(self, request: PlaceRequest, place: Place) -> RescheduleTracker | None:
        if request.previous is None or not place.is_reschedule:
            return None
        return replacement_tracker(request.previous, self._now)

    def _fail(
        self, group: TaskGroup, outcome: PlacedGroup, failure: AllocMetric, unplaced: Sequence[Place]
    ) -> None:
        self._failed[group.name] = failure
        self._failures[group.name] = len(unplaced)
        self._class_eligibility = _either(self._class_eligibility, outcome.class_eligibility)
        self._escaped = self._escaped or outcome.escaped
        self._missing = (*self._missing, *outcome.missing)
        self._quota = self._quota or outcome.quota
        self._lacks_nodes = self._lacks_nodes or not outcome.quota
        first = unplaced[0]
        if first.is_reschedule and first.previous is not None:
            self._note_no_placement(first.previous)

    def _note_no_placement(self, previous: Allocation) -> None:
        tracker = previous.reschedule_tracker or RescheduleTracker()
        if tracker.last_reschedule != RESCHEDULE_NO_PLACEMENT:
            noted = replace(tracker, last_reschedule=RESCHEDULE_NO_PLACEMENT)
            self.updates.append(UpdateAlloc(id=previous.id, reschedule_tracker=noted))

    def _coalesce(self, group: TaskGroup, more: int) -> None:
        self._failures[group.name] += more
        failures = self._failures[group.name]
        self._failed[group.name] = failure_metric(self._failed[group.name], group, failures)


def _penalty_nodes(previous: Allocation) -> frozenset[NodeID]:
    """Where the work failed before."""
    nodes = {previous.node_id} if previous.client_status == CLIENT_FAILED else set()
    if previous.reschedule_tracker is not None:
        nodes.update(NodeID(event.prev_node_id) for event in previous.reschedule_tracker.events or ())
    return frozenset(nodes)


def _either(one: dict[str, bool], other: dict[str, bool]) -> dict[str, bool]:
    """Whether nodes of a class suit any of the groups."""
    return {name: one.get(name, False) or other.get(name, False) for name in {**one, **other}}
