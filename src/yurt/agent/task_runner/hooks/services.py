"""Make the task's services findable while it runs."""

from __future__ import annotations

from yurt.agent import task_events
from yurt.agent.drivers import TaskHandle
from yurt.agent.services.addresses import NoAddress
from yurt.agent.services.registrar import Announced
from yurt.agent.services.registrations import Owner, native, registration
from yurt.agent.task_runner.hook import TaskContext, TaskHook
from yurt.model.service_registration import ServiceRegistration


class ServicesHook(TaskHook):
    """Announces services once the task has started, and takes them back before it ends."""

    name = "services"

    def __init__(self, context: TaskContext) -> None:
        self._context = context
        self._handle: TaskHandle | None = None
        self._announced = Announced()

    async def poststart(self, handle: TaskHandle) -> None:
        """Announce them; the driver may have given the task an address of its own."""
        self._handle = handle
        self._announce()

    def update(self) -> None:
        """Announce what changed."""
        if self._handle is not None:
            self._announce()

    async def prekill(self) -> None:
        """Nobody should come here any more."""
        self._take_back()

    async def exited(self) -> None:
        """Nobody is here now."""
        self._take_back()

    async def stop(self) -> None:
        """Nobody is here any more."""
        self._take_back()

    def _announce(self) -> None:
        self._announced.change(self._context.node.services, self._found())

    def _found(self) -> list[ServiceRegistration]:
        assert self._handle is not None
        context = self._context
        wanted = native(context.task.services)
        if not wanted:
            return []
        owner = Owner(
            alloc=context.alloc,
            env=context.env(),
            task=context.task.name,
            network=self._handle.network,
            status=context.network.status if context.network is not None else None,
        )
        services: list[ServiceRegistration] = []
        for service in wanted:
            try:
                services.append(registration(service, owner, context.node.node))
            except NoAddress as error:
                text = f"unable to get address for service {service.name!r}: {error}"
                context.emit(task_events.hook_trouble(context.node.clock.now_ns(), text=text))
        return services

    def _take_back(self) -> None:
        self._handle = None
        self._announced.change(self._context.node.services, ())


def make(context: TaskContext) -> TaskHook | None:
    """An update may bring services to a task that had none, so every task has this step."""
    return ServicesHook(context) if context.node.settings.service_discovery else None
