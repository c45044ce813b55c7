"""Stay registered: make the node known, and give signs of life."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import msgspec

from yurt.agent.backoff import retry_delay_s
from yurt.agent.node_context import NodeContext
from yurt.agent.node_identity import NodeIdentity
from yurt.agent.server_link import ServerLink
from yurt.errors import YurtError
from yurt.model.client_protocol import Heartbeat, Peer, RegisterNode
from yurt.model.node import NODE_READY
from yurt.model.times import SECOND_NS
from yurt.observe.logger import get_logger

# Heartbeats come when this share of their time has passed, so that a late one is not yet a missed one.
HEARTBEAT_SHARE = 2 / 3

logger = get_logger("agent")


class Registration:
    """Keeps the servers' idea of this node current."""

    def __init__(
        self,
        link: ServerLink,
        identity: NodeIdentity,
        node: NodeContext,
        *,
        intro_token: str = "",
        stop_disconnected: Callable[[float], None],
        on_peers: Callable[[tuple[Peer, ...]], None],
    ) -> None:
        """Take two listeners.

        `stop_disconnected` is told, while the servers are out of reach, for how many seconds they are;
        `on_peers` of other nodes to which the way may be measured.
        """
        self._link = link
        self._identity = identity
        self._node = node
        self._intro_token = intro_token
        self._stop_disconnected = stop_disconnected
        self._on_peers = on_peers
        self._is_current = False
        self._changed = asyncio.Event()
        self._last_answer = node.clock.monotonic()

    def renew(self) -> None:
        """Register again: the node has changed."""
        self._is_current = False
        self._changed.set()

    async def run(self) -> None:
        """Register, then send heartbeats, until cancelled."""
        failures = 0
        while True:
            try:
                pause_s = await self._beat()
            except YurtError as error:
                failures += 1
                pause_s = retry_delay_s(failures, self._node.rng)
                silent_s = self._node.clock.monotonic() - self._last_answer
                logger.warning("servers.out_of_reach", silent_s=round(silent_s, 1), error=str(error))
                self._stop_disconnected(silent_s)
            else:
                failures = 0
            await self._pause(pause_s)

    async def _beat(self) -> float:
        """Give one sign of life; returns the seconds until the next is due."""
        if not self._is_current:
            # Before the call: what changes during it needs another.
            self._is_current = True
            self._changed.clear()
            try:
                await self._link.register(RegisterNode(node=self._node.node, intro_token=self._intro_token))
            except YurtError:
                self._is_current = False
                raise
        answer = await self._link.heartbeat(
            Heartbeat(node_id=self._identity.node_id, secret_id=self._identity.secret_id)
        )
        self._last_answer = self._node.clock.monotonic()
        if not answer.is_known:
            self._is_current = False
            return retry_delay_s(1, self._node.rng)
        if self._node.node.status != NODE_READY:
            self._node.node = msgspec.structs.replace(self._node.node, status=NODE_READY)
            logger.info("node.registered", node_id=self._identity.node_id)
        self._node.server_reached.set()
        if answer.peers:
            self._on_peers(answer.peers)
        return answer.heartbeat_ttl / SECOND_NS * HEARTBEAT_SHARE

    async def _pause(self, seconds: float) -> None:
        changed = asyncio.ensure_future(self._changed.wait())
        try:
            await self._node.sleep_until_done(seconds, changed)
        finally:
            changed.cancel()
