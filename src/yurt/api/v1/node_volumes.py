"""Volumes on nodes: having the right one make or delete one."""

from __future__ import annotations

import ssl
from collections.abc import Callable

import msgspec

from yurt.agent.host_volumes import VolumeFailed
from yurt.api.answer import Answer, empty_answer
from yurt.api.call import Call
from yurt.api.deps import NodeAccess
from yurt.api.errors import HttpError
from yurt.api.forward import RELAY_HEADER, relay_token
from yurt.api.needs import Management
from yurt.api.routes import WRITE, Route
from yurt.import_later import aiohttp
from yurt.model.client_protocol import MakeVolume, VolumeMade
from yurt.model.node import Node

CREATE_PATH = "/v1/client/volume/host/create"
DELETE_PATH = "/v1/client/volume/host/delete"
# Longer than a plugin may take.
CALL_LIMIT_S = 75.0


class NodeVolumes:
    """Asks nodes, the one in this process or others over their HTTP address. Raises VolumeFailed."""

    def __init__(self, own: NodeAccess | None, tls: Callable[[], ssl.SSLContext | None]) -> None:
        self._own = own
        self._tls = tls

    async def create(self, node: Node, asked: MakeVolume) -> VolumeMade:
        """Make a volume on a node."""
        if self._own is not None and self._own.node_id == node.id:
            return await self._own.create_volume(asked)
        return msgspec.json.decode(await self._ask(node, CREATE_PATH, asked), type=VolumeMade)

    async def delete(self, node: Node, asked: MakeVolume) -> None:
        """Delete a volume on a node."""
        if self._own is not None and self._own.node_id == node.id:
            await self._own.delete_volume(asked.id)
        else:
            await self._ask(node, DELETE_PATH, asked)

    async def _ask(self, node: Node, path: str, asked: MakeVolume) -> bytes:
        tls = self._tls() if node.tls_enabled else None
        url = f"{'http' if tls is None else 'https'}://{node.http_addr}{path}"
        try:
            async with (
                aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=CALL_LIMIT_S)) as session,
                session.put(
                    url,
                    data=msgspec.json.encode(asked),
                    headers={RELAY_HEADER: relay_token(node.secret_id)},
                    ssl=True if tls is None else tls,
                ) as answer,
            ):
                body = await answer.read()
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise VolumeFailed(f"node {node.id} cannot be asked: {error}") from error
        if answer.status != 200:
            raise VolumeFailed(body.decode(errors="replace").strip())
        return body


class ClientVolumeHandlers:
    """What a node does for its servers; nobody else is let through to these routes."""

    def __init__(self, agent: NodeAccess) -> None:
        self._agent = agent

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table of a node."""
        return (
            Route(
                path=CREATE_PATH,
                handlers=dict.fromkeys(WRITE, self.create),
                summary="Make a volume on this node",
                needs=Management(),
            ),
            Route(
                path=DELETE_PATH,
                handlers=dict.fromkeys(WRITE, self.delete),
                summary="Delete a volume of this node",
                needs=Management(),
            ),
        )

    async def create(self, call: Call) -> Answer:
        """Make a volume, as a server asks."""
        made = await self._agent.create_volume(await _asked(call))
        return Answer(body=made)

    async def delete(self, call: Call) -> Answer:
        """Delete a volume, as a server asks."""
        await self._agent.delete_volume((await _asked(call)).id)
        return empty_answer()


async def _asked(call: Call) -> MakeVolume:
    try:
        return msgspec.json.decode(await call.body(), type=MakeVolume)
    except msgspec.MsgspecError as error:
        raise HttpError(400, f"not a volume: {error}") from None
