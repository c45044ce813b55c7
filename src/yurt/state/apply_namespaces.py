"""Applying changes of namespaces and node pools."""

from __future__ import annotations

from msgspec.structs import replace

from yurt.state.entries import DeleteNamespaces, DeleteNodePools, UpsertNamespaces, UpsertNodePools
from yurt.state.state import State


def upsert_namespaces(state: State, index: int, entry: UpsertNamespaces) -> None:
    """Store namespaces whole."""
    for namespace in entry.namespaces:
        old = state.namespaces.get(namespace.name)
        created = old.create_index if old is not None else index
        state.namespaces.put(
            namespace.name, replace(namespace, create_index=created, modify_index=index), index
        )
    state.quota_uses.recount(state.namespaces, state.allocs)


def delete_namespaces(state: State, index: int, entry: DeleteNamespaces) -> None:
    """Forget namespaces."""
    for name in entry.names:
        state.namespaces.delete(name, index)
    state.quota_uses.recount(state.namespaces, state.allocs)


def upsert_node_pools(state: State, index: int, entry: UpsertNodePools) -> None:
    """Store node pools whole."""
    for pool in entry.node_pools:
        old = state.node_pools.get(pool.name)
        created = old.create_index if old is not None else index
        state.node_pools.put(pool.name, replace(pool, create_index=created, modify_index=index), index)


def delete_node_pools(state: State, index: int, entry: DeleteNodePools) -> None:
    """Forget node pools."""
    for name in entry.names:
        state.node_pools.delete(name, index)
