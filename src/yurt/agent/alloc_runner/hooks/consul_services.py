"""Make the group's services findable through Consul."""

from __future__ import annotations

import asyncio

from yurt.agent.alloc_runner.context import AllocContext
from yurt.agent.alloc_runner.hook import AllocHook, SetupFailed
from yurt.agent.consul.checks import watch_checks
from yurt.agent.consul.registrar import ConsulRegistrar
from yurt.agent.consul.registrations import ConsulServiceCheck, Registration, of_consul, registration
from yurt.agent.services.addresses import NoAddress
from yurt.observe.logger import get_logger

logger = get_logger("alloc_runner")


class ConsulServicesHook(AllocHook):
    """Announces the group's services, and follows the checks of all that the allocation has in Consul."""

    name = "consul_services"

    def __init__(self, context: AllocContext, registrar: ConsulRegistrar) -> None:
        self._context = context
        self._registrar = registrar
        self._told: tuple[str, ...] = ()
        self._watching: asyncio.Task[None] | None = None

    async def prerun(self) -> None:
        """Fail for services without an address."""
        try:
            self._announce()
        except NoAddress as error:
            raise SetupFailed(f"unable to get address for service: {error}") from error
        self._watching = self._context.spawn(
            watch_checks(self._context, self._registrar, self._checks), name="consul checks"
        )

    def update(self) -> None:
        """Announce what changed. Services that lost their address stay as they are."""
        try:
            self._announce()
        except NoAddress as error:
            logger.warning("services.not_updated", alloc_id=self._context.alloc.id, error=str(error))

    async def prekill(self) -> None:
        """Nobody should come here any more, and a task that ends fails its checks."""
        if self._watching is not None:
            self._watching.cancel()
        self._take_back()

    async def postrun(self) -> None:
        """Nobody is here any more."""
        self._take_back()

    def _announce(self) -> None:
        self._told = self._registrar.change(self._told, self._registrations())

    def _take_back(self) -> None:
        self._told = self._registrar.change(self._told, ())

    def _registrations(self) -> list[Registration]:
        owner, node = self._context.owner(), self._context.node.node
        return [registration(service, owner, node) for service in of_consul(self._context.group.services)]

    def _checks(self) -> list[ConsulServiceCheck]:
        """The checks of the group's services, and of those of its tasks."""
        context, node = self._context, self._context.node
        found: list[ConsulServiceCheck] = []
        owners = [("", context.group.services)] + [(task.name, task.services) for task in context.group.tasks]
        for task, services in owners:
            for service in of_consul(services):
                try:
                    found += registration(service, context.owner(task), node.node).checks
                except NoAddress:
                    continue  # it is told where the service is announced
        return found


def make(context: AllocContext) -> AllocHook | None:
    """Only where the node has a Consul agent; an update may bring services to a group that had none."""
    consul = context.node.consul
    return ConsulServicesHook(context, consul) if consul is not None else None
