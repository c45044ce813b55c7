"""The cluster's data for templates, from the servers."""

from __future__ import annotations

from yurt.agent.node_identity import NodeIdentity
from yurt.agent.server_link import ServerLink
from yurt.agent.templates.data_watches import Answer
from yurt.agent.templates.sources import (
    FollowedQuery,
    OwnedQuery,
    ServiceQuery,
    ServicesQuery,
    TemplateVariable,
    VariablesQuery,
)
from yurt.model.client_protocol import WatchServices, WatchVariables
from yurt.model.service_registration import ServiceRegistration
from yurt.model.times import MINUTE_NS

WATCH_WAIT = 5 * MINUTE_NS


class ServerData:
    """TemplateData over a ServerLink."""

    def __init__(self, link: ServerLink, identity: NodeIdentity) -> None:
        self._link = link
        self._identity = identity

    async def read(self, query: FollowedQuery, *, after: Answer | None) -> Answer:
        """Answer a query; with `after`, wait until there is another answer. Raises YurtError."""
        if isinstance(query, OwnedQuery):
            return await self._variables(query, after)
        assert isinstance(query, ServiceQuery | ServicesQuery), "Consul's are asked of Consul"
        return await self._services(query, after)

    async def _variables(self, owned: OwnedQuery, after: Answer | None) -> Answer:
        known = after.state if after is not None else None
        assert known is None or isinstance(known, dict)
        query = owned.query
        is_list = isinstance(query, VariablesQuery)
        found = await self._link.watch_variables(
            WatchVariables(
                node_id=self._identity.node_id,
                secret_id=self._identity.secret_id,
                alloc_id=owned.alloc_id,
                task=owned.task,
                namespace=query.namespace,
                path=query.prefix if isinstance(query, VariablesQuery) else query.path,
                is_prefix=is_list,
                wait=WATCH_WAIT,
                known=known,
            )
        )
        variables = tuple(
            TemplateVariable(
                namespace=one.namespace,
                path=one.path,
                items=one.items,
                create_index=one.create_index,
                modify_index=one.modify_index,
                create_time=one.create_time,
                modify_time=one.modify_time,
            )
            for one in found.variables
        )
        indexes = {one.path: one.modify_index for one in variables}
        if is_list:
            return Answer(variables, indexes)
        return Answer(variables[0] if variables else None, indexes)

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
