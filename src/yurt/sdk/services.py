"""Calls about registered services."""

from yurt.sdk.client import Answer, Client
from yurt.sdk.transport import Param, path_segment
from yurt.sdk.wire import Record


class ServiceStub(Record, frozen=True):
    """A service in a list."""

    service_name: str = ""
    tags: tuple[str, ...] = ()


class NamespaceServices(Record, frozen=True):
    """The services of a namespace."""

    namespace: str = ""
    services: tuple[ServiceStub, ...] = ()


class Registration(Record, frozen=True):
    """One instance of a service."""

    id: str = ""
    service_name: str = ""
    namespace: str = ""
    node_id: str = ""
    datacenter: str = ""
    job_id: str = ""
    alloc_id: str = ""
    tags: tuple[str, ...] = ()
    address: str = ""
    port: int = 0


def listing(client: Client) -> Answer[tuple[NamespaceServices, ...]]:
    """List services by namespace."""
    return client.get("/v1/services", tuple[NamespaceServices, ...])


def instances(client: Client, /, name: str, **params: Param) -> Answer[tuple[Registration, ...]]:
    """List the instances of a service; `filter` and paging may be given."""
    return client.get(f"/v1/service/{path_segment(name)}", tuple[Registration, ...], **params)


def delete(client: Client, name: str, registration_id: str) -> None:
    """Remove one instance from the register."""
    client.send("DELETE", f"/v1/service/{path_segment(name)}/{path_segment(registration_id)}")
