"""A selection: the nodes that a group may be placed on, scored and kept current while it is placed."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from random import Random

import numpy as np
from numpy.typing import NDArray

from yurt.model.alloc_metric import SCORES_KEPT_MAX, AllocMetric, NodeScore
from yurt.model.allocated import AllocatedResources
from yurt.model.group import TaskGroup
from yurt.model.job import Job
from yurt.model.scheduler_configuration import SchedulerConfiguration
from yurt.model.wire import NodeID
from yurt.scheduler.ask import Ask, ask_of
from yurt.scheduler.assign.devices import EXHAUSTED as NO_DEVICES
from yurt.scheduler.assign.devices import may_have_devices
from yurt.scheduler.assign.group import Assigner, Given
from yurt.scheduler.feasible import volumes
from yurt.scheduler.feasible.distinct import HOSTS_LABEL, DistinctHosts, DistinctProperty, distinct_properties
from yurt.scheduler.feasible.group import NO_CLASSES, Feasibility, feasibility
from yurt.scheduler.feasible.volume_claims import has_sticky_volumes, nodes_with_claims
from yurt.scheduler.metrics import Tally, alloc_metric
from yurt.scheduler.rank.algorithms import algorithm_for
from yurt.scheduler.rank.candidates import Field, Floats
from yurt.scheduler.rank.cores_cpu import cpu_with_cores
from yurt.scheduler.rank.exhausted import count_exhausted
from yurt.scheduler.rank.kept import is_kept, kept_ranking
from yurt.scheduler.rank.pick_few import Pick, Scored, best_first, pick_few
from yurt.scheduler.rank.ranking import Ranking, Wish, keys
from yurt.scheduler.rank.spread import NAME as SPREAD_NAME
from yurt.scheduler.rank.spread import spreads_of
from yurt.scheduler.requests import PlaceRequest
from yurt.scheduler.view import View
from yurt.state.use import CPU

# Nodes without room are asked for what else they lack, which is reported first, up to so many of them:
# that takes longer than all else that is counted.
LACKS_EXPLAINED_MAX = 2_000

PENALTY_NAME = "node-reschedule-penalty"
DEVICES_NAME = "devices"


class Selection:
    """All nodes of the base set, as one group sees them. Positions count along `ranking.field.slots`.

    `configuration` is the one that holds for the job's pool. One selection is at work on a view at a
    time: making the next may take over what the last has worked out.
    """

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
        self._view = view
        self._job = job
        self._group = group
        self._job_seen = classes_seen is True
        self._seen = classes_seen if isinstance(classes_seen, frozenset) else NO_CLASSES
        self._group_seen = False
        self.ask: Ask = ask_of(group, oversubscribe=configuration.memory_oversubscription_enabled)
        self.assigner = Assigner(view, self.ask, rng)
        self.found: Feasibility = feasibility(view.columns, job, group)
        self.hosts = DistinctHosts(view, job, group)
        slots = self.found.slots
        if self.hosts.is_asked and (taken := self.hosts.taken()):
            slots = slots[~np.isin(slots, np.fromiter(taken, dtype=np.intp))]
        algorithm = algorithm_for(configuration.scheduler_algorithm, job.type)
        seed = rng.getrandbits(32)
        if slots is self.found.slots and is_kept(view, job, group, self.ask, algorithm):
            self.ranking = kept_ranking(view, job, group, self.ask, self.found, algorithm, seed)
        else:
            field = Field(view, job, group, self.ask, slots)
            if self.ask.cores:
                field.wanted[CPU] = cpu_with_cores(view, self.ask, slots)
            self.ranking = Ranking(field, algorithm, algorithm.columns, seed)
        self.properties: list[DistinctProperty] = list(distinct_properties(view, job, group))
        self.spreads = spreads_of(view, job, group, slots)
        # Positions that had room but could not be assigned ports, devices or cores, with the reason.
        self.refused: dict[int, str] = {}
        # Positions without room that were asked for what else they lack, and what that is.
        self._asked: set[int] = set()
        self._lacks: dict[int, str] = {}
        self._refuse_without_devices()
        self._device_scores: Floats | None = self._score_devices()
        self._stale: set[int] = set()
        # Positions that have the volumes of the last request; None if all have.
        self._within: NDArray[np.bool_] | None = None

    @property
    def slots(self) -> NDArray[np.intp]:
        """The slots of the nodes that the rules allow."""
        return self.ranking.field.slots

    def count_again(self) -> None:
        """Count anew how the group is spread, and what it uses of distinct properties."""
        self.properties = list(distinct_properties(self._view, self._job, self._group))
        self.spreads = spreads_of(self._view, self._job, self._group, self.slots)

    def node_id(self, position: int) -> NodeID:
        """The node at a position."""
        node_id = self._view.columns.node_ids[int(self.slots[position])]
        assert node_id is not None, f"there is no node at position {position}"
        return node_id

    def enter(self, position: int, resources: AllocatedResources) -> None:
        """Show a placement in the view; what it changes about the scores is seen after `settle`."""
        slot = int(self.slots[position])
        self._view.place(self._job.key, self._group.name, slot, resources)
        self.refused.pop(position, None)
        for spread in self.spreads:
            spread.place(int(spread.index[position]))
        for one in self.properties:
            one.used[one.column.codes[slot]] += 1
        self.look_again_at([position])

    def look_again_at(self, positions: Iterable[int]) -> None:
        """Note nodes on which the view shows more by now; they are scored again by `settle`."""
        self._stale.update(positions)
        # From now on, classes of nodes that rules turn away are known.
        self._job_seen = self._group_seen = True

    def settle(self) -> None:
        """Score nodes again that have changed. To be called before scores are looked at."""
        if not self._stale:
            return
        positions = np.fromiter(sorted(self._stale), dtype=np.intp)
        self._stale.clear()
        if self.ask.cores:
            for position, mhz in zip(
                positions.tolist(), cpu_with_cores(self._view, self.ask, self.slots[positions]), strict=True
            ):
                self.ranking.field.set_wanted(CPU, position, int(mhz))
        self.ranking.look_again(positions)
        if self.hosts.is_asked:
            self.ranking.close(positions.tolist())
        if self.refused:
            self.ranking.close(list(self.refused))
        if self._device_scores is not None:
            for position in positions.tolist():
                self._device_scores[position] = self._device_score(position)

    def refuse(self, position: int, reason: str) -> None:
        """Take a node out of the race that has room, but lacks something else."""
        self.refused[position] = reason
        self.ranking.close([position])

    def wishes(self, request: PlaceRequest | None) -> list[Wish]:
        """What the job itself asks of the score."""
        size = len(self.slots)
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
        if self.spreads:
            total = np.zeros(size)
            for spread in self.spreads:
                total += spread.boosts[spread.index]
            wishes.append(Wish(SPREAD_NAME, total, total != 0.0))
        return wishes

    def nodes_for(self, request: PlaceRequest) -> NDArray[np.bool_] | None:
        """Mask of the positions that have the request's own volumes; None if all may be used."""
        mask: NDArray[np.bool_] | None = None
        if volumes.volumes_per_alloc(self._group):
            mask = volumes.nodes_with_volumes(
                self._view.columns, self._job.namespace, self._group, request.name_index
            )
        if has_sticky_volumes(self._group):
            claimed = nodes_with_claims(self._view, self._job, self._group)
            mask = claimed if mask is None else mask if claimed is None else mask & claimed
        self._within = None if mask is None else np.asarray(mask[self.slots])
        return self._within

    def preferred(self, request: PlaceRequest) -> int | None:
        """Where the node is that a request should be tried on first."""
        if request.preferred_node is None:
            return None
        slot = self._view.columns.slots.get(request.preferred_node)
        position = -1 if slot is None else self.ranking.field.position(slot)
        return position if position >= 0 else None

    def without_full_properties(self, allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """A mask without the nodes whose distinct properties are used often enough."""
        slots = self.slots
        for one in self.properties:
            allowed = allowed & ~(one.missing() | one.full())[slots]
        return allowed

    def metric(
        self, finals: Floats, wishes: list[Wish], order: Floats | None = None, tally: Tally | None = None
    ) -> AllocMetric:
        """The metric of a placement on the best of these nodes; `tally` unless all were looked at."""
        ranking = self.ranking
        if order is None:
            order = keys(finals, self.without_full_properties(ranking.fits), ranking.ties)
        return alloc_metric(
            self._job, self.found.base, tally or self._tally(), self._best_scores(finals, wishes, order)
        )

    @cached_property
    def is_simple(self) -> bool:
        """Whether a placement changes the score of its own node only, and nothing is chosen there."""
        return (
            self.ask.is_plain
            and not self.hosts.is_asked
            and not self.properties
            and not self.spreads
            and not self.chooses_volumes
        )

    @cached_property
    def chooses_volumes(self) -> bool:
        """Whether instances of the group may need different volumes."""
        return bool(self._group.volumes) and (
            volumes.volumes_per_alloc(self._group) or has_sticky_volumes(self._group)
        )

    def pick_few(self, instances: int) -> list[tuple[Pick, AllocMetric]]:
        """Nodes for some of a few instances, at least one unless there is no room; for a simple selection."""
        self.settle()
        picks = pick_few(self.ranking, instances, compared=SCORES_KEPT_MAX)
        tallies = [self._tally()]
        if len(picks) > 1:
            self._job_seen = self._group_seen = True
            tallies.append(self._tally())
        known: dict[int, NodeScore] = {}
        metrics = []
        for number, pick in enumerate(picks):
            best = tuple(
                known.get(id(one)) or known.setdefault(id(one), self._node_score(one)) for one in pick.best
            )
            metrics.append((pick, alloc_metric(self._job, self.found.base, tallies[number > 0], best)))
        return metrics

    def explain_failure(self) -> AllocMetric:
        """Why a further instance would find no node."""
        self.settle()
        return alloc_metric(self._job, self.found.base, self._tally())

    def _best_scores(self, finals: Floats, wishes: list[Wish], order: Floats) -> tuple[NodeScore, ...]:
        best = np.asarray(best_first(order, SCORES_KEPT_MAX), dtype=np.intp)
        parts = self.ranking.parts(best, wishes)
        return tuple(
            self._node_score(Scored(position, part, float(finals[position])))
            for part, position in zip(parts, best.tolist(), strict=True)
        )

    def _node_score(self, scored: Scored) -> NodeScore:
        return NodeScore(
            node_id=self.node_id(scored.position),
            scores={PENALTY_NAME: 0.0, **scored.parts},
            norm_score=scored.final,
        )

    def _tally(self) -> Tally:
        """What happens to all nodes as things are now."""
        found, field = self.found, self.ranking.field
        filtered = found.filtered(job_seen=self._job_seen, group_seen=self._group_seen, seen=self._seen)
        tally = Tally(
            evaluated=found.base.nodes,
            filtered=filtered.nodes,
            class_filtered=dict(filtered.node_classes),
            constraint_filtered=dict(filtered.labels),
        )
        if self.is_simple and self.ranking.fits.all():
            return tally
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
        if self._within is not None:
            closed = ~self._within & ~turned_away
            self._count_filtered(tally, volumes.LABEL, field.slots[closed])
            turned_away |= closed
        full = np.flatnonzero(~self.ranking.fits & ~turned_away)
        if len(full):
            self._explain_lacks(full)
            count_exhausted(tally, field, full, {**self._lacks, **self.refused})
        return tally

    def _explain_lacks(self, full: NDArray[np.intp]) -> None:
        """Find out which nodes without room could not give ports, devices or cores either.

        That stays so while the group is placed: nothing is freed meanwhile.
        """
        doubtful = self.assigner.may_refuse(self.slots[full])
        for position in full[doubtful][:LACKS_EXPLAINED_MAX].tolist():
            if position in self._asked or position in self.refused:
                continue
            self._asked.add(position)
            given = self.assigner.give(int(self.slots[position]))
            if not isinstance(given, Given):
                self._lacks[position] = given

    def _count_filtered(self, tally: Tally, label: str, slots: NDArray[np.intp]) -> None:
        if not len(slots):
            return
        tally.filter(label, len(slots))
        classes = self._view.columns.node_classes
        for code, count in enumerate(np.bincount(classes.column[slots]).tolist()):
            if code and count:
                name = classes.texts[code]
                tally.class_filtered[name] = tally.class_filtered.get(name, 0) + count

    def _refuse_without_devices(self) -> None:
        """Take nodes out of the race at once that have too few free devices: there may be many."""
        if self.ask.devices:
            enough = may_have_devices(self._view, self.ask.devices, self.slots)
            for position in np.flatnonzero(~enough).tolist():
                self.refuse(position, NO_DEVICES)

    def _score_devices(self) -> Floats | None:
        if not any(request.affinities for _, request in self.ask.devices):
            return None
        return np.asarray(
            [self._device_score(position) for position in range(len(self.slots))],
            dtype=np.float64,
        )

    def _device_score(self, position: int) -> float:
        given = self.assigner.give(int(self.slots[position]))
        return (given.device_score or 0.0) if isinstance(given, Given) else 0.0
