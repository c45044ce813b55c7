"""A node agent's link to a control plane that speaks the simple dialect, in place of Yurt's servers.

The control plane hands out work by calling the node; here the node joins it and tells it how it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, NoReturn

import msgspec

from yurt.agent.server_link import RequestRefused, ServersUnreachable
from yurt.clock import Clock
from yurt.import_later import aiohttp
from yurt.model.client_protocol import (
    AllocsUpdated,
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
from yurt.model.times import SECOND_NS

CALL_TIMEOUT_S = 10.0
REASON_CHARS_MAX = 500
# The agent beats when two thirds of this have passed: every 5 s.
HEARTBEAT_TTL_S = 7.5
NOT_FOUND = 404


class AllocWords(msgspec.Struct, frozen=True, kw_only=True):
    """What a node has and says: its allocations by id, and what they use of its CPU and memory."""

    allocations: dict[str, Any]
    cpu_used: int = 0
    memory_used: int = 0


class StandaloneLink:
    """A ServerLink to another control plane. `say` must be set before the agent runs."""

    def __init__(self, server: str, endpoint: str, *, clock: Clock, token: str = "") -> None:
        """Take the control plane's URL, and the one at which it reaches this node."""
        self._clock = clock
        self._server = server.rstrip("/")
        self._endpoint = endpoint
        self._headers = {"X-Nomad-Token": token} if token else {}
        self._node: Node | None = None
        self._session: aiohttp.ClientSession | None = None
        self.say: Callable[[], AllocWords] = lambda: AllocWords(allocations={})

    async def register(self, request: RegisterNode) -> NodeRegistered:
        """Join the control plane."""
        self._node = request.node
        address = request.node.attributes.get("unique.network.ip-address", "127.0.0.1")
        body = {**self._common(request.node, self.say()), "ip_address": address, "endpoint": self._endpoint}
        status, reason = await self._post("/register", body)
        if status != 200:
            raise RequestRefused("POST /register", status=status, reason=reason)
        return self._answer()

    async def heartbeat(self, _request: Heartbeat) -> NodeRegistered:
        """Say how the node and its allocations are."""
        assert self._node is not None, "a node registers before it beats"
        said = self.say()
        body = {
            **self._common(self._node, said),
            "timestamp": self._clock.now_ns() / SECOND_NS,
            "allocations": said.allocations,
        }
        status, reason = await self._post("/heartbeat", body)
        if status == NOT_FOUND:
            return NodeRegistered(index=0, heartbeat_ttl=SECOND_NS, is_known=False)
        if status != 200:
            raise RequestRefused("POST /heartbeat", status=status, reason=reason)
        return self._answer()

    async def watch_allocs(self, request: WatchAllocs) -> NodeAllocs:
        """Nothing is ever handed out this way."""
        await self._clock.sleep(request.wait / SECOND_NS)
        return NodeAllocs(index=0, modify_indexes={})

    async def update_allocs(self, _request: UpdateAllocs) -> AllocsUpdated:
        """Heartbeats say it all."""
        return AllocsUpdated(index=0)

    async def register_services(self, _request: RegisterServices) -> ServicesChanged:
        """There is nobody to find them."""
        return ServicesChanged(index=0)

    async def deregister_services(self, _request: DeregisterServices) -> ServicesChanged:
        """There is nobody to find them."""
        return ServicesChanged(index=0)

    async def watch_services(self, _request: WatchServices) -> ServicesFound:
        """There are none."""
        self._refuse("services")

    async def watch_variables(self, _request: WatchVariables) -> VariablesFound:
        """There are none."""
        self._refuse("variables")

    async def sign_identities(self, _request: SignIdentities) -> IdentitiesSigned:
        """Nobody signs any."""
        self._refuse("identities")

    async def sign_node_identity(self, _request: SignNodeIdentity) -> SignedIdentity:
        """Nobody signs any."""
        self._refuse("identities")

    async def watch_previous(self, _request: WatchPrevious) -> PreviousAlloc:
        """Nothing is ever taken over from other nodes."""
        self._refuse("earlier allocations")

    async def close(self) -> None:
        """Close all connections; calls in flight fail."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _refuse(self, what: str) -> NoReturn:
        raise RequestRefused(what, status=501, reason="a standalone agent has no servers of Yurt")

    def _answer(self) -> NodeRegistered:
        return NodeRegistered(index=0, heartbeat_ttl=int(HEARTBEAT_TTL_S * SECOND_NS))

    def _common(self, node: Node, said: AllocWords) -> dict[str, Any]:
        has, kept = node.node_resources, node.reserved_resources
        cpu = has.cpu.cpu_shares - kept.cpu.cpu_shares
        memory = has.memory.memory_mb - kept.memory.memory_mb
        return {
            "node_id": node.id,
            "resources": {
                "cpu": max(0, cpu - said.cpu_used),
                "memory": max(0, memory - said.memory_used),
                "cpu_used": said.cpu_used,
                "memory_used": said.memory_used,
            },
            "healthy": True,
        }

    async def _post(self, path: str, body: dict[str, Any]) -> tuple[int, str]:
        if self._session is None:
            self._session = aiohttp.ClientSession(headers=self._headers)
        try:
            async with (
                asyncio.timeout(CALL_TIMEOUT_S),
                self._session.post(f"{self._server}{path}", json=body) as response,
            ):
                text = (await response.read()).decode(errors="replace").strip()
                return response.status, text[:REASON_CHARS_MAX]
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise ServersUnreachable(
                (self._server,), last_reason=str(error) or type(error).__name__
            ) from error
