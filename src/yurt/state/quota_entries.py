"""The entries about quotas."""

from __future__ import annotations

from typing import TypeAlias

from yurt.model.quota import QuotaSpec
from yurt.state.entry_base import EntryBase


class UpsertQuota(EntryBase, frozen=True, kw_only=True):
    """A quota is new or replaced."""

    quota: QuotaSpec


class DeleteQuota(EntryBase, frozen=True, kw_only=True):
    """A quota is forgotten, unless a namespace has it."""

    name: str


QuotaEntry: TypeAlias = UpsertQuota | DeleteQuota
"""What becomes of quotas."""
