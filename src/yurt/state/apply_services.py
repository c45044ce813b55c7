"""Applying changes of service registrations."""

from __future__ import annotations

from msgspec.structs import replace

from yurt.state.entries import DeleteServices, UpsertServices
from yurt.state.state import State


def upsert_services(state: State, index: int, entry: UpsertServices) -> None:
    """Store registrations that are new or changed; those of allocations that have ended are dropped."""
    for service in entry.services:
        alloc = state.allocs.get(service.alloc_id)
        if alloc is None or alloc.is_client_terminal:
            continue
        old = state.services.get(service.id)
        if old is not None and old == replace(
            service, create_index=old.create_index, modify_index=old.modify_index
        ):
            continue
        created = old.create_index if old is not None else index
        state.services.put(service.id, replace(service, create_index=created, modify_index=index), index)


def delete_services(state: State, index: int, entry: DeleteServices) -> bool:
    """Remove registrations; says whether there were any."""
    return any([state.services.delete(service_id, index) is not None for service_id in entry.service_ids])
