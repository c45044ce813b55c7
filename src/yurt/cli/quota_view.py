"""How quotas and their use are shown."""

from yurt.cli.layout import key_list, table
from yurt.sdk.quotas import Quota, Resources, Storage, Usage

UNLIMITED = "inf"


def quota_keys(quota: Quota) -> str:
    """A quota in short."""
    return key_list([("Name", quota.name), ("Description", quota.description), ("Limits", len(quota.limits))])


def limit_table(quota: Quota, usage: Usage) -> str:
    """What is used of each limit, by region."""
    rows: list[list[object]] = [
        [
            "Region",
            "CPU Usage",
            "Core Usage",
            "Memory Usage",
            "Memory Max Usage",
            "Variables Usage",
            "Allocations",
        ]
    ]
    for limit in quota.limits:
        most, used = limit.region_limit or Resources(), _used(usage, limit.hash)
        stored, may_store = used.storage or Storage(), most.storage or Storage()
        rows.append(
            [
                limit.region,
                _of(used.cpu, most.cpu),
                _of(used.cores, most.cores),
                _of(used.memory_mb, most.memory_mb),
                _of(used.memory_max_mb, most.memory_max_mb),
                _of(stored.variables_mb, may_store.variables_mb),
                _of(used.allocations, most.allocations),
            ]
        )
    return table(rows)


def device_table(quota: Quota, usage: Usage) -> str:
    """What is used of limits of devices; empty without any."""
    rows: list[list[object]] = []
    for limit in quota.limits:
        counts = {device.name: device.count for device in _used(usage, limit.hash).devices}
        for device in limit.region_limit.devices if limit.region_limit is not None else ():
            rows.append([limit.region, device.name, f"{counts.get(device.name, 0)} / {device.count}"])
    return table([["Region", "Device Name", "Device Usage"], *rows]) if rows else ""


def _used(usage: Usage, key: str) -> Resources:
    limit = usage.used.get(key)
    return limit.region_limit or Resources() if limit is not None else Resources()


def _of(used: int, limit: int) -> str:
    return f"{used} / {UNLIMITED if limit == 0 else max(limit, 0)}"
