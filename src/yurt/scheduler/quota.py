"""Quotas: how much room there is for a job's namespace, and whether a plan stays within it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from yurt.model.alloc_metric import AllocMetric
from yurt.model.group import TaskGroup
from yurt.model.job import Job
from yurt.model.plan import PlanChanges
from yurt.model.quota import QuotaResources
from yurt.model.scheduler_configuration import SchedulerConfiguration
from yurt.model.wire import AllocID
from yurt.scheduler.ask import ask_of
from yurt.scheduler.configuration import effective_configuration
from yurt.scheduler.requests import PlacedGroup, PlaceRequest
from yurt.scheduler.view import View
from yurt.state.quota_use import (
    NOTHING,
    Q_CORES,
    Q_NAMES,
    QuotaAmounts,
    device_key,
    quota_amounts,
)
from yurt.state.use import DeviceKey


class QuotaRefusal(msgspec.Struct, frozen=True, kw_only=True):
    """The quota that is used up, and what of it, in words."""

    quota: str
    exhausted: tuple[str, ...]


def admitted(
    view: View,
    job: Job,
    group: TaskGroup,
    requests: Sequence[PlaceRequest],
    configuration: SchedulerConfiguration,
) -> tuple[Sequence[PlaceRequest], QuotaRefusal | None]:
    """The first of `requests` for which the quota of the job's namespace has room, and why no more have.

    What a request replaces is freed by it.
    """
    limits = _limits(view, job.namespace, job.region)
    if limits is None:
        return requests, None
    quota, limit = limits
    effective = effective_configuration(view.state, job, configuration)
    ask = _asked(group, oversubscribe=effective.memory_oversubscription_enabled)
    used = view.quota_used(quota)
    for number, request in enumerate(requests):
        added = ask
        replaced = request.replaces
        if replaced is not None and not replaced.is_terminal and not view.is_stopped(replaced.id):
            added = ask.plus(quota_amounts(replaced.resources), -1)
        exhausted = _exhausted(limit, used, added)
        if exhausted:
            return requests[:number], QuotaRefusal(quota=quota, exhausted=exhausted)
        used = used.plus(added)
    return requests, None


def with_refused(outcome: PlacedGroup, refused: Sequence[PlaceRequest], refusal: QuotaRefusal) -> PlacedGroup:
    """An outcome in which further requests found no room in their quota.

    Where nodes lacked room already, that is what the evaluation waits for.
    """
    more = len(refused)
    if outcome.failure is not None:
        failure = msgspec.structs.replace(
            outcome.failure, coalesced_failures=outcome.failure.coalesced_failures + more
        )
        return msgspec.structs.replace(outcome, failure=failure, exhausted=(*outcome.exhausted, *refused))
    return msgspec.structs.replace(
        outcome,
        failure=AllocMetric(quota_exhausted=refusal.exhausted, coalesced_failures=more - 1),
        quota=refusal.quota,
        exhausted=(*outcome.exhausted, *refused),
    )


def over_quota(view: View, changes: PlanChanges) -> str:
    """The first quota that a plan would exceed; empty if none.

    A plan that does not add to what is used up already is within it: quotas may be lowered.
    """
    if not view.state.quota_uses.is_needed:
        return ""
    for (quota, region), added in _added(view, changes).items():
        spec = view.state.quotas.get(quota)
        limit = spec.limit_in(region) if spec is not None else None
        if limit is not None and _exhausted(limit, view.quota_used(quota), added):
            return quota
    return ""


def _limits(view: View, namespace: str, region: str) -> tuple[str, QuotaResources] | None:
    quota = view.state.quota_uses.quota_of(namespace)
    spec = view.state.quotas.get(quota) if quota else None
    limit = spec.limit_in(region) if spec is not None else None
    return (quota, limit) if limit is not None else None


def _asked(group: TaskGroup, *, oversubscribe: bool) -> QuotaAmounts:
    ask = ask_of(group, oversubscribe=oversubscribe)
    amounts = list(quota_amounts(ask.resources).amounts)
    amounts[Q_CORES] = ask.cores_count
    devices: dict[DeviceKey, int] = {}
    for _, request in ask.devices:
        key = device_key(request.name)
        devices[key] = devices.get(key, 0) + request.count
    return QuotaAmounts(tuple(amounts), tuple(sorted(devices.items())))


def _exhausted(limit: QuotaResources, used: QuotaAmounts, added: QuotaAmounts) -> tuple[str, ...]:
    """What would be used beyond the limit, of what is added to."""
    caps = (limit.cpu, limit.cores, limit.memory_mb, limit.memory_max_mb, limit.allocations)
    found = [
        _words(name, has + more, cap)
        for name, cap, has, more in zip(Q_NAMES, caps, used.amounts, added.amounts, strict=True)
        if cap and more > 0 and has + more > max(cap, 0)
    ]
    for device in limit.devices or ():
        has, more = used.devices_named(device.name), added.devices_named(device.name)
        if more > 0 and has + more > device.count:
            found.append(_words(f"device {device.name}", has + more, device.count))
    return tuple(found)


def _words(name: str, needed: int, cap: int) -> str:
    return f"{name} exhausted ({needed} needed > {max(cap, 0)} limit)"


def _added(view: View, changes: PlanChanges) -> dict[tuple[str, str], QuotaAmounts]:
    """What a plan adds to the use of quotas, less what it frees, by quota and region."""
    uses, allocs = view.state.quota_uses, view.state.allocs
    added: dict[tuple[str, str], QuotaAmounts] = {}

    def count(namespace: str, region: str, more: QuotaAmounts, times: int) -> None:
        quota = uses.quota_of(namespace)
        if quota:
            added[quota, region] = added.get((quota, region), NOTHING).plus(more, times)

    leaving: dict[AllocID, None] = {}
    for stop in changes.stops:
        leaving |= dict.fromkeys(stop.ids)
    leaving |= {preemption.id: None for preemption in changes.preemptions}
    for alloc_id in leaving:
        alloc = allocs.get(alloc_id)
        if alloc is not None and not alloc.is_terminal and not view.is_stopped(alloc_id):
            count(alloc.namespace, alloc.job.region, quota_amounts(alloc.resources), -1)
    for update in changes.updates:
        alloc = allocs.get(update.id)
        if alloc is not None and update.resources is not None and not alloc.is_terminal:
            count(alloc.namespace, alloc.job.region, quota_amounts(alloc.resources), -1)
            count(alloc.namespace, alloc.job.region, quota_amounts(update.resources), 1)
    for placements in changes.placements:
        job = view.state.jobs.version(placements.job)
        if job is None:
            continue
        special = [one.resources for one in placements.details.values() if one.resources is not None]
        for resources in special:
            count(job.namespace, job.region, quota_amounts(resources), 1)
        plain = len(placements.ids) - len(special)
        if plain:
            count(job.namespace, job.region, quota_amounts(placements.resources), plain)
    return added
