"""Make the group's services findable."""

from __future__ import annotations

from yurt.agent.alloc_runner.context import AllocContext
from yurt.agent.alloc_runner.hook import AllocHook, SetupFailed
from yurt.agent.services.addresses import NoAddress
from yurt.agent.services.registrar import Announced
from yurt.agent.services.registrations import native, registration
from yurt.model.service_registration import ServiceRegistration
from yurt.observe.logger import get_logger

logger = get_logger("alloc_runner")


class GroupServicesHook(AllocHook):
    """Announces services before the tasks start, and takes them back before the tasks end."""

    name = "group_services"

    def __init__(self, context: AllocContext) -> None:
        self._context = context
        self._announced = Announced()

    async def prerun(self) -> None:
        """Fail for services without an address."""
        try:
            self._announce(self._registrations())
        except NoAddress as error:
            raise SetupFailed(f"unable to get address for service: {error}") from error

    def update(self) -> None:
        """Announce what changed. Services that lost their address stay as they are."""
        try:
            self._announce(self._registrations())
        except NoAddress as error:
            logger.warning("services.not_updated", alloc_id=self._context.alloc.id, error=str(error))

    async def prekill(self) -> None:
        """Nobody should come here any more."""
        self._announce([])

    async def postrun(self) -> None:
        """Nobody is here any more."""
        self._announce([])

    def _registrations(self) -> list[ServiceRegistration]:
        services = native(self._context.group.services)
        if not services:
            return []
        owner, node = self._context.owner(), self._context.node.node
        return [registration(service, owner, node) for service in services]

    def _announce(self, services: list[ServiceRegistration]) -> None:
        self._announced.change(self._context.node.services, services)


def make(context: AllocContext) -> AllocHook | None:
    """An update may bring services to a group that had none, so every allocation has this step."""
    return GroupServicesHook(context) if context.node.settings.service_discovery else None
