"""Calls about quotas."""

from collections.abc import Mapping
from typing import Any

from yurt.sdk.client import Answer, Client
from yurt.sdk.transport import path_segment
from yurt.sdk.wire import Record


class Device(Record, frozen=True):
    """Devices of one kind."""

    name: str = ""
    count: int = 0


class Storage(Record, frozen=True):
    """What may be stored, or is."""

    variables_mb: int = 0
    host_volumes_mb: int = 0


class Resources(Record, frozen=True):
    """Limits of resources, or their use."""

    cpu: int = 0
    cores: int = 0
    memory_mb: int = 0
    memory_max_mb: int = 0
    devices: tuple[Device, ...] = ()
    storage: Storage | None = None
    allocations: int = 0


class Limit(Record, frozen=True):
    """The limits in one region, or the use there."""

    region: str = ""
    region_limit: Resources | None = None
    hash: str = ""


class Quota(Record, frozen=True):
    """A quota."""

    name: str = ""
    description: str = ""
    limits: tuple[Limit, ...] = ()


class Usage(Record, frozen=True):
    """What a quota is used for, by the hash of its limits."""

    name: str = ""
    used: dict[str, Limit] = {}


def listing(client: Client, prefix: str = "") -> Answer[tuple[Quota, ...]]:
    """List quotas."""
    return client.get("/v1/quotas", tuple[Quota, ...], prefix=prefix)


def read(client: Client, name: str) -> Answer[Quota]:
    """Read a quota."""
    return client.get(f"/v1/quota/{path_segment(name)}", Quota)


def usage(client: Client, name: str) -> Answer[Usage]:
    """Read what a quota is used for."""
    return client.get(f"/v1/quota/usage/{path_segment(name)}", Usage)


def write(client: Client, quota: Mapping[str, Any]) -> None:
    """Create or replace a quota."""
    client.send("PUT", "/v1/quota", body=quota)


def delete(client: Client, name: str) -> None:
    """Delete a quota."""
    client.send("DELETE", f"/v1/quota/{path_segment(name)}")


def usages(client: Client, prefix: str = "") -> Answer[tuple[Usage, ...]]:
    """List what is used of all quotas."""
    return client.get("/v1/quota-usages", tuple[Usage, ...], prefix=prefix)


def replace(client: Client, name: str, quota: Mapping[str, Any]) -> None:
    """Create or replace the quota of that name, which the body must have, too."""
    client.send("PUT", f"/v1/quota/{path_segment(name)}", body=quota)
