"""A container's limits of memory, CPU and processes, as Docker wants them written."""

from __future__ import annotations

import os
from typing import Any

from yurt.agent.drivers.docker.config import DockerConfig
from yurt.agent.drivers.docker.options import DockerOptions
from yurt.agent.drivers.driver import DriverError, TaskResources

_MIB = 1 << 20
# The kernel's bounds of cpu.shares.
_SHARES_MIN, _SHARES_MAX = 2, 262_144
_PERIOD_US_DEFAULT, _PERIOD_US_MAX = 100_000, 1_000_000
_NO_LIMIT = -1


def memory(resources: TaskResources, config: DockerConfig, *, has_swappiness: bool) -> dict[str, Any]:
    """With a hard limit above it, the task's memory is what it gets when the machine is short of it.

    Swap is off: the limit for both is the limit of memory.
    """
    hard_mb, reserved_mb = resources.memory_mb, 0
    if resources.memory_max_mb == _NO_LIMIT:
        hard_mb, reserved_mb = 0, resources.memory_mb
    elif above_mb := max(config.memory_hard_limit, resources.memory_max_mb):
        hard_mb, reserved_mb = above_mb, resources.memory_mb
    limits: dict[str, Any] = {"Memory": hard_mb * _MIB, "MemoryReservation": reserved_mb * _MIB}
    if hard_mb:
        limits["MemorySwap"] = hard_mb * _MIB
    if has_swappiness:
        limits["MemorySwappiness"] = 0
    return limits


def cpu(resources: TaskResources, config: DockerConfig) -> dict[str, Any]:
    """Shares are MHz, scaled down where a node has more of them than the kernel can write."""
    shares, total = resources.cpu_shares, resources.node_cpu_shares
    if total > _SHARES_MAX:
        shares = shares * _SHARES_MAX // total
    limits: dict[str, Any] = {"CpuShares": max(shares, _SHARES_MIN)}
    if resources.cores:
        limits["CpusetCpus"] = ",".join(str(core) for core in resources.cores)
    if config.cpu_hard_limit:
        period = config.cpu_cfs_period or _PERIOD_US_DEFAULT
        if not 0 < period <= _PERIOD_US_MAX:
            raise DriverError(f"invalid value for cpu_cfs_period: {period} is not in 0 to {_PERIOD_US_MAX}")
        part = resources.cpu_shares / total if total else 1.0
        limits["CpuPeriod"] = period
        limits["CpuQuota"] = int(part * period * (os.cpu_count() or 1))
    return limits


def pids(config: DockerConfig, options: DockerOptions) -> dict[str, Any]:
    """The task's limit, at most the operator's."""
    if options.pids_limit > 0 and config.pids_limit > options.pids_limit:
        raise DriverError(
            f"pids_limit cannot be greater than nomad plugin config pids_limit: {options.pids_limit}"
        )
    limit = config.pids_limit or options.pids_limit
    return {"PidsLimit": limit} if limit > 0 else {}


def ulimits(config: DockerConfig) -> list[dict[str, Any]]:
    """Limits of the kernel by name, written `soft:hard` or as one number."""
    limits = []
    for name, text in config.ulimit.items():
        soft, colon, hard = text.partition(":")
        try:
            limits.append({"Name": name, "Soft": int(soft), "Hard": int(hard if colon else soft)})
        except ValueError:
            raise DriverError(
                f'invalid ulimit: {name} = "{text}" is neither a number nor of the form soft:hard'
            ) from None
    return limits
