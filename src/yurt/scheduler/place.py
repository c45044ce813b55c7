"""Placing: nodes for the requests of a group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random

from yurt.model.group import TaskGroup
from yurt.model.job import SYSBATCH, SYSTEM, Job
from yurt.model.scheduler_configuration import SchedulerConfiguration
from yurt.scheduler.metrics import failure_metric
from yurt.scheduler.place_system import place_on_required_nodes
from yurt.scheduler.placer import Placer
from yurt.scheduler.quota import admitted, with_refused
from yurt.scheduler.requests import Placed, PlacedGroup, PlaceRequest
from yurt.scheduler.view import View


def place_group(
    view: View,
    job: Job,
    group: TaskGroup,
    requests: Sequence[PlaceRequest],
    *,
    rng: Random,
    configuration: SchedulerConfiguration,
    classes_seen: bool | frozenset[int] = False,
) -> PlacedGroup:
    """Find nodes for instances of one group, in the order of `requests`.

    Every node is looked at, for as many requests as the quota of the job's namespace admits. The view
    shows what is placed, and what it displaces, when this returns; allocations that a request `replaces`
    are stopped in the view if it was placed, and only then. All requests name a `required_node`, or none
    does. With `classes_seen` an earlier group of the same attempt has met the nodes, or nodes of these
    classes (by code), which only changes how filtered nodes are reported. Raises AlgorithmError if the
    configured algorithm fails.
    """
    allowed, refusal = admitted(view, job, group, requests, configuration)
    outcome = _placed(
        view, job, group, allowed, rng=rng, configuration=configuration, classes_seen=classes_seen
    )
    return outcome if refusal is None else with_refused(outcome, requests[len(allowed) :], refusal)


def _placed(
    view: View,
    job: Job,
    group: TaskGroup,
    requests: Sequence[PlaceRequest],
    *,
    rng: Random,
    configuration: SchedulerConfiguration,
    classes_seen: bool | frozenset[int],
) -> PlacedGroup:
    if job.type in (SYSTEM, SYSBATCH):
        return place_on_required_nodes(view, job, group, requests, rng=rng, configuration=configuration)
    replaced = [request.replaces for request in requests if request.replaces is not None]
    for alloc in replaced:
        view.stop(alloc)
    placer = Placer(view, job, group, rng=rng, configuration=configuration, classes_seen=classes_seen)
    placed = placer.place(requests)
    if len(placed) < len(requests) and replaced:
        placed = _take_back(view, job, group, requests, placed)
    missing = len(requests) - len(placed)
    found = placer.selection.found
    if not missing:
        return PlacedGroup(placed=tuple(placed))
    return PlacedGroup(
        placed=tuple(placed),
        failure=failure_metric(placer.selection.explain_failure(), group, missing),
        class_eligibility={} if found.escapes else found.class_eligibility(),
        escaped=found.escapes,
        missing=found.missing_volumes,
    )


def _take_back(
    view: View, job: Job, group: TaskGroup, requests: Iterable[PlaceRequest], placed: Sequence[Placed]
) -> list[Placed]:
    """Let allocations live on whose replacement found no node, and drop placements that took their room."""
    kept = list(placed)
    done: set[int] = set()
    while True:
        ids = {id(one.request) for one in kept}
        failed = [request for request in requests if id(request) not in ids and id(request) not in done]
        if not failed:
            return kept
        for request in failed:
            done.add(id(request))
            if request.replaces is None:
                continue
            view.unstop(request.replaces)
            slot = view.columns.slots.get(request.replaces.node_id)
            here = [one for one in kept if one.node_id == request.replaces.node_id]
            while slot is not None and here and view.is_overfull(slot):
                dropped = here.pop()
                kept.remove(dropped)
                view.place(job.key, group.name, slot, dropped.resources, times=-1)
