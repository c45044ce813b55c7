"""How a node agent talks to the servers."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Sequence
from typing import Protocol, TypeVar

import msgspec

from yurt.errors import YurtError
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
from yurt.model.times import SECOND_NS

RPC_PATH = "/rpc/v1/"
RPC_CONTENT_TYPE = "application/msgpack"
RPC_TIMEOUT_S = 15.0
CONNECT_TIMEOUT_S = 3.0
# A long poll may last this much longer than it asked for before the server counts as hung.
WATCH_GRACE_S = 10.0
# A status from here on is the server's trouble (no leader, starting up), so another one may do better.
SERVER_TROUBLE_STATUS = 500
REASON_CHARS_MAX = 500

Answer = TypeVar("Answer")


class ServersUnreachable(YurtError):
    """No server answered."""

    def __init__(self, addresses: Sequence[str], *, last_reason: str) -> None:
        tried = ", ".join(addresses) or "none configured"
        super().__init__(
            f"no server answered (tried: {tried}); the last one said: {last_reason}; "
            "check that the servers run and that this node can reach them"
        )
        self.addresses = tuple(addresses)
        self.last_reason = last_reason


class RequestRefused(YurtError):
    """A server understood the request and will not do it."""

    def __init__(self, method: str, *, status: int, reason: str) -> None:
        super().__init__(f"the servers refused {method} with status {status}: {reason}")
        self.method = method
        self.status = status
        self.reason = reason


class ServerLink(Protocol):
    """The servers, as a node agent sees them.

    Every method raises a YurtError when it fails: over HTTP, ServersUnreachable when none could be asked
    and RequestRefused when one said no.
    """

    async def register(self, request: RegisterNode) -> NodeRegistered:
        """Make the node known, or say what changed about it."""

    async def heartbeat(self, request: Heartbeat) -> NodeRegistered:
        """Give a sign of life."""

    async def watch_allocs(self, request: WatchAllocs) -> NodeAllocs:
        """Wait, at most `request.wait`, for the node's allocations to change."""

    async def update_allocs(self, request: UpdateAllocs) -> AllocsUpdated:
        """Report about allocations; returns when the report is durable."""

    async def register_services(self, request: RegisterServices) -> ServicesChanged:
        """Make services findable; returns when that is durable."""

    async def deregister_services(self, request: DeregisterServices) -> ServicesChanged:
        """Make services unfindable; returns when that is durable."""

    async def watch_services(self, request: WatchServices) -> ServicesFound:
        """Wait, at most `request.wait`, for services to differ from what is known."""

    async def watch_variables(self, request: WatchVariables) -> VariablesFound:
        """Wait, at most `request.wait`, for variables to differ from what is known."""

    async def sign_identities(self, request: SignIdentities) -> IdentitiesSigned:
        """Get tokens for tasks of this node."""

    async def sign_node_identity(self, request: SignNodeIdentity) -> SignedIdentity:
        """Get the node's own token."""

    async def watch_previous(self, request: WatchPrevious) -> PreviousAlloc:
        """Wait, at most `request.wait`, for the end of an allocation that one of the node's own replaces."""


