"""Blocked evaluations: who waits for capacity, and who may try again."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from yurt.model.evaluation import TRIGGER_MAX_PLAN_ATTEMPTS, Evaluation
from yurt.model.job import SYSTEM, JobKey
from yurt.model.wire import NodeID

UNBLOCKS_REMEMBERED_S = 15 * 60.0


class BlockedEvals:
    """At most one waiting evaluation per job (per job and node for system jobs).

    `release` is called with each evaluation that may try again. Knows no clock: callers pass `now`.
    """

    def __init__(self, release: Callable[[Evaluation], None]) -> None:
        self._release = release
        self.clear()

    def clear(self) -> None:
        """Forget every evaluation."""
        self._captured: dict[JobKey, Evaluation] = {}
        self._escaped: dict[JobKey, Evaluation] = {}
        self._by_node: dict[NodeID, dict[JobKey, Evaluation]] = {}
        # What was unblocked at which index, for evaluations that looked at an older State.
        self._unblocked: dict[str, tuple[int, float]] = {}
        self.duplicates: list[Evaluation] = []

    def block(self, evaluation: Evaluation) -> None:
        """Track an evaluation, or release it at once if capacity came while it was looking."""
        key = JobKey(evaluation.namespace, evaluation.job_id)
        if evaluation.type == SYSTEM and evaluation.node_id and not evaluation.escaped_computed_class:
            self._block_on_node(key, evaluation)
            return
        tracked = self._captured.get(key) or self._escaped.get(key)
        if tracked is not None and tracked.id != evaluation.id:
            if _seen(tracked) > _seen(evaluation):
                self.duplicates.append(evaluation)
                return
            self.duplicates.append(tracked)
        self._captured.pop(key, None)
        self._escaped.pop(key, None)
        if self._missed_unblock(evaluation):
            self._release(evaluation)
        elif evaluation.escaped_computed_class:
            self._escaped[key] = evaluation
        else:
            self._captured[key] = evaluation

    def untrack(self, key: JobKey) -> None:
        """Forget a job's evaluations: it has everything it asked for."""
        self._captured.pop(key, None)
        self._escaped.pop(key, None)
        for node_id in [node_id for node_id, evals in self._by_node.items() if key in evals]:
            self._drop_from_node(node_id, key)

    def unblock_class(self, computed_class: str, index: int, *, now: float) -> None:
        """Capacity appeared on a node of `computed_class` at `index`.

        Who waits for a quota alone has no use for it.
        """
        self._unblocked[computed_class] = (index, now)
        self._release_from(self._escaped, list(self._escaped))
        for tracked in (self._captured, *self._by_node.values()):
            self._release_from(
                tracked,
                [
                    key
                    for key, evaluation in tracked.items()
                    if not evaluation.quota_limit_reached and _may_use(evaluation, computed_class)
                ],
            )
        self._by_node = {node_id: evals for node_id, evals in self._by_node.items() if evals}

    def unblock_node(self, node_id: NodeID) -> None:
        """Capacity appeared on one node, for system jobs that wait for it, whatever its class."""
        tracked = self._by_node.get(node_id, {})
        keys = [key for key, evaluation in tracked.items() if not evaluation.quota_limit_reached]
        self._release_from(tracked, keys)
        if not tracked:
            self._by_node.pop(node_id, None)

    def unblock_quota(self, quota: str, index: int, *, now: float) -> None:
        """A quota grew or was freed."""
        self._unblocked[quota] = (index, now)
        self._release_from(
            self._captured,
            [
                key
                for key, evaluation in self._captured.items()
                if evaluation.quota_limit_reached in ("", quota)
            ],
        )
        for tracked in self._by_node.values():
            keys = [key for key, evaluation in tracked.items() if evaluation.quota_limit_reached == quota]
            self._release_from(tracked, keys)
        self._by_node = {node_id: evals for node_id, evals in self._by_node.items() if evals}

    def unblock_failed(self) -> None:
        """Let those try again that lost too many races."""
        for tracked in (self._captured, self._escaped):
            self._release_from(
                tracked,
                [k for k, e in tracked.items() if e.triggered_by == TRIGGER_MAX_PLAN_ATTEMPTS],
            )

    def forget_old_unblocks(self, *, now: float) -> None:
        """Drop memories that no evaluation in flight can still need."""
        self._unblocked = {
            key: (index, at)
            for key, (index, at) in self._unblocked.items()
            if at > now - UNBLOCKS_REMEMBERED_S
        }

    def take_duplicates(self) -> list[Evaluation]:
        """Hand over the evaluations that a newer one of the same job made needless."""
        duplicates, self.duplicates = self.duplicates, []
        return duplicates

    def stats(self) -> dict[str, int]:
        """How many evaluations wait."""
        on_nodes = sum(len(evals) for evals in self._by_node.values())
        return {
            "total_blocked": len(self._captured) + len(self._escaped) + on_nodes,
            "total_escaped": len(self._escaped),
            "total_quota_limit": sum(bool(one.quota_limit_reached) for one in self._captured.values()),
        }

    def _block_on_node(self, key: JobKey, evaluation: Evaluation) -> None:
        older = self._by_node.setdefault(evaluation.node_id, {}).get(key)
        if older is not None and older.id != evaluation.id:
            self.duplicates.append(older)
        if self._missed_unblock(evaluation):
            self._drop_from_node(evaluation.node_id, key)
            self._release(evaluation)
        else:
            self._by_node[evaluation.node_id][key] = evaluation

    def _drop_from_node(self, node_id: NodeID, key: JobKey) -> None:
        evals = self._by_node[node_id]
        evals.pop(key, None)
        if not evals:
            del self._by_node[node_id]

    def _release_from(self, tracked: dict[JobKey, Evaluation], keys: Iterable[JobKey]) -> None:
        for key in keys:
            self._release(tracked.pop(key))

    def _missed_unblock(self, evaluation: Evaluation) -> bool:
        quota = evaluation.quota_limit_reached
        if quota:
            return quota in self._unblocked and evaluation.snapshot_index < self._unblocked[quota][0]
        return any(
            evaluation.snapshot_index < index
            and (evaluation.escaped_computed_class or _may_use(evaluation, name))
            for name, (index, _) in self._unblocked.items()
        )


def _may_use(evaluation: Evaluation, computed_class: str) -> bool:
    """Whether nodes of a class are not known to be unfit."""
    return (evaluation.class_eligibility or {}).get(computed_class, True)


def _seen(evaluation: Evaluation) -> int:
    """How new the State was that the evaluation last looked at."""
    return max(evaluation.create_index, evaluation.snapshot_index)
