"""What handlers work with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Protocol, TypeVar

import msgspec

from yurt.api.answer import Answer, read_answer
from yurt.api.blocking import blocking
from yurt.api.call import Call
from yurt.model.wire import AllocID
from yurt.server.server import Server
from yurt.state.state import State
from yurt.state.watches import WatchKey

T = TypeVar("T")


class NodeAccess(Protocol):
    """What the API asks of the node agent in the same process."""

    def alloc_dir(self, alloc_id: AllocID) -> str | None:
        """The directory of an allocation that is on this node."""


class AgentInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What the API tells about the agent that serves it."""

    name: str
    region: str
    datacenter: str
    config: dict[str, Any]
    http_address: str
    rpc_address: str
    has_client: bool
    pid: int


class Deps:
    """The server behind the API, and the agent around it."""

    def __init__(self, server: Server, node_agent: NodeAccess | None, info: AgentInfo, rng: Random) -> None:
        self.server = server
        self.node_agent = node_agent
        self.info = info
        self._rng = rng

    @property
    def state(self) -> State:
        """The newest State."""
        return self.server.state

    async def read(self, call: Call, keys: Sequence[WatchKey], read: Callable[[], tuple[int, T]]) -> Answer:
        """Answer a read, blocking if the caller asks for it."""
        index, body = await blocking(call, self.state, keys, read, self._rng)
        return read_answer(body, index)
