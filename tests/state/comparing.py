"""Whether two States are the same, and whether one agrees with itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec
import numpy as np

from yurt.model.alloc import Allocation
from yurt.model.job import JobKey
from yurt.state.apply import apply
from yurt.state.columns import NodeColumns
from yurt.state.entries import decode_entry
from yurt.state.quota_use import QuotaAmounts, quota_amounts
from yurt.state.state import State
from yurt.state.table import Table
from yurt.state.use import DIMENSIONS, Claim, use_of


def tables(state: State) -> tuple[Table[Any, Any], ...]:
    """Every table of a State."""
    owners = (state, state.acl)
    found = tuple(part for owner in owners for part in vars(owner).values() if isinstance(part, Table))
    assert len(found) == 29, "a table was added: snapshots and these tests must know it"
    return found


def assert_same_state(first: State, second: State) -> None:
    """Compare everything two States hold: tables in their order, indexes by job and node, columns."""
    assert first.index == second.index
    for one, other in zip(tables(first), tables(second), strict=True):
        assert one.name == other.name
        assert one.index == other.index, one.name
        assert one.rows() == other.rows(), one.name
    assert first.jobs.versions == second.jobs.versions
    for job in first.jobs:
        assert first.jobs.children_of(job.key) == second.jobs.children_of(job.key)
    keys = {alloc.job_key for alloc in first.allocs} | {job.key for job in first.jobs}
    for key in keys:
        assert first.allocs.of_job(key) == second.allocs.of_job(key)
        assert first.allocs.live_of_job(key) == second.allocs.live_of_job(key)
        assert first.evals.of_job(key) == second.evals.of_job(key)
        assert first.evals.open_of_job(key) == second.evals.open_of_job(key)
        assert first.deployments.of_job(key) == second.deployments.of_job(key)
        assert first.scaling_policies.of_job(key) == second.scaling_policies.of_job(key)
        assert first.services.of_job(key) == second.services.of_job(key)
    for alloc in first.allocs:
        assert first.services.of_alloc(alloc.id) == second.services.of_alloc(alloc.id)
    assert first.nodes.alloc_reports == second.nodes.alloc_reports
    for node in first.nodes:
        assert first.allocs.of_node(node.id) == second.allocs.of_node(node.id)
        assert first.allocs.claims.of(node.id) == second.allocs.claims.of(node.id)
    for namespace in {variable.namespace for variable in first.variables}:
        assert first.variables.bytes_of(namespace) == second.variables.bytes_of(namespace)
    assert described_columns(first.columns) == described_columns(second.columns)


def assert_counts_agree(state: State) -> None:
    """Compare what State keeps counted with a plain recount of its allocations."""
    allocs = state.allocs.rows()
    live = Counter(alloc.job_key for alloc in allocs if not alloc.is_terminal)
    for key in {alloc.job_key for alloc in allocs} | {job.key for job in state.jobs}:
        assert state.allocs.live_of_job(key) == live[key]
        assert state.allocs.of_job(key) == [alloc for alloc in allocs if alloc.job_key == key]
    evals = state.evals.rows()
    for key in {JobKey(one.namespace, one.job_id) for one in evals}:
        own = [one for one in evals if JobKey(one.namespace, one.job_id) == key]
        assert state.evals.of_job(key) == own
        assert state.evals.open_of_job(key) == [one for one in own if not one.is_terminal]
    for namespace in {variable.namespace for variable in state.variables}:
        own_bytes = sum(len(one.data) for one in state.variables if one.namespace == namespace)
        assert state.variables.bytes_of(namespace) == own_bytes
    for quota in state.quotas:
        names = state.quota_uses.namespaces_of(quota.name)
        assert sorted(names) == sorted(one.name for one in state.namespaces if one.quota == quota.name)
        counted = QuotaAmounts()
        for alloc in allocs:
            if alloc.namespace in names and not alloc.is_terminal:
                counted = counted.plus(quota_amounts(alloc.resources))
        assert state.quota_uses.used(quota.name) == counted
    for service in state.services:
        assert not state.allocs[service.alloc_id].is_client_terminal
        assert service in state.services.of_alloc(service.alloc_id)
        assert service in state.services.named(service.namespace, service.service_name)
    for key, versions in state.jobs.versions.items():
        kept = {version.version for version in versions}
        assert {one.version for one in state.submissions if one.job_id == key.id} <= kept
        wanted = [group.scaling for group in versions[0].task_groups if group.scaling is not None]
        assert state.scaling_policies.of_job(key) == wanted
    for node in state.nodes:
        own_allocs = [alloc for alloc in allocs if alloc.node_id == node.id]
        assert state.allocs.of_node(node.id) == own_allocs
        running = [alloc for alloc in own_allocs if not alloc.is_client_terminal]
        slot = state.columns.slots[node.id]
        assert state.columns.used[:, slot].tolist() == _summed(running)
        stopping = [alloc for alloc in running if alloc.is_server_terminal]
        assert state.columns.stopping[:, slot].tolist() == _summed(stopping)
        assert bool(state.columns.ready[slot]) == node.is_ready
        held: Counter[Claim] = Counter()
        for alloc in running:
            held.update(use_of(alloc.resources).claims)
        assert state.allocs.claims.of(node.id) == dict(held)
        for device, column in state.columns.devices_used.items():
            counts = [dict(use_of(alloc.resources).devices).get(device, 0) for alloc in running]
            assert column[slot] == sum(counts)
    assert set(state.columns.slots) == {node.id for node in state.nodes}


def described_columns(columns: NodeColumns) -> dict[str, dict[str, Any]]:
    """What the columns say about each node; which slot a node has does not matter."""
    found: dict[str, dict[str, Any]] = {}
    for node_id, slot in sorted(columns.slots.items()):
        node = columns.nodes[slot]
        found[node_id] = {
            "node": msgspec.to_builtins(node),
            "capacity": columns.capacity[:, slot].tolist(),
            "used": columns.used[:, slot].tolist(),
            "stopping": columns.stopping[:, slot].tolist(),
            "ready": bool(columns.ready[slot]),
            "devices": {
                "/".join(key): int(column[slot])
                for key, column in sorted(columns.devices_used.items())
                if column[slot]
            },
            "texts": [
                codes.texts[codes.column[slot]]
                for codes in (
                    columns.datacenters,
                    columns.node_pools,
                    columns.node_classes,
                    columns.computed_classes,
                )
            ],
        }
    return found


def described(state: State) -> dict[str, Any]:
    """All of a State as plain JSON values, to be kept in a file."""
    return {
        "index": state.index,
        "tables": {
            table.name: {"index": table.index, "rows": [_plain(row) for row in table]}
            for table in tables(state)
        },
        "job_versions": [[_plain(job) for job in state.jobs.versions[current.key]] for current in state.jobs],
        "live": {job.id: state.allocs.live_of_job(job.key) for job in state.jobs},
        "columns": described_columns(state.columns),
    }


def replayed(encoded: Iterable[bytes], state: State | None = None) -> State:
    """Apply encoded entries, as a restart does."""
    state = state or State()
    for entry in encoded:
        apply(state, state.index + 1, decode_entry(entry))
    return state


def _plain(row: Any) -> Any:
    plain = msgspec.to_builtins(row)
    if isinstance(row, Allocation):
        plain["job"] = f"{row.job.id} version {row.job.version} of {row.job.create_index}"
    return plain


def _summed(allocs: Iterable[Allocation]) -> list[int]:
    total = np.zeros(DIMENSIONS, dtype=np.int64)
    for alloc in allocs:
        total += np.asarray(use_of(alloc.resources).amounts)
    return [int(amount) for amount in total]
