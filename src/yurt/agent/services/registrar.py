"""Keep the servers' list of this node's services as it should be."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from random import Random
from typing import Protocol

from yurt.agent.backoff import retry_delay_s
from yurt.agent.node_identity import NodeIdentity
from yurt.agent.server_link import ServerLink
from yurt.clock import Clock
from yurt.errors import YurtError
from yurt.model.client_protocol import DeregisterServices, RegisterServices
from yurt.model.service_registration import ServiceRegistration
from yurt.observe.logger import get_logger

BATCH_MAX = 500

logger = get_logger("services")


class Registrar(Protocol):
    """Where services are announced; nothing waits for it, and nothing fails."""

    def put(self, services: Iterable[ServiceRegistration]) -> None:
        """Make services findable, or change them."""

    def remove(self, service_ids: Iterable[str]) -> None:
        """Make services unfindable."""


class Announced:
    """The services of one owner that others were told of, so that only changes are told."""

    def __init__(self) -> None:
        self._services: dict[str, ServiceRegistration] = {}

    def change(self, registrar: Registrar, services: Iterable[ServiceRegistration]) -> None:
        """Tell what is different from before; no services take all back."""
        wanted = {service.id: service for service in services}
        registrar.remove(self._services.keys() - wanted.keys())
        registrar.put(service for id_, service in wanted.items() if self._services.get(id_) != service)
        self._services = wanted


class NoRegistrar:
    """Announces nothing."""

    def put(self, services: Iterable[ServiceRegistration]) -> None:
        """Nobody learns of them."""

    def remove(self, service_ids: Iterable[str]) -> None:
        """Nobody knew them."""


class ServerRegistrar:
    """A Registrar that tells the servers, as soon as they can be reached.

    It keeps the newest wish for each service, so that being out of touch for long costs no more than being
    so for a moment.
    """

    def __init__(self, link: ServerLink, identity: NodeIdentity, *, clock: Clock, rng: Random) -> None:
        self._link = link
        self._identity = identity
        self._clock = clock
        self._rng = rng
        # What the servers do not know yet; None is a service to be removed.
        self._due: dict[str, ServiceRegistration | None] = {}
        self._news = asyncio.Event()

    def put(self, services: Iterable[ServiceRegistration]) -> None:
        """Make services findable, or change them."""
        self._want({service.id: service for service in services})

    def remove(self, service_ids: Iterable[str]) -> None:
        """Make services unfindable."""
        self._want(dict.fromkeys(service_ids))

    async def run(self) -> None:
        """Tell the servers, until cancelled."""
        failures = 0
        while True:
            await self._news.wait()
            self._news.clear()
            while self._due:
                try:
                    await self._send()
                except YurtError as error:
                    failures += 1
                    logger.warning("services.not_registered", services=len(self._due), error=str(error))
                    await self._clock.sleep(retry_delay_s(failures, self._rng))
                else:
                    failures = 0

    def _want(self, wishes: dict[str, ServiceRegistration | None]) -> None:
        if wishes:
            self._due.update(wishes)
            self._news.set()

    async def _send(self) -> None:
        batch = dict(list(self._due.items())[:BATCH_MAX])
        added = tuple(service for service in batch.values() if service is not None)
        removed = tuple(service_id for service_id, service in batch.items() if service is None)
        node_id, secret_id = self._identity.node_id, self._identity.secret_id
        if removed:
            await self._link.deregister_services(
                DeregisterServices(node_id=node_id, secret_id=secret_id, service_ids=removed)
            )
        if added:
            await self._link.register_services(
                RegisterServices(node_id=node_id, secret_id=secret_id, services=added)
            )
        for service_id, service in batch.items():
            # What was wished for meanwhile is still due.
            if self._due[service_id] is service:
                del self._due[service_id]
