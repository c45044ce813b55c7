"""Run the checks of the allocation's services."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import msgspec

from yurt.agent.alloc_runner.context import AllocContext
from yurt.agent.alloc_runner.hook import AllocHook
from yurt.agent.outgoing import networks_of
from yurt.agent.services import check_restarts
from yurt.agent.services.addresses import NoAddress
from yurt.agent.services.checks import FAILURE, NodeCheck, checks_of, pending, target
from yurt.agent.services.probes import ProbeResult, probe
from yurt.agent.services.registrations import native
from yurt.model.times import SECOND_NS

RESTART_LOOK_INTERVAL_S = 1.0


class _Running(msgspec.Struct):
    check: NodeCheck
    loops: list[asyncio.Task[None]]


class ChecksHook(AllocHook):
    """Asks services at their intervals, and restarts tasks whose checks say so."""

    name = "checks_hook"

    def __init__(self, context: AllocContext) -> None:
        self._context = context
        self._running: dict[str, _Running] = {}

    async def prerun(self) -> None:
        """Begin with what there is."""
        self.update()

    def update(self) -> None:
        """Begin with checks that are new; those that are the same go on, with their results."""
        wanted = {check.id: check for check in self._checks()}
        for check_id in [check_id for check_id in self._running if check_id not in wanted]:
            self._stop(check_id)
        self._context.checks.retain(wanted)
        for check_id, check in wanted.items():
            if check_id in self._running:
                self._running[check_id].check = check
            else:
                self._start(check)

    async def prekill(self) -> None:
        """A task that ends fails its checks, which is no news."""
        for check_id in list(self._running):
            self._stop(check_id)

    def _checks(self) -> Iterator[NodeCheck]:
        context = self._context
        for service in native(context.group.services):
            yield from checks_of(service, context.owner())
        for task in context.group.tasks:
            # A task without its driver will not start, and has no environment to look into.
            if task.driver in context.node.drivers:
                for service in native(task.services):
                    yield from checks_of(service, context.owner(task.name))

    def _start(self, check: NodeCheck) -> None:
        clock = self._context.node.clock
        waiting = pending(check, self._context.alloc.name, at_s=clock.now_ns() // SECOND_NS)
        self._context.checks.put(waiting)
        running = self._running[check.id] = _Running(check, [])
        running.loops.append(self._context.spawn(self._ask_again(running), name=f"check {check.check.name}"))
        if check_restarts.restarts(check.check):
            watch = self._watch_for_restart(running)
            running.loops.append(self._context.spawn(watch, name=f"check_restart {check.check.name}"))

    def _stop(self, check_id: str) -> None:
        for loop in self._running.pop(check_id).loops:
            loop.cancel()

    async def _ask_again(self, running: _Running) -> None:
        """Ask at each interval, until cancelled; first after half of one, since tasks need time to start."""
        clock = self._context.node.clock
        due = clock.monotonic() + running.check.check.interval / SECOND_NS / 2
        while True:
            await clock.sleep(max(0.0, due - clock.monotonic()))
            result = await self._ask(running.check)
            waiting = self._context.checks.get(running.check.id)
            if waiting is not None:
                self._context.checks.put(
                    msgspec.structs.replace(
                        waiting,
                        status=result.status,
                        status_code=result.status_code,
                        output=result.output,
                        timestamp=clock.now_ns() // SECOND_NS,
                    )
                )
            due = max(due + running.check.check.interval / SECOND_NS, clock.monotonic())

    async def _ask(self, check: NodeCheck) -> ProbeResult:
        try:
            place = target(check, self._context.owner(check.task))
        except NoAddress as error:
            return ProbeResult(FAILURE, str(error))
        node = self._context.node
        denied = networks_of(node.settings.denied_networks)
        return await probe(check.check, place, node.clock, denied=denied)

    async def _watch_for_restart(self, running: _Running) -> None:
        """Restart the task when its check has failed for too long, again and again, until cancelled."""
        clock = self._context.node.clock
        timer = check_restarts.first_timer(running.check.check, clock.now_ns())
        while True:
            await clock.sleep(RESTART_LOOK_INTERVAL_S)
            result = self._context.checks.get(running.check.id)
            if result is None:
                continue
            check = running.check.check
            timer, must_restart = check_restarts.judge(check, timer, result.status, now=clock.now_ns())
            if must_restart:
                self._context.restart_as_failed(
                    running.check.task or check.task_name or running.check.service.task_name,
                    reason=f'healthcheck: check "{check.name}" unhealthy',
                )


def make(context: AllocContext) -> AllocHook | None:
    """An update may bring checks to services that had none, so every allocation has this step."""
    return ChecksHook(context) if context.node.settings.service_discovery else None
