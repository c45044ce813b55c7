"""Make the task's services findable through Consul while it runs, and run their script checks."""

from __future__ import annotations

import asyncio

from yurt.agent import task_events
from yurt.agent.consul.registrar import ConsulRegistrar
from yurt.agent.consul.registrations import SCRIPT, ConsulServiceCheck, Registration, of_consul, registration
from yurt.agent.drivers import DriverError, TaskHandle
from yurt.agent.services.addresses import NoAddress
from yurt.agent.services.registrations import Owner
from yurt.agent.task_commands import run_in_task
from yurt.agent.task_env import group_env
from yurt.agent.task_runner.hook import TaskContext, TaskHook
from yurt.model.times import SECOND_NS

# A script's exit code in Consul's words; every other one is critical.
STATUSES = {0: "passing", 1: "warning"}
CRITICAL = "critical"


class ConsulServicesHook(TaskHook):
    """Announces the task's services once it has started, and runs the scripts that check them."""

    name = "consul_services"

    def __init__(self, context: TaskContext, registrar: ConsulRegistrar) -> None:
        self._context = context
        self._registrar = registrar
        self._handle: TaskHandle | None = None
        self._told: tuple[str, ...] = ()
        self._scripts: dict[str, asyncio.Task[None]] = {}

    async def poststart(self, handle: TaskHandle) -> None:
        """Announce them; the driver may have given the task an address of its own."""
        self._handle = handle
        self._announce(handle)

    def update(self) -> None:
        """Announce what changed."""
        if self._handle is not None:
            self._announce(self._handle)

    async def prekill(self) -> None:
        """Nobody should come here any more."""
        self._take_back()

    async def exited(self) -> None:
        """Nobody is here now."""
        self._take_back()

    async def stop(self) -> None:
        """Nobody is here any more."""
        self._take_back()

    def _announce(self, handle: TaskHandle) -> None:
        context = self._context
        services: list[Registration] = []
        owner = self._owner(handle)
        for service in of_consul(context.task.services):
            try:
                services.append(registration(service, owner, context.node.node))
            except NoAddress as error:
                text = f"unable to get address for service {service.name!r}: {error}"
                context.emit(task_events.hook_trouble(context.node.clock.now_ns(), text=text))
        self._told = self._registrar.change(self._told, services)
        scripts = [check for service in services for check in service.checks]
        self._run_scripts([check for check in (*scripts, *self._of_group()) if check.check.type == SCRIPT])

    def _owner(self, handle: TaskHandle) -> Owner:
        context = self._context
        return Owner(
            alloc=context.alloc,
            env=context.env(),
            task=context.task.name,
            network=handle.network,
            status=context.network.status if context.network is not None else None,
        )

    def _of_group(self) -> list[ConsulServiceCheck]:
        """The checks of the group's services that are this task's to run."""
        context, node = self._context, self._context.node
        group = context.alloc.job.group(context.alloc.task_group)
        status = context.network.status if context.network is not None else None
        env = group_env(context.alloc, node=node.node, region=node.settings.region, status=status)
        owner = Owner(alloc=context.alloc, env=env, status=status)
        found: list[ConsulServiceCheck] = []
        for service in of_consul(group.services if group is not None else None):
            try:
                found += registration(service, owner, node.node).checks
            except NoAddress:
                continue  # the allocation fails for it
        return [check for check in found if check.task == context.task.name]

    def _run_scripts(self, checks: list[ConsulServiceCheck]) -> None:
        wanted = {check.id: check for check in checks}
        for id_ in self._scripts.keys() - wanted.keys():
            self._scripts.pop(id_).cancel()
        for id_ in wanted.keys() - self._scripts.keys():
            name = f"script check {wanted[id_].check.name}"
            self._scripts[id_] = self._context.spawn(self._ask_again(wanted[id_]), name=name)

    async def _ask_again(self, made: ConsulServiceCheck) -> None:
        """Run a script at each interval, until cancelled."""
        check, clock = made.check, self._context.node.clock
        while True:
            handle = self._handle
            assert handle is not None
            try:
                code = await run_in_task(
                    self._context,
                    handle,
                    check.command,
                    check.args or (),
                    timeout_s=check.timeout / SECOND_NS,
                )
            except DriverError as error:
                await self._registrar.report(made.id, CRITICAL, str(error))
            else:
                await self._registrar.report(made.id, STATUSES.get(code, CRITICAL), f"exit code {code}")
            await clock.sleep(check.interval / SECOND_NS)

    def _take_back(self) -> None:
        for script in self._scripts.values():
            script.cancel()
        self._scripts.clear()
        self._handle = None
        self._told = self._registrar.change(self._told, ())


def make(context: TaskContext) -> TaskHook | None:
    """Only where the node has a Consul agent; an update may bring services to a task that had none."""
    consul = context.node.consul
    return ConsulServicesHook(context, consul) if consul is not None else None
