"""Quotas: how much the jobs of some namespaces may use together."""

from __future__ import annotations

import re

from yurt.model.resources import RequestedDevice
from yurt.model.wire import SparseWire, Wire

QUOTA_NAME_PATTERN = "^[a-zA-Z0-9-]{1,128}$"
DESCRIPTION_LENGTH_MAX = 256
LIMITS_MAX = 64
DEVICES_MAX = 64

_NAME = re.compile(r"[a-zA-Z0-9-]{1,128}")
_DEVICE_PARTS_MAX = 3


class QuotaStorage(Wire, frozen=True, kw_only=True):
    """What may be stored, in MB; 0 is any amount, less is nothing."""

    variables_mb: int = 0
    host_volumes_mb: int = 0


class QuotaResources(Wire, frozen=True, kw_only=True):
    """Limits or use of resources. As a limit, 0 is any amount, and less than 0 nothing at all.

    `cpu` is what tasks without cores of their own may use; `allocations` is how many may run.
    """

    cpu: int = 0
    cores: int = 0
    memory_mb: int = 0
    memory_max_mb: int = 0
    devices: tuple[RequestedDevice, ...] | None = None
    storage: QuotaStorage | None = None
    allocations: int = 0


class QuotaLimit(SparseWire, frozen=True, kw_only=True):
    """The limits in one region."""

    region: str = ""
    region_limit: QuotaResources | None = None
    hash: bytes | None = None


class QuotaSpec(Wire, frozen=True, kw_only=True):
    """A quota that namespaces may share."""

    name: str = ""
    description: str = ""
    limits: tuple[QuotaLimit, ...] | None = None
    create_index: int = 0
    modify_index: int = 0

    def limit_in(self, region: str) -> QuotaResources | None:
        """The limits in a region; None where there are none."""
        return next((one.region_limit for one in self.limits or () if one.region == region), None)


class QuotaUsage(Wire, frozen=True, kw_only=True):
    """What the namespaces of a quota use, by the hash of its limit in base64."""

    name: str
    used: dict[str, QuotaLimit]
    create_index: int = 0
    modify_index: int = 0


def quota_problems(spec: QuotaSpec) -> list[str]:
    """Say what is wrong with a quota."""
    problems = []
    if _NAME.fullmatch(spec.name) is None:
        problems.append(f'invalid name "{spec.name}". Must match regex {QUOTA_NAME_PATTERN}')
    if len(spec.description) > DESCRIPTION_LENGTH_MAX:
        problems.append(f"description longer than {DESCRIPTION_LENGTH_MAX}")
    limits = spec.limits or ()
    if not limits:
        problems.append("must provide at least one quota limit")
    if len(limits) > LIMITS_MAX:
        problems.append(f"{len(limits)} limits; a quota has at most {LIMITS_MAX}, one for each region")
    regions = [limit.region for limit in limits]
    problems += [
        f'region "{name}" has two limits' for name in sorted(set(regions)) if regions.count(name) > 1
    ]
    for limit in limits:
        if not limit.region:
            problems.append("quota limit must have a region")
        problems += _device_problems(limit)
        storage = limit.region_limit.storage if limit.region_limit is not None else None
        if storage is not None and storage.host_volumes_mb:
            problems.append("HostVolumesMB is not enforced; leave it 0")
    return problems


def _device_problems(limit: QuotaLimit) -> list[str]:
    devices = (limit.region_limit.devices if limit.region_limit is not None else None) or ()
    problems = []
    if len(devices) > DEVICES_MAX:
        problems.append(f"{len(devices)} devices; a limit has at most {DEVICES_MAX}")
    for device in devices:
        parts = device.name.split("/")
        if not device.name or len(parts) > _DEVICE_PARTS_MAX or not all(parts):
            problems.append(f'device "{device.name}" must be a type, vendor/type or vendor/type/name')
    return problems
