"""Calls about node pools."""

from collections.abc import Mapping
from typing import Any

from yurt.sdk.client import Answer, Client
from yurt.sdk.transport import Param, path_segment
from yurt.sdk.types.jobs import JobStub
from yurt.sdk.types.nodes import NodeStub
from yurt.sdk.wire import Record


class PoolScheduling(Record, frozen=True):
    """How the schedulers work in a pool."""

    scheduler_algorithm: str = ""
    memory_oversubscription_enabled: bool | None = None


class NodePool(Record, frozen=True):
    """A node pool; `node_identity_ttl` in nanoseconds."""

    name: str = ""
    description: str = ""
    meta: dict[str, str] = {}
    scheduler_configuration: PoolScheduling | None = None
    node_identity_ttl: int = 0


def listing(client: Client, /, **params: Param) -> Answer[tuple[NodePool, ...]]:
    """List pools; `prefix`, `filter` and paging may be given."""
    return client.get("/v1/node/pools", tuple[NodePool, ...], **params)


def read(client: Client, name: str) -> Answer[NodePool]:
    """Read a pool."""
    return client.get(f"/v1/node/pool/{path_segment(name)}", NodePool)


def write(client: Client, pool: Mapping[str, Any]) -> None:
    """Create or replace a pool."""
    client.send("PUT", "/v1/node/pools", body=pool)


def delete(client: Client, name: str) -> None:
    """Delete a pool."""
    client.send("DELETE", f"/v1/node/pool/{path_segment(name)}")


def nodes(client: Client, /, name: str, **params: Param) -> Answer[tuple[NodeStub, ...]]:
    """List the nodes of a pool; `filter` and paging may be given."""
    return client.get(f"/v1/node/pool/{path_segment(name)}/nodes", tuple[NodeStub, ...], **params)


def jobs(client: Client, /, name: str, **params: Param) -> Answer[tuple[JobStub, ...]]:
    """List the jobs of a pool; `filter` and paging may be given."""
    return client.get(f"/v1/node/pool/{path_segment(name)}/jobs", tuple[JobStub, ...], **params)


def replace(client: Client, name: str, pool: Mapping[str, Any]) -> None:
    """Create or replace the pool of that name, which the body must have, too."""
    client.send("PUT", f"/v1/node/pool/{path_segment(name)}", body=pool)
