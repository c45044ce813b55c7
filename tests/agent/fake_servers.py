"""Servers that do what a test says, behind the link's own interface."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import msgspec

from yurt.agent.server_link import ServersUnreachable
from yurt.model.client_protocol import (
    AllocsUpdated,
    AllocUpdate,
    ClientAlloc,
    DeregisterServices,
    Heartbeat,
    IdentitiesSigned,
    NodeAllocs,
    NodeRegistered,
    PreviousAlloc,
    RegisterNode,
    RegisterServices,
    ServicesChanged,
    ServicesFound,
    SignedIdentity,
    SignIdentities,
    SignNodeIdentity,
    UpdateAllocs,
    VariablesFound,
    WatchAllocs,
    WatchPrevious,
    WatchServices,
    WatchVariables,
)
from yurt.model.node import Node
from yurt.model.service_registration import ServiceRegistration
from yurt.model.times import SECOND_NS
from yurt.model.wire import AllocID


class FakeServers:
    """A ServerLink that keeps what it is told. While `is_away` every call fails."""

    def __init__(self, *, heartbeat_ttl_s: float = 10.0) -> None:
        self.nodes: list[Node] = []
        self.heartbeats: list[Heartbeat] = []
        self.allocs: dict[AllocID, ClientAlloc] = {}
        self.reports: dict[AllocID, AllocUpdate] = {}
        self.requests: list[UpdateAllocs] = []
        self.services: dict[str, ServiceRegistration] = {}
        self.is_away = False
        self.knows_node = True
        self.answers_updates = asyncio.Event()
        self.answers_updates.set()
        self._ttl = int(heartbeat_ttl_s * SECOND_NS)
        self._index = 1
        self._news = asyncio.Event()

    def place(self, *allocs: ClientAlloc) -> None:
        """Give the node allocations, new or changed."""
        for alloc in allocs:
            self._index += 1
            self.allocs[alloc.id] = msgspec.structs.replace(alloc, alloc_modify_index=self._index)
        self._tell()

    def change(self, alloc_id: AllocID, **changes: object) -> None:
        self.place(msgspec.structs.replace(self.allocs[alloc_id], **changes))

    def drop(self, alloc_id: AllocID) -> None:
        del self.allocs[alloc_id]
        self._index += 1
        self._tell()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until something the agent told makes a condition true."""
        while not condition():
            news = self._news
            await news.wait()

    async def until_status(self, alloc_id: AllocID, status: str) -> AllocUpdate:
        await self.until(lambda: alloc_id in self.reports and self.reports[alloc_id].client_status == status)
        return self.reports[alloc_id]

    async def register(self, request: RegisterNode) -> NodeRegistered:
        self._check()
        self.nodes.append(request.node)
        self.knows_node = True
        self._tell()
        return NodeRegistered(index=self._index, heartbeat_ttl=self._ttl)

    async def heartbeat(self, request: Heartbeat) -> NodeRegistered:
        self._check()
        self.heartbeats.append(request)
        self._tell()
        return NodeRegistered(index=self._index, heartbeat_ttl=self._ttl, is_known=self.knows_node)

    async def watch_allocs(self, request: WatchAllocs) -> NodeAllocs:
        while True:
            self._check()
            changed = tuple(
                alloc
                for alloc in self.allocs.values()
                if request.known.get(alloc.id) != alloc.alloc_modify_index
            )
            if changed or self.allocs.keys() != request.known.keys():
                return NodeAllocs(
                    index=self._index,
                    modify_indexes={a.id: a.alloc_modify_index for a in self.allocs.values()},
                    changed=changed,
                )
            await self._news.wait()

    async def update_allocs(self, request: UpdateAllocs) -> AllocsUpdated:
        self._check()
        await self.answers_updates.wait()
        self.requests.append(request)
        self.reports |= {update.id: update for update in request.updates}
        self._index += 1
        self._tell()
        return AllocsUpdated(index=self._index)

    async def register_services(self, request: RegisterServices) -> ServicesChanged:
        self._check()
        self.services |= {service.id: service for service in request.services}
        return self._services_changed()

    async def deregister_services(self, request: DeregisterServices) -> ServicesChanged:
        self._check()
        for service_id in request.service_ids:
            self.services.pop(service_id, None)
        return self._services_changed()

    def _services_changed(self) -> ServicesChanged:
        self._index += 1
        self._tell()
        return ServicesChanged(index=self._index)

    async def watch_previous(self, _request: WatchPrevious) -> PreviousAlloc:
        self._check()
        return PreviousAlloc(is_over=True)

    async def watch_services(self, request: WatchServices) -> ServicesFound:
        while True:
            self._check()
            found = tuple(
                service for service in self.services.values() if request.name in ("", service.service_name)
            )
            if {service.id: service.modify_index for service in found} != request.known:
                return ServicesFound(index=self._index, services=found)
            await self._news.wait()

    async def watch_variables(self, request: WatchVariables) -> VariablesFound:
        self._check()
        if request.known is not None:
            await asyncio.Event().wait()
        return VariablesFound(index=self._index)

    async def sign_identities(self, request: SignIdentities) -> IdentitiesSigned:
        self._check()
        return IdentitiesSigned(
            signed=tuple(SignedIdentity(token=one.identity, issued=0) for one in request.wanted)
        )

    async def sign_node_identity(self, request: SignNodeIdentity) -> SignedIdentity:
        self._check()
        return SignedIdentity(token=str(request.node_id), issued=0)

    def _check(self) -> None:
        if self.is_away:
            raise ServersUnreachable((), last_reason="away")

    def _tell(self) -> None:
        """Wake everybody who waits, once."""
        self._news.set()
        self._news = asyncio.Event()
