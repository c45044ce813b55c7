"""Applying changes of quotas."""

from __future__ import annotations

from msgspec.structs import replace

from yurt.state.quota_entries import DeleteQuota, QuotaEntry, UpsertQuota
from yurt.state.state import State


def apply_quota_entry(state: State, index: int, entry: QuotaEntry) -> bool:
    """Apply one such entry; see `yurt.state.apply`. False if nothing came of it."""
    if isinstance(entry, DeleteQuota):
        return _delete(state, index, entry)
    _upsert(state, index, entry)
    return True


def _upsert(state: State, index: int, entry: UpsertQuota) -> None:
    """Store a quota whole; whoever waits for it may look again."""
    quota = entry.quota
    old = state.quotas.get(quota.name)
    created = old.create_index if old is not None else index
    state.quotas.put(quota.name, replace(quota, create_index=created, modify_index=index), index)
    state.quota_uses.note_changed(quota.name)


def _delete(state: State, index: int, entry: DeleteQuota) -> bool:
    """Forget a quota that no namespace has; False if there is none, or one has it."""
    if state.quota_uses.namespaces_of(entry.name):
        return False
    return state.quotas.delete(entry.name, index) is not None
