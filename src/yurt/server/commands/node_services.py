"""What nodes tell and ask about services."""

from __future__ import annotations

import asyncio

from msgspec.structs import replace

from yurt.model.client_protocol import (
    DeregisterServices,
    RegisterServices,
    ServicesChanged,
    ServicesFound,
    WatchServices,
)
from yurt.model.node import Node
from yurt.model.service_registration import ServiceRegistration
from yurt.model.times import SECOND_NS
from yurt.server.commands.node_checks import NodeRefused
from yurt.server.context import ServerContext
from yurt.state import entries

# A poll never waits longer: the agent's next one shows that it is still there.
WATCH_WAIT_MAX_S = 300.0
SERVICES_MAX = 1000
"""How many services one call may change."""

PORT_MAX = 65535


class NodeServices:
    """Services, as nodes see them. Callers have made sure that the node is who it says."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context

    async def register(self, node: Node, request: RegisterServices) -> ServicesChanged:
        """Store services of the node's own allocations; others are left out. Raises NodeRefused."""
        _check_count(len(request.services))
        state = self._context.state
        own = []
        for service in request.services:
            _check(service)
            alloc = state.allocs.get(service.alloc_id)
            if alloc is None or alloc.node_id != node.id or alloc.namespace != service.namespace:
                continue
            known = state.services.get(service.id)
            # Else a node could draw the callers of another one's service to itself.
            if known is not None and known.node_id != node.id:
                continue
            stated = replace(service, node_id=node.id, datacenter=node.datacenter, job_id=alloc.job_id)
            # A restarted node says again what is known already; that need not go to the log.
            if not _is_known(stated, known):
                own.append(stated)
        if not own:
            return ServicesChanged(index=state.index)
        entry = entries.UpsertServices(at=self._context.clock.now_ns(), services=tuple(own))
        return ServicesChanged(index=(await self._context.committer.propose(entry)).index)

    async def deregister(self, node: Node, request: DeregisterServices) -> ServicesChanged:
        """Remove services of the node; those that are not there, or another's, are left out."""
        _check_count(len(request.service_ids))
        services = self._context.state.services
        own = tuple(
            service_id
            for service_id in request.service_ids
            if (service := services.get(service_id)) is not None and service.node_id == node.id
        )
        if not own:
            return ServicesChanged(index=self._context.state.index)
        entry = entries.DeleteServices(at=self._context.clock.now_ns(), service_ids=own)
        return ServicesChanged(index=(await self._context.committer.propose(entry)).index)

    async def watch(self, request: WatchServices) -> ServicesFound:
        """Give services once they differ from what the node knows."""
        context = self._context
        deadline = context.clock.monotonic() + min(request.wait / SECOND_NS, WATCH_WAIT_MAX_S)
        changed = asyncio.Event()
        cancel = context.state.watches.add([("services", None)], changed.set)
        try:
            while True:
                found = self._found(request)
                left = deadline - context.clock.monotonic()
                if request.known is None or left <= 0:
                    return found
                if {service.id: service.modify_index for service in found.services} != request.known:
                    return found
                changed.clear()
                try:
                    async with asyncio.timeout(left):
                        await changed.wait()
                except TimeoutError:
                    return self._found(request)
        finally:
            cancel()

    def _found(self, request: WatchServices) -> ServicesFound:
        table = self._context.state.services
        if request.name:
            services = table.named(request.namespace, request.name)
        else:
            services = [service for service in table if service.namespace == request.namespace]
        return ServicesFound(index=table.index, services=tuple(services))


def _is_known(service: ServiceRegistration, known: ServiceRegistration | None) -> bool:
    return known is not None and known == replace(
        service, create_index=known.create_index, modify_index=known.modify_index
    )


def _check_count(count: int) -> None:
    if count > SERVICES_MAX:
        raise NodeRefused(f"{count} services in one call; send at most {SERVICES_MAX} at a time")


def _check(service: ServiceRegistration) -> None:
    if not service.id or not service.service_name:
        raise NodeRefused("a service is registered with an id and a name")
    if not 0 <= service.port <= PORT_MAX:
        raise NodeRefused(f"service {service.id} has port {service.port}; it must be from 0 to {PORT_MAX}")
