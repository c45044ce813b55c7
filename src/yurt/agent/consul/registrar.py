"""Keep a Consul agent's list of this node's services as it should be."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from random import Random

from yurt.agent.backoff import retry_delay_s
from yurt.agent.consul.client import ConsulCheck, ConsulClient, ConsulFailed
from yurt.agent.consul.registrations import NODE_META, Registration
from yurt.clock import Clock
from yurt.model.wire import NodeID
from yurt.observe.logger import get_logger

# An agent that lost its memory, or whose services somebody removed, is told again within this time.
SYNC_INTERVAL_S = 30.0
POLL_INTERVAL_S = 1.0
# A restarted agent finds its tasks again, and announces them, before it removes what it does not know.
PROBATION_S = 60.0

logger = get_logger("consul")


class ConsulRegistrar:
    """Tells Consul of services as soon as it can be reached, and hears how their checks are."""

    def __init__(self, client: ConsulClient, node_id: NodeID, *, clock: Clock, rng: Random) -> None:
        self._client = client
        self._node_id = node_id
        self._clock = clock
        self._rng = rng
        self._wanted: dict[str, Registration] = {}
        # What Consul was told, to tell changes only.
        self._told: dict[str, Registration] = {}
        self._results: dict[str, ConsulCheck] = {}
        self._news = asyncio.Event()
        self._began_at = clock.monotonic()

    def change(self, before: Iterable[str], services: Iterable[Registration]) -> tuple[str, ...]:
        """Replace the services with the ids `before`; returns the ids to pass the next time."""
        fresh = {service.id: service for service in services}
        gone = set(before) - fresh.keys()
        for id_ in gone:
            self._wanted.pop(id_, None)
        self._wanted |= fresh
        if gone or fresh:
            self._news.set()
        return tuple(fresh)

    def result(self, check_id: str) -> ConsulCheck | None:
        """What Consul last said about a check; None while it does not know it."""
        return self._results.get(check_id)

    async def report(self, check_id: str, status: str, output: str) -> None:
        """Tell the result of a script; what cannot be told now is told with the next one."""
        try:
            await self._client.update_check(check_id, status, output)
        except ConsulFailed as error:
            logger.warning("consul.check_not_updated", check_id=check_id, error=str(error))

    async def flush(self) -> None:
        """Tell what is left to tell, once."""
        try:
            await self._sync()
        except ConsulFailed as error:
            logger.warning("consul.not_synced", services=len(self._wanted), error=str(error))

    async def run(self) -> None:
        """Keep Consul current, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._sync_again(), name="consul-sync")
            tasks.create_task(self._poll(), name="consul-checks")

    async def _sync_again(self) -> None:
        failures = 0
        while True:
            self._news.clear()
            try:
                await self._sync()
            except ConsulFailed as error:
                failures += 1
                logger.warning("consul.not_synced", services=len(self._wanted), error=str(error))
                await self._clock.sleep(retry_delay_s(failures, self._rng))
                continue
            failures = 0
            news = asyncio.ensure_future(self._news.wait())
            pause = asyncio.ensure_future(self._clock.sleep(SYNC_INTERVAL_S))
            try:
                await asyncio.wait((news, pause), return_when=asyncio.FIRST_COMPLETED)
            finally:
                news.cancel()
                pause.cancel()

    async def _sync(self) -> None:
        """Compare what Consul has of this node with what it should have, and mend the difference."""
        wanted = dict(self._wanted)
        there = await self._client.services()
        own = {id_ for id_, service in there.items() if service.meta.get(NODE_META) == self._node_id}
        is_settled = self._clock.monotonic() - self._began_at >= PROBATION_S
        for id_ in sorted(own - wanted.keys()):
            if not (is_settled or id_ in self._told):
                continue
            await self._client.deregister(id_)
            self._told.pop(id_, None)
        for id_, service in wanted.items():
            if id_ not in own or self._told.get(id_) != service:
                await self._client.register(service.body)
                self._told[id_] = service

    async def _poll(self) -> None:
        """Ask how the checks are, while there are any."""
        while True:
            await self._clock.sleep(POLL_INTERVAL_S)
            if not any(service.checks for service in self._wanted.values()):
                self._results = {}
                continue
            try:
                self._results = await self._client.checks()
            except ConsulFailed as error:
                logger.debug("consul.checks_not_read", error=str(error))
