"""Specifications of quotas in files."""

import json
from typing import Any

from yurt.cli.errors import CommandError
from yurt.cli.spec_file import block, parse_spec, refuse_unknown

WHAT = "quota specification"
KEYS = frozenset({"name", "description", "limit"})
LIMIT_KEYS = frozenset({"region", "region_limit"})
RESOURCES = {
    "cpu": "CPU",
    "cores": "Cores",
    "memory": "MemoryMB",
    "memory_max": "MemoryMaxMB",
    "allocations": "Allocations",
}
RESOURCE_KEYS = frozenset({*RESOURCES, "device", "storage"})
STORAGE = {"variables": "VariablesMB", "host_volumes": "HostVolumesMB"}


def quota_from_json(text: str) -> dict[str, Any]:
    """Read a quota as the API takes it. Raises `CommandError`."""
    try:
        quota = json.loads(text)
    except ValueError as error:
        raise CommandError(f"Error parsing {WHAT}: {error}") from error
    if not isinstance(quota, dict) or not quota.get("Name"):
        raise CommandError(f"Error parsing {WHAT}: it must be an object with a Name")
    return quota


def quota_from_hcl(text: str, path: str) -> dict[str, Any]:
    """Read a quota file. Raises `CommandError`."""
    body = parse_spec(text, path, WHAT)
    refuse_unknown(body, KEYS, WHAT)
    if not body.get("name"):
        raise CommandError(f'Error parsing {WHAT}: name is missing; write name = "NAME"')
    limits = body.get("limit", [])
    return {
        "Name": body["name"],
        "Description": body.get("description", ""),
        "Limits": [_limit(limit) for limit in (limits if isinstance(limits, list) else [limits])],
    }


def _limit(body: dict[str, Any]) -> dict[str, Any]:
    refuse_unknown(body, LIMIT_KEYS, WHAT)
    given = block(body, "region_limit") or {}
    refuse_unknown(given, RESOURCE_KEYS, WHAT)
    limit: dict[str, Any] = {RESOURCES[name]: given[name] for name in RESOURCES if name in given}
    devices = block(given, "device")
    if devices:
        limit["Devices"] = [
            {"Name": name, "Count": (block(devices, name) or {}).get("count", 1)} for name in devices
        ]
    storage = block(given, "storage")
    if storage:
        refuse_unknown(storage, frozenset(STORAGE), WHAT)
        limit["Storage"] = {STORAGE[name]: value for name, value in storage.items()}
    return {"Region": body.get("region", ""), "RegionLimit": limit}
