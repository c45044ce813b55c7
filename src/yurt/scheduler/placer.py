"""A placer: places the instances of one group, in bulk where they are alike, else one by one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from random import Random

import numpy as np
from numpy.typing import NDArray

from yurt.model.alloc import Allocation
from yurt.model.group import TaskGroup
from yurt.model.job import Job
from yurt.model.scheduler_configuration import SchedulerConfiguration
from yurt.scheduler.assign.group import Given
from yurt.scheduler.configuration import effective_configuration
from yurt.scheduler.metrics import Tally, encode_metric
from yurt.scheduler.preempt import find_victims, may_preempt, preemption_score
from yurt.scheduler.rank.pick_many import pick_many
from yurt.scheduler.rank.pick_spread import pick_spread
from yurt.scheduler.rank.ranking import NOWHERE, Wish, keys
from yurt.scheduler.requests import Placed, PlaceRequest
from yurt.scheduler.selection import Selection
from yurt.scheduler.view import View
from yurt.state.use import CPU

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
        classes_seen: bool | frozenset[int] = False,
    ) -> None:
        configuration = effective_configuration(view.state, job, configuration)
        self._view = view
        self._job = job
        self._group = group
        self._rng = rng
        self._may_preempt = may_preempt(configuration.preemption_config, job.type)
        self._delta_min = configuration.preemption_config.priority_delta_min
        self.selection = Selection(
            view, job, group, rng=rng, configuration=configuration, classes_seen=classes_seen
        )
        # Positions where nobody can be displaced.
        self._hopeless: set[int] = set()

    def place(self, requests: Sequence[PlaceRequest]) -> list[Placed]:
        """Place requests in their order, until the first that finds no node."""
        placed: list[Placed] = []
        for is_plain, run in groupby(requests, key=_is_plain):
            wanted = list(run)
            got: list[Placed] = []
            if is_plain and self._is_long(wanted):
                got = self._place_alike(wanted)
            elif is_plain and self.selection.is_simple:
                got = self._place_few(wanted)
            if is_plain and got and len(got) < len(wanted) and not self._may_preempt:
                return placed + got
            for request in wanted[len(got) :]:
                one = self._place_one(request)
                if one is None:
                    return placed + got
                got.append(one)
            placed += got
        return placed

    def _is_long(self, requests: Sequence[PlaceRequest]) -> bool:
        """Whether metrics for each of so many requests would cost more than placing them."""
        scores = len(requests) * len(self.selection.slots)
        return len(requests) > OWN_METRICS_INSTANCES_MAX or scores > OWN_METRICS_SCORES_MAX

    def _place_alike(self, requests: Sequence[PlaceRequest]) -> list[Placed]:
        """Place plain requests, as many as there is room for; they share one metric, that of the first."""
        self.selection.settle()
        wishes = self.selection.wishes(None)
        metrics = encode_metric(self.selection.metric(self.selection.ranking.finals(wishes), wishes))
        placed: list[Placed] = []
        if self.selection.chooses_volumes or not self.selection.assigner.suits_bulk(
            self.selection.slots, len(requests)
        ):
            for request in requests:
                one = self._select(request, self.selection.nodes_for(request), metrics)
                if one is None:
                    break
                placed.append(one)
            return placed
        while len(placed) < len(requests):
            got, is_final = self._place_round(requests[len(placed) :], metrics)
            placed += got
            if is_final:
                break
            # Some nodes turned out to lack ports: what was counted for them is counted anew.
            self.selection.count_again()
        return placed

    def _place_few(self, requests: Sequence[PlaceRequest]) -> list[Placed]:
        """Place plain requests of a simple selection, as many as there is room for, with metrics for each."""
        placed: list[Placed] = []
        resources = self.selection.ask.resources
        while len(placed) < len(requests):
            picked = self.selection.pick_few(len(requests) - len(placed))
            if not picked:
                break
            for pick, metric in picked:
                self.selection.enter(pick.position, resources)
                placed.append(
                    Placed(
                        request=requests[len(placed)],
                        node_id=self.selection.node_id(pick.position),
                        resources=resources,
                        metrics=encode_metric(metric),
                    )
                )
        return placed

    def _place_round(self, requests: Sequence[PlaceRequest], metrics: bytes) -> tuple[list[Placed], bool]:
        """Place requests in one go; say whether what is left has no chance in another."""
        self.selection.settle()
        ranking = self.selection.ranking
        per_node_max = (
            1 if self.selection.hosts.is_asked or self.selection.assigner.is_once_per_node else None
        )
        if self.selection.spreads or self.selection.properties:
            picks = pick_spread(
                ranking,
                len(requests),
                spreads=self.selection.spreads,
                properties=self.selection.properties,
                per_node_max=per_node_max,
                rng=self._rng,
            )
        else:
            picks = pick_many(ranking, len(requests), per_node_max=per_node_max)
        positions = np.asarray(picks, dtype=np.intp)
        slots = ranking.field.slots[positions].tolist()
        key, group = self._job.key, self._group.name
        if self.selection.ask.is_plain:
            resources = self.selection.ask.resources
            self._view.place_each(key, group, np.asarray(slots, dtype=np.intp), resources)
            node_ids = self._view.columns.node_ids
            placed = [
                Placed(request=request, node_id=node_ids[slot], resources=resources, metrics=metrics)
                for request, slot in zip(requests, slots, strict=False)
            ]
        else:
            placed = self._assign_each(requests, picks, metrics)
        self.selection.look_again_at(picks)
        return placed, len(placed) == len(picks)

    def _assign_each(
        self, requests: Sequence[PlaceRequest], picks: Sequence[int], metrics: bytes
    ) -> list[Placed]:
        """Give each pick its ports; picks on nodes that turn out to have none are left out.

        Spread picks depend on the ones before them: after the first node that refuses they are only
        asked whether they refuse, too, and picked anew in another round.
        """
        placed: list[Placed] = []
        depends = bool(self.selection.spreads or self.selection.properties)
        has_refused = False
        for position in picks:
            slot = int(self.selection.slots[position])
            given = self.selection.assigner.give(slot)
            if not isinstance(given, Given):
                self.selection.refuse(position, given)
                has_refused = True
                continue
            if has_refused and depends:
                continue
            self._view.place(self._job.key, self._group.name, slot, given.resources)
            if self.selection.assigner.is_once_per_node:
                self.selection.refuse(position, self.selection.assigner.refusal_after_once)
            placed.append(
                Placed(
                    request=requests[len(placed)],
                    node_id=self.selection.node_id(position),
                    resources=given.resources,
                    metrics=metrics,
                )
            )
        return placed

    def _place_one(self, request: PlaceRequest) -> Placed | None:
        """Place one request on the best node; where none has room, on one that can be given room."""
        within = self.selection.nodes_for(request)
        preferred = self.selection.preferred(request)
        placed: Placed | None = None
        if preferred is not None and (within is None or within[preferred]):
            only = np.zeros(len(self.selection.slots), dtype=np.bool_)
            only[preferred] = True
            placed = self._select(request, only, looks_at_one=True)
        if placed is None:
            placed = self._select(request, within)
        if placed is None and self._may_preempt:
            placed = self._select_with_preemption(request, within)
        return placed

    def _select(
        self,
        request: PlaceRequest,
        within: NDArray[np.bool_] | None,
        metrics: bytes | None = None,
        *,
        looks_at_one: bool = False,
    ) -> Placed | None:
        """Place a request on the best node; its metrics are worked out unless they are given.

        With `looks_at_one` these say that just the one node within was looked at.
        """
        self.selection.settle()
        ranking = self.selection.ranking
        wishes = self.selection.wishes(request)
        finals = ranking.finals(wishes)
        allowed = ranking.fits if within is None else ranking.fits & within
        allowed = self.selection.without_full_properties(allowed)
        order = keys(finals, allowed, ranking.ties)
        while len(order):
            position = int(order.argmax())
            if order[position] == NOWHERE:
                break
            slot = int(ranking.field.slots[position])
            given = self.selection.assigner.give(slot)
            if isinstance(given, Given):
                if metrics is None:
                    tally = Tally(evaluated=1) if looks_at_one else None
                    metrics = encode_metric(self.selection.metric(finals, wishes, order, tally))
                self.selection.enter(position, given.resources)
                return Placed(
                    request=request,
                    node_id=self.selection.node_id(position),
                    resources=given.resources,
                    metrics=metrics,
                )
            self.selection.refuse(position, given)
            order[position] = NOWHERE
        return None

    def _select_with_preemption(
        self, request: PlaceRequest, within: NDArray[np.bool_] | None
    ) -> Placed | None:
        """Place a request on the best of the nodes on which others can make room for it."""
        self.selection.settle()
        ranking = self.selection.ranking
        options = self._preemption_options(within)
        if not options:
            return None
        size = len(ranking.field.slots)
        values, counted = np.zeros(size), np.zeros(size, dtype=np.bool_)
        for position, victims in options.items():
            if victims:
                values[position], counted[position] = preemption_score(victims), True
        wishes = [*self.selection.wishes(request), Wish(PREEMPTION_NAME, values, counted)]
        finals = ranking.finals(wishes)
        fits = np.zeros(size, dtype=np.bool_)
        fits[list(options)] = True
        order = keys(finals, fits, ranking.ties)
        for position in sorted(options, key=lambda position: -float(order[position])):
            victims = options[position]
            for victim in victims:
                self._view.preempt(victim)
            slot = int(ranking.field.slots[position])
            given = self.selection.assigner.give(slot)
            if isinstance(given, Given):
                metrics = encode_metric(self.selection.metric(finals, wishes, order))
                self.selection.enter(position, given.resources)
                return Placed(
                    request=request,
                    node_id=self.selection.node_id(position),
                    resources=given.resources,
                    metrics=metrics,
                    preempted=tuple(victim.id for victim in victims),
                )
            for victim in victims:
                self._view.unpreempt(victim)
        return None

    def _preemption_options(self, within: NDArray[np.bool_] | None) -> dict[int, list[Allocation]]:
        """Victims for some of the nodes that have no room, by position."""
        field = self.selection.ranking.field
        allowed = np.ones(len(field.slots), dtype=np.bool_) if within is None else within
        allowed = self.selection.without_full_properties(allowed)
        if self.selection.hosts.is_asked:
            allowed = allowed & (field.column_of(self.selection.hosts.taken()) == 0)
        for dimension in field.dimensions:
            allowed = allowed & (
                self._view.columns.capacity[dimension][field.slots] >= field.wanted[dimension]
            )
        options: dict[int, list[Allocation]] = {}
        positions = np.flatnonzero(allowed)
        for position in positions[np.argsort(self.selection.ranking.ties[positions])].tolist():
            if position in self._hopeless:
                continue
            slot, cpu_mhz = int(field.slots[position]), field.wanted_on(CPU, position)
            victims = find_victims(
                self._view, slot, self._job, self.selection.ask, cpu_mhz, delta_min=self._delta_min
            )
            if victims is None:
                self._hopeless.add(position)
                continue
            options[position] = victims
            if len(options) == PREEMPTION_OPTIONS_MAX:
                break
        return options


def _is_plain(request: PlaceRequest) -> bool:
    """Whether a request is like others of its group, as far as choosing a node goes."""
    return not request.penalty_nodes and request.preferred_node is None
