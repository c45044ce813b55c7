"""Calls about namespaces."""

from collections.abc import Mapping
from typing import Any

from yurt.sdk.client import Answer, Client
from yurt.sdk.transport import path_segment
from yurt.sdk.wire import Record


class Capabilities(Record, frozen=True):
    """What the jobs of a namespace may use; empty allows all."""

    enabled_task_drivers: tuple[str, ...] = ()
    disabled_task_drivers: tuple[str, ...] = ()
    enabled_network_modes: tuple[str, ...] = ()
    disabled_network_modes: tuple[str, ...] = ()


class Choice(Record, frozen=True):
    """Which of several may be used, and which is by default."""

    default: str = ""
    allowed: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()


class Namespace(Record, frozen=True):
    """A namespace."""

    name: str = ""
    description: str = ""
    quota: str = ""
    capabilities: Capabilities | None = None
    node_pool_configuration: Choice | None = None
    vault_configuration: Choice | None = None
    consul_configuration: Choice | None = None
    meta: dict[str, str] = {}


def listing(client: Client, prefix: str = "") -> Answer[tuple[Namespace, ...]]:
    """List namespaces."""
    return client.get("/v1/namespaces", tuple[Namespace, ...], prefix=prefix)


def read(client: Client, name: str) -> Answer[Namespace]:
    """Read a namespace."""
    return client.get(f"/v1/namespace/{path_segment(name)}", Namespace)


def write(client: Client, namespace: Mapping[str, Any]) -> None:
    """Create or replace a namespace."""
    client.send("PUT", "/v1/namespace", body=namespace)


def delete(client: Client, name: str) -> None:
    """Delete a namespace."""
    client.send("DELETE", f"/v1/namespace/{path_segment(name)}")


def replace(client: Client, name: str, namespace: Mapping[str, Any]) -> None:
    """Create or replace the namespace of that name, which the body must have, too."""
    client.send("PUT", f"/v1/namespace/{path_segment(name)}", body=namespace)
