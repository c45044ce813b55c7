"""Sorting the allocations of a group: what stays, moves, is lost, or is placed anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

import msgspec
from msgspec.structs import replace

from yurt.model.alloc import CLIENT_FAILED, CLIENT_LOST, CLIENT_RUNNING, CLIENT_UNKNOWN, Allocation
from yurt.model.deployment import DeploymentState
from yurt.model.evaluation import Evaluation
from yurt.model.job import Job
from yurt.model.node import Node
from yurt.model.plan import UpdateAlloc
from yurt.model.wire import AllocID, Nanoseconds, NodeID
from yurt.scheduler.reconcile.alloc_facts import is_older_than, lost_after, with_state
from yurt.scheduler.reconcile.changes import (
    LOST,
    MIGRATING,
    NOT_NEEDED,
    RECONNECTED,
    REPLACED_FAILURE,
    UNKNOWN,
    Stop,
)
from yurt.scheduler.reconcile.classify import Class, classify_all
from yurt.scheduler.reconcile.deployments import JobDeployments
from yurt.scheduler.reconcile.follow_ups import Delayed, FollowUpMaker
from yurt.scheduler.reconcile.held_lost import held_until
from yurt.scheduler.reconcile.reconnect import reconcile_reconnecting
from yurt.scheduler.reconcile.reschedule import Rescheduling, filter_for_rescheduling
from yurt.scheduler.reconcile.tainted import TaintedNodes
from yurt.scheduler.reconcile.updates import FitsInPlace


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """What the groups of one job are reconciled by."""

    job: Job
    evaluation: Evaluation
    is_batch: bool
    deployments: JobDeployments
    tainted: TaintedNodes
    all_allocs: Mapping[AllocID, Allocation]
    now: Nanoseconds
    follow_ups: FollowUpMaker
    find_node: Callable[[NodeID], Node | None]
    fits_in_place: FitsInPlace


def lost_stop(alloc: Allocation) -> Stop:
    """Stop an allocation that nobody can stop: it is lost."""
    return Stop(alloc=alloc, description=LOST, client_status=CLIENT_LOST)


class GroupSorting:
    """The allocations of a group, sorted.

    `untainted` stay, `migrate` move, `lost` and `now` are replaced; `canaries` are those of the current
    deployment that stay. `stops`, `updates` and `follow_ups` are what sorting alone calls for, `counts`
    what it counts. With `is_held` nothing of the group may be placed in this pass.
    """

    def __init__(self, name: str, allocs: list[Allocation], state: DeploymentState, by: Surroundings) -> None:
        self._name = name
        self._state = state
        self._by = by
        self._deployments = by.deployments
        self.counts: Counter[str] = Counter()
        self.stops: list[Stop] = []
        self.updates: list[UpdateAlloc] = []
        self.follow_ups: list[Evaluation] = []
        self.untainted: dict[AllocID, Allocation] = {}
        self.migrate: dict[AllocID, Allocation] = {}
        self.lost: dict[AllocID, Allocation] = {}
        self.now: dict[AllocID, Allocation] = {}
        self.later: list[Delayed] = []
        self.disconnecting: dict[AllocID, Allocation] = {}
        self.is_held = False
        self.canaries: dict[AllocID, Allocation] = {}
        if not allocs:
            return  # a new group: there is nothing to sort
        working, self.canaries = self._sort_canaries(self._without_done(allocs))
        self._sort(working)
        self._hold_lost()
        self._delay_reschedules()

    def _without_done(self, allocs: list[Allocation]) -> list[Allocation]:
        """Leave out ended batch instances of earlier versions: this version runs anew."""
        if not self._by.is_batch:
            return allocs
        kept = [a for a in allocs if not (a.is_terminal and is_older_than(a, self._by.job))]
        self.counts["ignore"] += len(allocs) - len(kept)
        return kept

    def _sort_canaries(self, working: list[Allocation]) -> tuple[list[Allocation], dict[AllocID, Allocation]]:
        """Stop canaries that nobody waits for; find those of the current deployment."""
        deployments = self._deployments
        obsolete: set[str] = set()
        for deployment in (deployments.old, deployments.current if deployments.is_failed else None):
            state = deployment.task_groups.get(self._name) if deployment is not None else None
            if state is not None and not state.promoted:
                obsolete.update(state.placed_canaries or ())
        stopped = [alloc for alloc in working if alloc.id in obsolete]
        self.stops += [Stop(alloc=alloc, description=NOT_NEEDED) for alloc in stopped]
        self.counts["stop"] += len(stopped)
        placed = set(self._state.placed_canaries or ()) - obsolete
        classes = classify_all((a for a in working if a.id in placed), self._by.tainted, self._by.now)
        gone = [*classes.of(Class.MIGRATE), *classes.of(Class.LOST)]
        self.stops += [Stop(alloc=a, description=MIGRATING) for a in classes.of(Class.MIGRATE)]
        self.stops += [lost_stop(a) for a in classes.of(Class.LOST)]
        left_out = obsolete | {alloc.id for alloc in gone}
        kept = [alloc for alloc in working if alloc.id not in left_out]
        return kept, keyed(classes.of(Class.UNTAINTED))

    def _sort(self, working: list[Allocation]) -> None:
        """Sort everything into what stays, moves, is lost, or is placed anew."""
        by = self._by
        classes = classify_all(working, by.tainted, by.now)
        self.counts["ignore"] += len(classes.of(Class.IGNORE))
        self.migrate = keyed(classes.of(Class.MIGRATE))
        judge = Rescheduling(
            is_batch=by.is_batch,
            eval_id=by.evaluation.id,
            now=by.now,
            deployment=self._deployments.current,
        )
        staying = filter_for_rescheduling(classes.of(Class.UNTAINTED), judge)
        moving = filter_for_rescheduling(self.migrate.values(), judge)
        self.untainted = keyed(staying.untainted)
        self.now = keyed((*staying.now, *moving.now))
        self.later = [*staying.later, *moving.later]
        self._reconnect(classes.of(Class.RECONNECTING))
        self.lost = keyed((*classes.of(Class.LOST), *classes.of(Class.EXPIRING)))
        self._disconnect(classes.of(Class.DISCONNECTING), judge)

    def _reconnect(self, allocs: list[Allocation]) -> None:
        if not allocs:
            return
        result = reconcile_reconnecting(allocs, self._by.all_allocs, self._by.job)
        self.stops += [
            Stop(alloc=alloc, description=REPLACED_FAILURE, client_status=CLIENT_FAILED)
            for alloc in result.failed
        ]
        self.stops += [Stop(alloc=alloc, description=NOT_NEEDED) for alloc in result.losers]
        self.stops += [Stop(alloc=alloc, description=RECONNECTED) for alloc in result.stopped_replacements]
        self.counts["stop"] += len(result.failed) + len(result.losers) + len(result.stopped_replacements)
        for alloc in result.stopped_replacements:
            for kept in (self.untainted, self.migrate, self.now):
                kept.pop(alloc.id, None)
            self.later = [one for one in self.later if one.alloc.id != alloc.id]
        for alloc in result.survivors:
            self.untainted[alloc.id] = alloc
            if alloc.client_status == CLIENT_RUNNING:
                states = with_state(alloc, CLIENT_RUNNING, self._by.now)
                self.updates.append(UpdateAlloc(id=alloc.id, alloc_states=states))
                self.counts["reconnect"] += 1

    def _disconnect(self, allocs: list[Allocation], judge: Rescheduling) -> None:
        """Mark what runs on silent nodes as unknown, and have some of it replaced."""
        if not allocs:
            return
        by = self._by
        self.disconnecting = keyed(allocs)
        filtered = filter_for_rescheduling(allocs, judge, disconnecting=True)
        self.untainted.update(keyed(filtered.untainted))
        self.now.update(keyed(filtered.now))
        timeouts = by.follow_ups.for_disconnected(Delayed(a, by.now + lost_after(a)) for a in allocs)
        reschedules = by.follow_ups.for_rescheduling(filtered.later)
        self.follow_ups += [*timeouts.evals, *reschedules.evals]
        for alloc in allocs:
            self.updates.append(
                UpdateAlloc(
                    id=alloc.id,
                    client_status=CLIENT_UNKNOWN,
                    client_description=UNKNOWN,
                    alloc_states=with_state(alloc, CLIENT_UNKNOWN, by.now),
                    followup_eval_id=reschedules.by_alloc.get(alloc.id, timeouts.by_alloc[alloc.id]),
                )
            )
        self.counts["disconnect"] += len(allocs)
        self.counts["reschedule_now"] += len(filtered.now)
        self.counts["reschedule_later"] += len(filtered.later)

    def _hold_lost(self) -> None:
        """Give nodes the time to stop what they were told to stop when cut off."""
        held = [
            Delayed(alloc, until)
            for alloc in self.lost.values()
            if (until := held_until(alloc, self._by.now)) > self._by.now
        ]
        follow_ups = self._by.follow_ups.for_lost(held)
        self.follow_ups += follow_ups.evals
        self.is_held = bool(held)
        for alloc in self.lost.values():
            stop = lost_stop(alloc)
            if alloc.id in follow_ups.by_alloc:
                stop = replace(stop, followup_eval_id=follow_ups.by_alloc[alloc.id])
            self.stops.append(stop)
        self.counts["stop"] += len(self.lost)

    def _delay_reschedules(self) -> None:
        follow_ups = self._by.follow_ups.for_rescheduling(self.later)
        self.follow_ups += follow_ups.evals
        self.updates += [
            UpdateAlloc(id=alloc_id, followup_eval_id=eval_id)
            for alloc_id, eval_id in follow_ups.by_alloc.items()
        ]
        self.counts["reschedule_later"] += len(self.later)


def keyed(allocs: Iterable[Allocation]) -> dict[AllocID, Allocation]:
    """Allocations by id, in their order."""
    return {alloc.id: alloc for alloc in allocs}
