"""What templates read from Consul, beside what they read from the servers."""

from __future__ import annotations

import base64
from typing import Any
from urllib.parse import quote

import msgspec

from yurt.agent.consul.client import ConsulClient, ConsulFailed
from yurt.agent.templates.data_watches import Answer, TemplateData
from yurt.agent.templates.sources import (
    ConsulInstance,
    ConsulKeyQuery,
    ConsulServiceQuery,
    FollowedQuery,
    Found,
)


class _Key(msgspec.Struct, rename="pascal"):
    value: str | None = None


class _Node(msgspec.Struct, rename="pascal"):
    id: str = msgspec.field(name="ID", default="")
    node: str = ""
    address: str = ""


class _Service(msgspec.Struct, rename="pascal"):
    id: str = msgspec.field(name="ID", default="")
    service: str = ""
    address: str = ""
    port: int = 0
    tags: tuple[str, ...] | None = None
    meta: dict[str, str] | None = None


class _Health(msgspec.Struct, rename="pascal"):
    node: _Node
    service: _Service


class ConsulData:
    """TemplateData that answers for Consul, and hands on what is the servers'."""

    def __init__(self, client: ConsulClient, servers: TemplateData) -> None:
        self._client = client
        self._servers = servers

    async def read(self, query: FollowedQuery, *, after: Answer | None) -> Answer:
        """Answer a query; with `after`, wait until there may be another answer. Raises YurtError."""
        if not isinstance(query, ConsulKeyQuery | ConsulServiceQuery):
            return await self._servers.read(query, after=after)
        index = after.state if after is not None and isinstance(after.state, int) else 0
        watched = await self._client.watch(_path(query), index)
        # An index that went back means that Consul forgot, and has to be asked from the start.
        state = watched.index if watched.index >= index else 0
        return Answer(_found(query, watched.body), state)


def _path(query: ConsulKeyQuery | ConsulServiceQuery) -> str:
    centre = f"dc={quote(query.datacenter)}&" if query.datacenter else ""
    if isinstance(query, ConsulKeyQuery):
        return f"/v1/kv/{quote(query.path)}?{centre}"
    tag = f"tag={quote(query.tag)}&" if query.tag else ""
    return f"/v1/health/service/{quote(query.name)}?passing=true&{tag}{centre}"


def _found(query: ConsulKeyQuery | ConsulServiceQuery, body: bytes | None) -> Found:
    try:
        if isinstance(query, ConsulKeyQuery):
            if body is None:
                return None
            [key] = _decode(body, list[_Key])
            return base64.b64decode(key.value or "").decode(errors="replace")
        return tuple(_instance(one) for one in _decode(body or b"[]", list[_Health]))
    except (msgspec.MsgspecError, ValueError) as error:
        raise ConsulFailed(f"Consul's answer cannot be read: {error}") from error


def _decode(body: bytes, form: Any) -> Any:  # noqa: ANN401 - an instance of `form`
    return msgspec.json.decode(body, type=form)


def _instance(one: _Health) -> ConsulInstance:
    service, node = one.service, one.node
    return ConsulInstance(
        id=service.id,
        name=service.service,
        node=node.node,
        node_id=node.id,
        node_address=node.address,
        address=service.address,
        port=service.port,
        tags=service.tags or (),
        meta=tuple(sorted((service.meta or {}).items())),
    )
