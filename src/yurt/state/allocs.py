"""The table of allocations."""

from __future__ import annotations

from collections.abc import Callable

from yurt.model.alloc import Allocation
from yurt.model.job import JobKey
from yurt.model.wire import AllocID, NodeID
from yurt.state.claims import Claims
from yurt.state.columns import NodeColumns
from yurt.state.grouped import Grouped
from yurt.state.quota_use import QuotaUses
from yurt.state.table import Table
from yurt.state.use import use_of
from yurt.state.watches import Watches


class Allocs(Table[AllocID, Allocation]):
    """Allocations by id, with indexes by node and by job.

    Watch families besides the table's: "allocs-of-job", "allocs-of-node".
    """

    def __init__(self, watches: Watches, columns: NodeColumns) -> None:
        super().__init__("allocs", watches)
        self._columns = columns
        self._by_node: Grouped[NodeID, AllocID] = Grouped()
        self._by_job: Grouped[JobKey, AllocID] = Grouped()
        self._live: dict[JobKey, int] = {}
        self.quota_uses = QuotaUses()
        self.claims = Claims(self.of_node)
        # Told when an allocation has ended for good or is forgotten.
        self.on_ended: Callable[[AllocID, int], None] = lambda _alloc_id, _index: None
        # What the servers changed and nobody has taken yet; None while nobody asks.
        self._changes: list[tuple[AllocID, NodeID]] | None = None
        columns.allocs_of = self.of_node
        self._job_family = watches.family("allocs-of-job")
        self._node_family = watches.family("allocs-of-node")

    def of_node(self, node_id: NodeID) -> list[Allocation]:
        """All allocations of a node, terminal ones included."""
        return [self._rows[alloc_id] for alloc_id in self._by_node.of(node_id)]

    def of_job(self, key: JobKey) -> list[Allocation]:
        """All allocations of a job, terminal ones included, oldest first."""
        return [self._rows[alloc_id] for alloc_id in self._by_job.of(key)]

    def live_of_job(self, key: JobKey) -> int:
        """How many allocations of a job are not terminal."""
        return self._live.get(key, 0)

    def track_changes(self) -> None:
        """Begin to keep what the servers change, for `take_changes`."""
        if self._changes is None:
            self._changes = []

    def take_changes(self) -> list[tuple[AllocID, NodeID]]:
        """The allocations that servers changed or dropped since the last call, with their nodes."""
        changes, self._changes = self._changes or [], []
        return changes

    def put_new(self, allocs: list[Allocation], index: int) -> None:
        """Add fresh allocations of one job that share `resources`, in bulk."""
        if not allocs:
            return
        key = allocs[0].job_key
        rows, by_node, by_job = self._rows, self._by_node, self._by_job
        if self._changes is not None:
            self._changes.extend([(alloc.id, alloc.node_id) for alloc in allocs])
        for alloc in allocs:
            rows[alloc.id] = alloc
            by_node.add(alloc.node_id, alloc.id)
            by_job.add(key, alloc.id)
            self._touch(alloc, key)
        resources = allocs[0].resources
        self._columns.use_each([alloc.node_id for alloc in allocs], resources)
        if claims := use_of(resources).claims:
            for alloc in allocs:
                self.claims.change(alloc.node_id, claims, 1)
        self._live[key] = self._live.get(key, 0) + len(allocs)
        if self.quota_uses.is_needed:
            self.quota_uses.count(key.namespace, resources, len(allocs))
        self._table_changed(index)

    def put(self, key: AllocID, row: Allocation, index: int) -> None:
        """Set one allocation. Its job and node never change."""
        old = self._rows.get(key)
        self._rows[key] = row
        job_key = row.job_key
        if old is None:
            self._by_node.add(row.node_id, key)
            self._by_job.add(job_key, key)
        if old is None or not _same_use(old, row):
            if old is not None:
                self._count(old, job_key, -1)
            self._count(row, job_key, 1)
            if row.is_client_terminal:
                self.on_ended(key, index)
        # A report of the node itself is no news to it.
        if self._changes is not None and row.alloc_modify_index == index:
            self._changes.append((key, row.node_id))
        self._touch(row, job_key)
        self._table_changed(index)

    def delete(self, key: AllocID, index: int) -> Allocation | None:
        """Remove one allocation."""
        row = self._rows.pop(key, None)
        if row is None:
            return None
        job_key = row.job_key
        self._by_node.discard(row.node_id, key)
        self._by_job.discard(job_key, key)
        self._count(row, job_key, -1)
        self.on_ended(key, index)
        if self._changes is not None:
            self._changes.append((key, row.node_id))
        self._touch(row, job_key, is_deleted=True)
        self._table_changed(index)
        return row

    def _count(self, row: Allocation, job_key: JobKey, times: int) -> None:
        """Count what a row uses, and that it is live, `times` times more."""
        if row.is_client_terminal:
            return
        self._columns.change(row.node_id, row, times)
        if claims := use_of(row.resources).claims:
            self.claims.change(row.node_id, claims, times)
        if not row.is_server_terminal:
            self._add_live(job_key, times)
            if self.quota_uses.is_needed:
                self.quota_uses.count(job_key.namespace, row.resources, times)

    def _add_live(self, key: JobKey, by: int) -> None:
        live = self._live.get(key, 0) + by
        assert live >= 0, f"job {key} has {live} live allocations"
        if live:
            self._live[key] = live
        else:
            del self._live[key]

    def _touch(self, row: Allocation, job_key: JobKey, *, is_deleted: bool = False) -> None:
        watches = self._watches
        if watches.journal is not None:
            watches.journal.note(self.name, row.id, row, is_deleted=is_deleted)
        watches.touch(self._family, row.id)
        watches.touch(self._job_family, job_key)
        watches.touch(self._node_family, row.node_id)

    def _table_changed(self, index: int) -> None:
        self.index = index
        self._watches.touch(self._family, None)


def _same_use(old: Allocation, new: Allocation) -> bool:
    """Whether two versions of an allocation use the same, and are alike in being live."""
    return (
        old.resources is new.resources
        and old.is_client_terminal == new.is_client_terminal
        and old.is_server_terminal == new.is_server_terminal
    )
