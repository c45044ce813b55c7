"""Services: announced by nodes, taken back by them or by operators."""

from __future__ import annotations

from collections.abc import Sequence

from yurt.errors import YurtError
from yurt.model.service_registration import ServiceRegistration
from yurt.server.context import ServerContext
from yurt.state.entries import DeleteServices, UpsertServices


class ServiceNotFound(YurtError):
    """There is no such registration."""

    def __init__(self) -> None:
        super().__init__("service registration not found")


class ServiceCommands:
    """What can be asked about services."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context

    async def register(self, services: Sequence[ServiceRegistration]) -> int:
        """Make services findable; returns the index."""
        entry = UpsertServices(at=self._context.clock.now_ns(), services=tuple(services))
        return (await self._context.committer.propose(entry)).index

    async def deregister(self, service_ids: Sequence[str]) -> int:
        """Make services unfindable; returns the index. Those that are not there are no error."""
        entry = DeleteServices(at=self._context.clock.now_ns(), service_ids=tuple(service_ids))
        return (await self._context.committer.propose(entry)).index

    async def delete(self, namespace: str, service_id: str) -> int:
        """Make one service unfindable; returns the index. Raises ServiceNotFound."""
        service = self._context.state.services.get(service_id)
        if service is None or service.namespace != namespace:
            raise ServiceNotFound
        return await self.deregister((service_id,))
