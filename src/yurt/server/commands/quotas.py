"""Quotas: made, changed and deleted."""

from __future__ import annotations

import base64
import hashlib

import msgspec
from msgspec.structs import replace

from yurt.errors import YurtError
from yurt.model.multi_error import multi_error_text
from yurt.model.quota import (
    QuotaLimit,
    QuotaResources,
    QuotaSpec,
    QuotaStorage,
    QuotaUsage,
    quota_problems,
)
from yurt.model.resources import RequestedDevice
from yurt.server.context import ServerContext
from yurt.state.quota_entries import DeleteQuota, UpsertQuota
from yurt.state.quota_use import Q_ALLOCS, Q_CORES, Q_CPU, Q_MEMORY, Q_MEMORY_MAX
from yurt.state.state import State

BYTES_PER_MB = 1024 * 1024


class QuotaRefused(YurtError):
    """The quota cannot be stored or deleted as asked."""


class QuotaCommands:
    """What can be asked about quotas."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context

    async def upsert(self, spec: QuotaSpec) -> int:
        """Store a quota; returns the index. Raises QuotaRefused.

        One that is lower than what is in use keeps new work out; what runs goes on.
        """
        problems = quota_problems(spec)
        if problems:
            raise QuotaRefused(f'Invalid quota "{spec.name}": {multi_error_text(problems)}')
        limits = tuple(replace(limit, hash=_hash(limit)) for limit in spec.limits or ())
        entry = UpsertQuota(at=self._context.clock.now_ns(), quota=replace(spec, limits=limits))
        return (await self._context.committer.propose(entry)).index

    async def delete(self, name: str) -> int:
        """Forget a quota that no namespace has; returns the index. Raises QuotaRefused."""
        state = self._context.state
        if name not in state.quotas:
            raise QuotaRefused("quota not found")
        committed = await self._context.committer.propose(
            DeleteQuota(at=self._context.clock.now_ns(), name=name)
        )
        if not committed.outcome:
            users = ", ".join(sorted(state.quota_uses.namespaces_of(name)))
            raise QuotaRefused(
                f'quota "{name}" is used by namespaces: {users}; give them another one first, '
                "with `namespace apply -quota`"
            )
        return committed.index


def usage_of(state: State, spec: QuotaSpec, region: str) -> QuotaUsage:
    """What the namespaces of a quota use now, in the region that State is about."""
    used: dict[str, QuotaLimit] = {}
    for limit in spec.limits or ():
        shown = _used(state, spec.name, limit) if limit.region == region else QuotaResources()
        key = base64.b64encode(limit.hash or b"").decode()
        used[key] = replace(limit, region_limit=shown)
    return QuotaUsage(
        name=spec.name, used=used, create_index=spec.create_index, modify_index=spec.modify_index
    )


def _used(state: State, quota: str, limit: QuotaLimit) -> QuotaResources:
    use = state.quota_uses.used(quota)
    wanted = (limit.region_limit.devices if limit.region_limit is not None else None) or ()
    stored = sum(state.variables.bytes_of(name) for name in state.quota_uses.namespaces_of(quota))
    return QuotaResources(
        cpu=use.amounts[Q_CPU],
        cores=use.amounts[Q_CORES],
        memory_mb=use.amounts[Q_MEMORY],
        memory_max_mb=use.amounts[Q_MEMORY_MAX],
        allocations=use.amounts[Q_ALLOCS],
        devices=tuple(RequestedDevice(name=one.name, count=use.devices_named(one.name)) for one in wanted)
        or None,
        storage=QuotaStorage(variables_mb=-(-stored // BYTES_PER_MB)),
    )


def _hash(limit: QuotaLimit) -> bytes:
    plain = msgspec.json.encode(replace(limit, hash=None), order="sorted")
    return hashlib.sha256(plain).digest()