class HttpServerLink:
    """A ServerLink over HTTP with msgpack bodies, to the first of several servers that answers."""

    def __init__(
        self, addresses: Sequence[str], *, tls: ssl.SSLContext | None = None, server_name: str = ""
    ) -> None:
        """Take the servers' `host:port` addresses. Nothing is opened yet.

        `tls` switches to https; a context that checks host names then looks for `server_name`.
        """
        self._addresses = list(addresses)
        self._tls = tls
        self._server_name = server_name
        self._encoder = msgspec.msgpack.Encoder()
        self._registered = msgspec.msgpack.Decoder(NodeRegistered)
        self._node_allocs = msgspec.msgpack.Decoder(NodeAllocs)
        self._allocs_updated = msgspec.msgpack.Decoder(AllocsUpdated)
        self._services_changed = msgspec.msgpack.Decoder(ServicesChanged)
        self._services_found = msgspec.msgpack.Decoder(ServicesFound)
        self._variables_found = msgspec.msgpack.Decoder(VariablesFound)
        self._identities_signed = msgspec.msgpack.Decoder(IdentitiesSigned)
        self._signed_identity = msgspec.msgpack.Decoder(SignedIdentity)
        self._previous_alloc = msgspec.msgpack.Decoder(PreviousAlloc)
        self._session: aiohttp.ClientSession | None = None

    @property
    def addresses(self) -> tuple[str, ...]:
        """The servers known now, the one asked next first."""
        return tuple(self._addresses)

    async def register(self, request: RegisterNode) -> NodeRegistered:
        """Make the node known, or say what changed about it."""
        answer = await self._call("register-node", request, self._registered)
        self._learn_servers(answer.servers)
        return answer

    async def heartbeat(self, request: Heartbeat) -> NodeRegistered:
        """Give a sign of life."""
        answer = await self._call("heartbeat", request, self._registered)
        self._learn_servers(answer.servers)
        return answer

    async def watch_allocs(self, request: WatchAllocs) -> NodeAllocs:
        """Wait, at most `request.wait`, for the node's allocations to change."""
        timeout_s = request.wait / SECOND_NS + WATCH_GRACE_S
        return await self._call("watch-allocs", request, self._node_allocs, timeout_s=timeout_s)

    async def update_allocs(self, request: UpdateAllocs) -> AllocsUpdated:
        """Report about allocations; returns when the report is durable."""
        return await self._call("update-allocs", request, self._allocs_updated)

    async def register_services(self, request: RegisterServices) -> ServicesChanged:
        """Make services findable; returns when that is durable."""
        return await self._call("register-services", request, self._services_changed)

    async def deregister_services(self, request: DeregisterServices) -> ServicesChanged:
        """Make services unfindable; returns when that is durable."""
        return await self._call("deregister-services", request, self._services_changed)

    async def watch_services(self, request: WatchServices) -> ServicesFound:
        """Wait, at most `request.wait`, for services to differ from what is known."""
        timeout_s = request.wait / SECOND_NS + WATCH_GRACE_S
        return await self._call("watch-services", request, self._services_found, timeout_s=timeout_s)

    def renew_tls(self, tls: ssl.SSLContext | None) -> None:
        """Use `tls` for new connections; those that are open go on as they are."""
        self._tls = tls

    async def watch_variables(self, request: WatchVariables) -> VariablesFound:
        """Wait, at most `request.wait`, for variables to differ from what is known."""
        timeout_s = request.wait / SECOND_NS + WATCH_GRACE_S
        return await self._call("watch-variables", request, self._variables_found, timeout_s=timeout_s)

    async def sign_identities(self, request: SignIdentities) -> IdentitiesSigned:
        """Get tokens for tasks of this node."""
        return await self._call("sign-identities", request, self._identities_signed)

    async def sign_node_identity(self, request: SignNodeIdentity) -> SignedIdentity:
        """Get the node's own token."""
        return await self._call("sign-node-identity", request, self._signed_identity)

    async def watch_previous(self, request: WatchPrevious) -> PreviousAlloc:
        """Wait, at most `request.wait`, for the end of an allocation that one of the node's own replaces."""
        timeout_s = request.wait / SECOND_NS + WATCH_GRACE_S
        return await self._call("watch-previous", request, self._previous_alloc, timeout_s=timeout_s)

    async def close(self) -> None:
        """Close all connections; calls in flight fail."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _learn_servers(self, servers: tuple[str, ...]) -> None:
        """Adopt the servers' own list of themselves, so that a node outlives those it was configured with."""
        if servers and set(servers) != set(self._addresses):
            current = self._addresses[0]
            kept_first = [current] if current in servers else []
            self._addresses = kept_first + [server for server in servers if server not in kept_first]

    async def _call(
        self,
        method: str,
        request: msgspec.Struct,
        answer: msgspec.msgpack.Decoder[Answer],
        *,
        timeout_s: float = RPC_TIMEOUT_S,
    ) -> Answer:
        """Ask one server after the other until one answers; it stays the first to be asked."""
        body = self._encoder.encode(request)
        last_reason = "no server is configured"
        for address in tuple(self._addresses):
            try:
                status, content = await self._post(address, method, body, timeout_s=timeout_s)
            except (aiohttp.ClientError, TimeoutError, OSError) as error:
                last_reason = f"{address}: {str(error) or type(error).__name__}"
                self._ask_last(address)
                continue
            if status >= SERVER_TROUBLE_STATUS:
                last_reason = f"{address}: status {status}: {_reason(content)}"
                self._ask_last(address)
                continue
            if status != 200:
                raise RequestRefused(method, status=status, reason=_reason(content))
            try:
                return answer.decode(content)
            except msgspec.MsgspecError as error:
                last_reason = f"{address}: unreadable answer: {error}"
                self._ask_last(address)
        raise ServersUnreachable(self._addresses, last_reason=last_reason)

    async def _post(self, address: str, method: str, body: bytes, *, timeout_s: float) -> tuple[int, bytes]:
        if self._session is None:
            # Long polls would use up a bounded pool; there are only as many calls as the agent has loops.
            self._session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
        scheme = "https" if self._tls else "http"
        async with (
            asyncio.timeout(timeout_s),
            self._session.post(
                f"{scheme}://{address}{RPC_PATH}{method}",
                data=body,
                headers={"Content-Type": RPC_CONTENT_TYPE},
                ssl=self._tls or True,
                server_hostname=self._server_name if self._tls else None,
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT_S),
            ) as response,
        ):
            return response.status, await response.read()

    def _ask_last(self, address: str) -> None:
        if address in self._addresses:
            self._addresses.remove(address)
            self._addresses.append(address)


def _reason(content: bytes) -> str:
    return content.decode(errors="replace").strip()[:REASON_CHARS_MAX] or "no reason given"
