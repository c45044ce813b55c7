"""Reconciling one group of a service or batch job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
from msgspec.structs import replace

from yurt.model.alloc import CLIENT_UNKNOWN, Allocation
from yurt.model.deployment import DeploymentState
from yurt.model.evaluation import Evaluation
from yurt.model.group import TaskGroup
from yurt.model.plan import UpdateAlloc
from yurt.model.plan_annotations import DesiredUpdates
from yurt.model.wire import AllocID, Nanoseconds
from yurt.scheduler.reconcile.alloc_facts import (
    health,
    is_canary,
    is_of_version,
    is_part_of,
    transition,
)
from yurt.scheduler.reconcile.changes import (
    MIGRATING,
    NOT_NEEDED,
    RESCHEDULED,
    UPDATING,
    Place,
    Stop,
    not_stopped,
)
from yurt.scheduler.reconcile.classify import Class, classify_all
from yurt.scheduler.reconcile.deployments import (
    has_strategy,
    is_group_healthy,
    needs_promotion,
    new_group_state,
)
from yurt.scheduler.reconcile.group_sorting import GroupSorting, Surroundings, lost_stop
from yurt.scheduler.reconcile.name_index import NameIndex
from yurt.scheduler.reconcile.scale_down import surplus
from yurt.scheduler.reconcile.tainted import TaintedNodes
from yurt.scheduler.reconcile.updates import InPlace, Updates, sort_updates


class GroupChanges(msgspec.Struct, frozen=True, kw_only=True):
    """What must change in one group. `state` is what a new deployment is to hold about it."""

    place: list[Place]
    destructive: list[Place]
    stop: list[Stop]
    in_place: list[InPlace]
    updates: list[UpdateAlloc]
    follow_ups: list[Evaluation]
    desired: DesiredUpdates
    state: DeploymentState | None = None
    is_complete: bool = True


def reconcile_group(name: str, allocs: Iterable[Allocation], by: Surroundings) -> GroupChanges:
    """Say what must change so that a group runs as its job says."""
    known = [alloc for alloc in allocs if _still_matters(alloc, is_batch=by.is_batch)]
    group = by.job.group(name)
    if group is None or group.count == 0:
        return stop_group(known, by.tainted, by.now)
    if not known and by.deployments.current is None:
        return begin_group(group, by)
    return GroupPass(group, known, by).run()


def begin_group(group: TaskGroup, by: Surroundings) -> GroupChanges:
    """Start all instances of a group that has none: what a pass over nothing comes to, sooner."""
    state = None
    if has_strategy(group.update) and not by.is_batch:
        state = replace(new_group_state(group.update), desired_total=group.count)
    return GroupChanges(
        place=[Place(task_group=group.name, name_index=index) for index in range(group.count)],
        destructive=[],
        stop=[],
        in_place=[],
        updates=[],
        follow_ups=[],
        desired=DesiredUpdates(place=group.count),
        state=state,
        is_complete=False,
    )


def stop_group(allocs: Iterable[Allocation], tainted: TaintedNodes, now: Nanoseconds) -> GroupChanges:
    """Stop all of a group that still runs."""
    classes = classify_all(allocs, tainted, now)
    stops = [
        Stop(alloc=alloc, description=NOT_NEEDED)
        for kind in (Class.UNTAINTED, Class.MIGRATE, Class.DISCONNECTING, Class.RECONNECTING)
        for alloc in classes.of(kind)
    ]
    stops += [lost_stop(alloc) for alloc in classes.of(Class.LOST)]
    stops += [
        Stop(alloc=alloc, description=NOT_NEEDED)
        for kind in (Class.IGNORE, Class.EXPIRING)
        for alloc in classes.of(kind)
        if alloc.client_status == CLIENT_UNKNOWN
    ]
    return GroupChanges(
        place=[],
        destructive=[],
        stop=stops,
        in_place=[],
        updates=[],
        follow_ups=[],
        desired=DesiredUpdates(stop=len(stops)),
    )


def _still_matters(alloc: Allocation, *, is_batch: bool) -> bool:
    """What the servers stopped is done with; but a batch instance that ran is counted."""
    return not alloc.is_server_terminal or (is_batch and not transition(alloc).reschedule)


class GroupPass:
    """One pass over a group that has instances to run, step by step as the fields are filled."""

    def __init__(self, group: TaskGroup, allocs: list[Allocation], by: Surroundings) -> None:
        self._group = group
        self._by = by
        self._deployments = by.deployments
        self._all = allocs
        current = by.deployments.current
        known = current.task_groups.get(group.name) if current is not None else None
        self._is_new_state = known is None
        self._state = known if known is not None else new_group_state(group.update)
        self._sorted = GroupSorting(group.name, allocs, self._state, by)
        self._counts = self._sorted.counts
        self._stops = self._sorted.stops
        self._untainted = self._sorted.untainted
        self._migrate = self._sorted.migrate
        self._now = self._sorted.now

    def run(self) -> GroupChanges:
        found = self._sorted
        canaries, kept = found.canaries, (found.untainted, found.migrate, found.now, found.lost)
        names = NameIndex(self._group.count, (alloc for allocs in kept for alloc in allocs.values()))
        self._stop_surplus(names, canaries)
        updates = self._sort_updates()
        if self._is_canarying:
            for canary_id in canaries:
                self._untainted.pop(canary_id, None)
        canary_places = self._place_canaries(names, canaries, updates)
        places = self._placements(names)
        budget = self._budget(updates)
        going = self._release(places)
        budget -= min(len(going), budget)
        destructive = self._destructive(updates, budget)
        moved = self._migrations()
        if self._is_new_state:
            self._grow_total(len(updates.destructive) + len(updates.in_place) + len(places))
        replaced = [self._named(one, names) for one in destructive]
        place = [*canary_places, *(going + moved)[: self._group.count]]
        stopped = {stop.alloc.id for stop in self._stops} | {p.stop.alloc.id for p in destructive if p.stop}
        return GroupChanges(
            place=[self._named(one, names) for one in place],
            destructive=replaced,
            stop=self._stops,
            in_place=updates.in_place,
            updates=not_stopped(found.updates, stopped),
            follow_ups=found.follow_ups,
            desired=DesiredUpdates(**self._counts),
            state=self._state if self._begins_deployment(updates) else None,
            is_complete=self._is_complete(updates, places, canary_places),
        )

    @property
    def _is_canarying(self) -> bool:
        return needs_promotion(self._state)

    @property
    def _is_ready(self) -> bool:
        """Whether instances may be replaced at all."""
        deployments = self._deployments
        return not (deployments.is_paused or deployments.is_failed or self._is_canarying)

    def _grow_total(self, by: int) -> None:
        self._state = replace(self._state, desired_total=self._state.desired_total + by)

    def _stop_surplus(self, names: NameIndex, canaries: Mapping[AllocID, Allocation]) -> None:
        too_many = surplus(
            self._group.count,
            names,
            untainted=self._untainted.values(),
            migrate=self._migrate.values(),
            canaries=[a for a in canaries.values() if a.id in self._untainted],
            is_canarying=self._is_canarying,
        )
        for alloc in too_many:
            self._untainted.pop(alloc.id, None)
            self._migrate.pop(alloc.id, None)
            self._stops.append(Stop(alloc=alloc, description=NOT_NEEDED))
        self._counts["stop"] += len(too_many)

    def _sort_updates(self) -> Updates:
        updates = sort_updates(
            self._untainted.values(),
            self._by.job,
            self._group,
            find_node=self._by.find_node,
            fits_in_place=self._by.fits_in_place,
        )
        self._counts["ignore"] += len(updates.ignore)
        self._counts["in_place_update"] += len(updates.in_place)
        return updates

    def _place_canaries(
        self, names: NameIndex, canaries: Mapping[AllocID, Allocation], updates: Updates
    ) -> list[Place]:
        strategy = self._group.update
        if strategy is None or not self._needs_canaries(canaries, updates):
            return []
        self._state = replace(self._state, desired_canaries=strategy.canary)
        if self._deployments.is_paused or self._deployments.is_failed:
            return []
        missing = strategy.canary - len(canaries)
        self._counts["canary"] += missing
        return [
            Place(task_group=self._group.name, name_index=index, is_canary=True)
            for index in names.next_canaries(missing, canaries.values(), updates.destructive)
        ]

    def _needs_canaries(self, canaries: Mapping[AllocID, Allocation], updates: Updates) -> bool:
        strategy = self._group.update
        return (
            strategy is not None
            and has_strategy(strategy)
            and bool(updates.destructive)
            and len(canaries) < strategy.canary
            and not self._state.promoted
        )

    def _budget(self, updates: Updates) -> int:
        """How many instances may be replaced in this pass."""
        strategy, current = self._group.update, self._deployments.current
        if strategy is None or not has_strategy(strategy) or not (updates.destructive or self._migrate):
            return self._group.count
        if current is None:
            return strategy.max_parallel
        if not self._is_ready:
            return 0
        budget = strategy.max_parallel
        for alloc in self._untainted.values():
            if is_part_of(alloc, current) and health(alloc) is not True:
                if health(alloc) is False:
                    return 0
                budget -= 1
        return max(0, budget)

    def _placements(self, names: NameIndex) -> list[Place]:
        """All instances that are missing: failed ones first, then lost ones, then new ones."""
        if self._sorted.is_held:
            return []
        places = [self._replacement(alloc, is_reschedule=True) for alloc in self._now.values()]
        count = self._group.count
        existing = len(self._untainted) + len(self._migrate) + len(self._now)
        lost = list(self._sorted.lost.values())[: max(0, count - existing)]
        places += [self._replacement(alloc) for alloc in lost]
        missing = max(0, count - existing - len(lost))
        places += [
            Place(task_group=self._group.name, name_index=index, keeps_version=self._is_canarying)
            for index in (names.next(missing) if missing else ())
        ]
        return places

    def _replacement(self, previous: Allocation, *, is_reschedule: bool = False) -> Place:
        canary = is_canary(previous)
        return Place(
            task_group=self._group.name,
            name_index=previous.name_index,
            previous=previous,
            is_reschedule=is_reschedule,
            is_canary=canary,
            keeps_version=self._is_canarying and not canary,
            version_min=previous.job.version,
        )

    def _release(self, places: list[Place]) -> list[Place]:
        """Let those placements go that the deployment allows."""
        if self._is_ready:
            going = [self._stopping_failed(place) for place in places]
        else:
            failed = self._deployments.current if self._deployments.is_failed else None
            going = [
                self._stopping_failed(place)
                for place in places
                if place.previous is not None
                and (not place.is_reschedule or failed is None or not is_part_of(place.previous, failed))
            ]
        self._counts["place"] += len(going)
        return going

    def _stopping_failed(self, place: Place) -> Place:
        """A failed instance is stopped once its replacement has a node; a silent one goes on."""
        previous = place.previous
        if (
            not place.is_reschedule
            or previous is None
            or previous.id in self._sorted.disconnecting
            or previous.id in self._migrate
            or previous.client_status == CLIENT_UNKNOWN
        ):
            return place
        self._counts["stop"] += 1
        return replace(place, stop=Stop(alloc=previous, description=RESCHEDULED))

    def _destructive(self, updates: Updates, budget: int) -> list[Place]:
        chosen: list[Allocation] = []
        if self._is_ready:
            chosen = sorted(updates.destructive, key=lambda alloc: alloc.name_index)[:budget]
        self._counts["destructive_update"] += len(chosen)
        self._counts["ignore"] += len(updates.destructive) - len(chosen)
        return [
            replace(self._replacement(alloc), is_canary=False, stop=Stop(alloc=alloc, description=UPDATING))
            for alloc in chosen
        ]

    def _migrations(self) -> list[Place]:
        """Move what must leave its node, even if there is no other; drained batch work is only stopped."""
        places: list[Place] = []
        for alloc in sorted(self._migrate.values(), key=lambda alloc: alloc.name_index):
            self._stops.append(Stop(alloc=alloc, description=MIGRATING))
            flags = transition(alloc)
            if not (self._by.is_batch and (flags.reschedule or flags.migrate_disable_placement)):
                places.append(self._replacement(alloc))
        self._counts["migrate"] += len(self._migrate)
        return places

    def _named(self, place: Place, names: NameIndex) -> Place:
        if place.previous is None:
            return place
        return replace(place, name_index=names.without_duplicate(place.name_index))

    def _begins_deployment(self, updates: Updates) -> bool:
        if not self._is_new_state or not has_strategy(self._group.update) or self._by.is_batch:
            return False
        if self._state.desired_total == 0:
            return False
        runs_already = any(is_of_version(alloc, self._by.job) for alloc in self._all)
        return not runs_already or bool(updates.destructive or updates.in_place)

    def _is_complete(self, updates: Updates, places: list[Place], canary_places: list[Place]) -> bool:
        if updates.destructive or updates.in_place or places or canary_places:
            return False
        if self._migrate or self._now or self._sorted.later:
            return False
        current = self._deployments.current
        state = current.task_groups.get(self._group.name) if current is not None else None
        return state is None or is_group_healthy(state)
