"""What the servers are told about the services of an allocation."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from yurt.agent.drivers.driver import DriverNetwork
from yurt.agent.services.addresses import endpoint
from yurt.agent.task_env import TaskEnv
from yurt.model.alloc import NetworkStatus
from yurt.model.client_protocol import ClientAlloc
from yurt.model.node import Node
from yurt.model.service import Service, ServiceCheck
from yurt.model.service_registration import ServiceRegistration

NOMAD = "nomad"


class Owner(msgspec.Struct, frozen=True, kw_only=True):
    """Whose services they are: a task's with its driver's network, or the group's without a `task`.

    `status` tells of the network of the allocation's own, None on the host's.
    """

    alloc: ClientAlloc
    env: TaskEnv
    task: str = ""
    network: DriverNetwork | None = None
    status: NetworkStatus | None = None

    @property
    def name(self) -> str:
        """The owner in the ids of services."""
        return self.task or f"group-{self.alloc.task_group}"


def native(services: Iterable[Service] | None) -> tuple[Service, ...]:
    """The services that are found through our own servers."""
    return tuple(service for service in services or () if service.provider == NOMAD)


def registration(service: Service, owner: Owner, node: Node) -> ServiceRegistration:
    """Say where a service is found. Raises NoAddress."""
    alloc = owner.alloc
    made = interpolated(service, owner.env)
    place = endpoint(
        alloc.resources,
        task=owner.task,
        mode=made.address_mode,
        label=made.port_label,
        fixed=made.address,
        network=owner.network,
        status=owner.status,
    )
    is_canary = alloc.deployment_status is not None and alloc.deployment_status.canary
    return ServiceRegistration(
        id=service_id(made, owner),
        service_name=made.name,
        namespace=alloc.namespace,
        node_id=node.id,
        datacenter=node.datacenter,
        job_id=alloc.job.id,
        alloc_id=alloc.id,
        tags=(made.canary_tags if is_canary and made.canary_tags else made.tags) or None,
        address=place.ip,
        port=place.port,
    )


def service_id(service: Service, owner: Owner) -> str:
    """The id of a service's registration; its names must be interpolated."""
    return f"_nomad-task-{owner.alloc.id}-{owner.name}-{service.name}-{service.port_label}"


def interpolated(service: Service, env: TaskEnv) -> Service:
    """The service with all its `${…}` replaced, its checks included."""
    text = env.interpolate
    return msgspec.structs.replace(
        service,
        name=text(service.name),
        port_label=text(service.port_label),
        address=text(service.address),
        tags=_all(service.tags, env),
        canary_tags=_all(service.canary_tags, env),
        checks=tuple(_check(check, env) for check in service.checks or ()),
    )


def _check(check: ServiceCheck, env: TaskEnv) -> ServiceCheck:
    text = env.interpolate
    return msgspec.structs.replace(
        check,
        name=text(check.name),
        path=text(check.path),
        protocol=text(check.protocol),
        port_label=text(check.port_label),
        method=text(check.method),
        body=text(check.body),
        command=text(check.command),
        args=_all(check.args, env),
        notes=text(check.notes),
        grpc_service=text(check.grpc_service),
        initial_status=text(check.initial_status),
        header={text(name): tuple(map(text, values)) for name, values in (check.header or {}).items()},
    )


def _all(texts: tuple[str, ...] | None, env: TaskEnv) -> tuple[str, ...] | None:
    return None if texts is None else tuple(map(env.interpolate, texts))
