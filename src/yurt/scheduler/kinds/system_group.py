"""One pass over a group of a system or sysbatch job: what is placed where, and what it replaces."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from random import Random

import msgspec
from msgspec.structs import replace

from yurt.model.alloc import CLIENT_RUNNING, CLIENT_UNKNOWN, Allocation
from yurt.model.alloc_metric import AllocMetric
from yurt.model.deployment import DeploymentState
from yurt.model.group import TaskGroup
from yurt.model.job import Job
from yurt.model.plan import UpdateAlloc
from yurt.model.plan_annotations import DesiredUpdates
from yurt.model.wire import Nanoseconds, NodeID
from yurt.scheduler.in_place import fit_in_place
from yurt.scheduler.place import place_group
from yurt.scheduler.reconcile.alloc_facts import is_canary, is_part_of, with_state
from yurt.scheduler.reconcile.changes import LOST, NODE_TAINTED, NOT_NEEDED, UNKNOWN, UPDATING, Stop
from yurt.scheduler.reconcile.deployments import JobDeployments
from yurt.scheduler.reconcile.system import NodePlace, SystemGroup, is_changed
from yurt.scheduler.reconcile.system_deployments import (
    canaries_wanted,
    is_canarying,
    running_canaries,
    update_limit,
)
from yurt.scheduler.reconcile.updates import InPlace, sort_updates
from yurt.scheduler.requests import Placed, PlacedGroup, PlaceRequest
from yurt.scheduler.view import View


class SystemGroupChanges(msgspec.Struct, frozen=True, kw_only=True):
    """What must change about one group, with its placements.

    `failure` is why the first node without room had none, `failed_node` which one that was.
    `filtered` speaks for all nodes that rules turned away, where that is all there is to say.
    """

    stops: list[Stop]
    placed: list[Placed]
    updates: list[UpdateAlloc]
    in_place: list[InPlace]
    queued: int
    desired: DesiredUpdates
    state: DeploymentState | None = None
    failure: AllocMetric | None = None
    failed_node: NodeID | None = None
    filtered: AllocMetric | None = None
    # The quota that is used up, if that is all that a failure is about.
    quota: str = ""


class SystemSurroundings(msgspec.Struct, frozen=True, kw_only=True):
    """What the groups of one system or sysbatch job are placed by."""

    view: View
    job: Job
    allocs: Sequence[Allocation]
    deployments: JobDeployments
    is_dry_run: bool
    now: Nanoseconds
    rng: Random


def stop_all(found: SystemGroup) -> SystemGroupChanges:
    """A group that no node is to run any more."""
    stops = _unwanted(found)
    desired = DesiredUpdates(stop=len(found.stop), migrate=len(found.migrate))
    return SystemGroupChanges(stops=stops, placed=[], updates=[], in_place=[], queued=0, desired=desired)


class SystemGroupPass:
    """One pass over a group that nodes are to run."""

    def __init__(
        self, group: TaskGroup, found: SystemGroup, state: DeploymentState | None, by: SystemSurroundings
    ) -> None:
        self._group = group
        self._found = found
        self._state = state
        self._by = by
        self._updates: list[UpdateAlloc] = []
        self._in_place: list[InPlace] = []
        self._settled = 0  # ended or unchanged instances that count as updated

    def run(self) -> SystemGroupChanges:
        """Place what is missing, replace what is outdated, as far as the deployment lets it."""
        found = self._found
        stops = _unwanted(found)
        for stop in stops:
            self._by.view.stop(stop.alloc)
        self._disconnect()
        destructive = self._sort_updates()
        canarying = self._is_canarying(destructive)
        requests = [
            *(self._place_request(place, is_canarying=canarying) for place in found.place),
            *(self._update_request(a, is_canary=canarying) for a in self._evicted(destructive, canarying)),
        ]
        outcome = place_group(
            self._by.view,
            self._by.job,
            self._group,
            requests,
            rng=self._by.rng,
            configuration=self._by.view.state.scheduler_configuration,
        )
        kept = list(outcome.placed)
        if canarying:
            kept = self._without_surplus_canaries(outcome)
        # Where the rules turn a node away its old instance must go, too; where only room is missing it stays.
        replaced = [one.request for one in kept] + list(outcome.filtered)
        stops += [
            Stop(alloc=request.replaces, description=UPDATING)
            for request in replaced
            if request.replaces is not None and not request.replaces.is_server_terminal
        ]
        self._count_total(len(found.place) + len(destructive), outcome)
        return SystemGroupChanges(
            stops=stops,
            placed=kept,
            updates=self._updates,
            in_place=self._in_place,
            queued=len(requests) - len(outcome.filtered) - len(kept),
            desired=self._desired(outcome, kept, destructive, canarying),
            state=self._state,
            failure=outcome.failure,
            failed_node=outcome.exhausted[0].required_node if outcome.exhausted else None,
            filtered=self._filtered_alone(outcome),
            quota=outcome.quota,
        )

    def _disconnect(self) -> None:
        """Mark what runs on silent nodes as unknown."""
        self._updates += [
            UpdateAlloc(
                id=alloc.id,
                client_status=CLIENT_UNKNOWN,
                client_description=UNKNOWN,
                alloc_states=with_state(alloc, CLIENT_UNKNOWN, self._by.now),
            )
            for alloc in self._found.disconnecting
        ]

    def _sort_updates(self) -> list[Allocation]:
        """Update in place what can be; what cannot is handed back, to be replaced."""
        found, job = self._found, self._by.job
        for alloc in found.reconnecting:
            states = with_state(alloc, CLIENT_RUNNING, self._by.now)
            self._updates.append(UpdateAlloc(id=alloc.id, alloc_states=states))
        outdated = [alloc for alloc in found.reconnecting if is_changed(alloc, job)]
        self._settled += len(found.reconnecting) - len(outdated)
        updates = sort_updates(
            [*found.update, *outdated],
            job,
            self._group,
            find_node=self._by.view.state.nodes.get,
            fits_in_place=partial(fit_in_place, self._by.view),
        )
        self._in_place = updates.in_place
        self._settled += len(updates.ignore)
        return updates.destructive

    def _is_canarying(self, destructive: list[Allocation]) -> bool:
        if not is_canarying(self._by.job, self._group.update, self._state):
            return False
        return bool(destructive or running_canaries(self._state, self._by.allocs))

    def _evicted(self, destructive: list[Allocation], canarying: bool) -> list[Allocation]:
        """What is to be replaced in this pass; of canaries the surplus is withdrawn later."""
        deployments = self._by.deployments
        if canarying:
            return [] if deployments.is_paused or deployments.is_failed else destructive
        limit = update_limit(
            self._by.job, self._group, len(destructive), self._found.ignore, self._by.deployments
        )
        return destructive[:limit]

    def _place_request(self, place: NodePlace, *, is_canarying: bool) -> PlaceRequest:
        previous = place.previous
        failed_canary = (
            previous is not None
            and is_canary(previous)
            and is_part_of(previous, self._by.deployments.current)
        )
        return PlaceRequest(
            name_index=place.name_index,
            previous=previous,
            required_node=place.node_id,
            is_canary=is_canarying and failed_canary,
        )

    def _update_request(self, alloc: Allocation, *, is_canary: bool) -> PlaceRequest:
        return PlaceRequest(
            name_index=alloc.name_index,
            previous=alloc,
            replaces=alloc,
            required_node=alloc.node_id,
            is_canary=is_canary,
        )

    def _without_surplus_canaries(self, outcome: PlacedGroup) -> list[Placed]:
        """Withdraw canaries beyond the wanted share, with what they would have replaced and displaced."""
        strategy, state = self._group.update, self._state
        assert strategy is not None, "canaries come from an update block"
        assert state is not None, "canaries are part of a deployment"
        turned_away = {id(request) for request in outcome.filtered}
        tried = [one.request for one in outcome.placed] + list(outcome.exhausted)
        candidates = sum(r.replaces is not None and id(r) not in turned_away for r in tried)
        existing = len(running_canaries(state, self._by.allocs))
        existing += sum(one.request.is_canary and one.request.replaces is None for one in outcome.placed)
        wanted = canaries_wanted(strategy, candidates, existing)
        self._state = replace(state, desired_canaries=wanted)
        room = max(0, wanted - existing)
        kept: list[Placed] = []
        for one in outcome.placed:
            if one.request.replaces is None:
                kept.append(one)
            elif room > 0:
                room -= 1
                kept.append(one)
            else:
                self._withdraw(one)
        return kept

    def _withdraw(self, one: Placed) -> None:
        view = self._by.view
        slot = view.columns.slots[one.node_id]
        view.place(self._by.job.key, self._group.name, slot, one.resources, times=-1)
        if one.request.replaces is not None:
            view.unstop(one.request.replaces)
        for victim_id in one.preempted:
            victim = view.state.allocs.get(victim_id)
            if victim is not None:
                view.unpreempt(victim)

    def _count_total(self, wanted: int, outcome: PlacedGroup) -> None:
        """Note on how many nodes the group is to run in all."""
        if self._state is None:
            return
        total = wanted + len(self._found.ignore) + len(self._in_place) + self._settled
        total -= len(outcome.filtered) + len(outcome.exhausted)
        self._state = replace(self._state, desired_total=total)

    def _desired(
        self, outcome: PlacedGroup, kept: Sequence[Placed], destructive: list[Allocation], canarying: bool
    ) -> DesiredUpdates:
        found, state = self._found, self._state
        # What waits for room is still to be placed; but a dry run only tells what would be.
        nowhere = (*outcome.filtered, *(outcome.exhausted if self._by.is_dry_run else ()))
        missing = sum(request.replaces is None for request in nowhere)
        return DesiredUpdates(
            ignore=len(found.ignore),
            # In a deployment, all nodes of the group count as places, as in Nomad.
            place=state.desired_total if state is not None else len(found.place) - missing,
            migrate=len(found.migrate),
            stop=len(found.stop),
            in_place_update=len(self._in_place) + self._settled,
            destructive_update=len(destructive),
            canary=state.desired_canaries if state is not None and canarying else 0,
            disconnect=len(found.disconnecting),
            reconnect=len(found.reconnecting),
            # Nomad counts these in dry runs of system jobs only.
            preemptions=sum(len(one.preempted) for one in kept) if self._by.is_dry_run else 0,
        )

    def _filtered_alone(self, outcome: PlacedGroup) -> AllocMetric | None:
        """Why rules turned nodes away, if no instance of the group is anywhere nor waits for room."""
        if (
            outcome.placed
            or outcome.exhausted
            or any(a.task_group == self._group.name for a in self._by.allocs)
        ):
            return None
        return outcome.filtered_metrics


def _unwanted(found: SystemGroup) -> list[Stop]:
    return [
        *(Stop(alloc=alloc, description=NOT_NEEDED) for alloc in found.stop),
        *(Stop(alloc=alloc, description=NODE_TAINTED) for alloc in found.migrate),
        *(Stop(alloc=alloc, description=LOST, client_status="lost") for alloc in found.lost),
    ]
