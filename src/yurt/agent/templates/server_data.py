"""The cluster's data for templates, from the servers."""

from __future__ import annotations

import asyncio

from yurt.agent.node_identity import NodeIdentity
from yurt.agent.server_link import ServerLink
from yurt.agent.templates.data_watches import Answer
from yurt.agent.templates.sources import ClusterQuery, ServiceQuery, ServicesQuery
from yurt.model.client_protocol import WatchServices
from yurt.model.service_registration import ServiceRegistration
from yurt.model.times import MINUTE_NS

WATCH_WAIT = 5 * MINUTE_NS


class ServerData:
    """TemplateData over a ServerLink. The servers keep no variables, so none exists."""

    def __init__(self, link: ServerLink, identity: NodeIdentity) -> None:
        self._link = link
        self._identity = identity

    async def read(self, query: ClusterQuery, *, after: Answer | None) -> Answer:
        """Answer a query; with `after`, wait until there is another answer. Raises YurtError."""
        if isinstance(query, ServiceQuery | ServicesQuery):
            return await self._services(query, after)
        if after is not None:
            await asyncio.Event().wait()
        return Answer(None, None)

    async def _services(self, query: ServiceQuery | ServicesQuery, after: Answer | None) -> Answer:
        known = after.state if after is not None else None
        assert known is None or isinstance(known, dict)
        found = await self._link.watch_services(
            WatchServices(
                node_id=self._identity.node_id,
                secret_id=self._identity.secret_id,
                namespace=query.namespace,
                name=query.name if isinstance(query, ServiceQuery) else "",
                wait=WATCH_WAIT,
                known=known,
            )
        )
        return Answer(found.services, _indexes(found.services))


def _indexes(services: tuple[ServiceRegistration, ...]) -> dict[str, int]:
    return {service.id: service.modify_index for service in services}
