"""What handlers work with."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import msgspec

from yurt.agent.node_meta import NodeMeta
from yurt.api.answer import Answer, read_answer
from yurt.api.blocking import blocking
from yurt.api.call import Call
from yurt.api.listing import Order, listed, page_of
from yurt.api.object_namespaces import ObjectNamespaces
from yurt.api.rows import Rows
from yurt.clock import Clock
from yurt.model.alloc import Allocation
from yurt.model.client_protocol import MakeVolume, VolumeMade
from yurt.model.node import Node
from yurt.model.resource_usage import AllocResourceUsage
from yurt.model.wire import AllocID, NodeID
from yurt.observe.host_stats import HostStats
from yurt.observe.metrics import Gauge, Metrics
from yurt.server.commands.catalog import Commands
from yurt.server.event_broker import EventBroker
from yurt.server.server import Server
from yurt.state.state import State
from yurt.state.watches import WatchKey

if TYPE_CHECKING:
    from yurt.agent.drivers.session import Session
    from yurt.agent.services.checks import CheckResult

T = TypeVar("T")


class NodeAccess(Protocol):
    """What the API asks of the node agent in the same process."""

    @property
    def node_id(self) -> NodeID:
        """The node's id."""

    @property
    def meta(self) -> NodeMeta:
        """The node's metadata, by where it comes from."""

    def change_meta(self, changes: Mapping[str, str | None]) -> NodeMeta:
        """Change the node's metadata for good; None hides a key."""

    def alloc_dir(self, alloc_id: AllocID) -> str | None:
        """The directory of an allocation that is on this node."""

    async def restart_task(self, alloc_id: AllocID, *, task: str = "", all_tasks: bool = False) -> None:
        """Restart one task, the running ones, or all."""

    async def signal_task(self, alloc_id: AllocID, *, task: str, signal: str) -> None:
        """Signal a task, or all running ones for an empty name."""

    async def alloc_usage(self, alloc_id: AllocID, task: str = "") -> AllocResourceUsage:
        """What an allocation's tasks use, or one of them."""

    async def host_stats(self) -> HostStats:
        """How busy the machine is."""

    async def gauges(self, *, of_node: bool, of_allocs: bool) -> list[Gauge]:
        """What the node and its allocations use, measured now."""

    async def open_session(
        self, alloc_id: AllocID, *, task: str, argv: tuple[str, ...], tty: bool
    ) -> Session:
        """Run a command beside a task, with its streams open."""

    def checks(self, alloc_id: AllocID) -> dict[str, CheckResult] | None:
        """What the checks of an allocation found, by their ids; None without any."""

    async def identity_claims(self) -> dict[str, Any]:
        """What the node's own token says."""

    async def renew_identity(self) -> None:
        """Get a new token for the node."""

    async def collect(self, alloc_id: AllocID) -> bool:
        """Delete an allocation that is over; False when it is not."""

    async def collect_all(self) -> None:
        """Delete every allocation that is over."""

    async def create_volume(self, asked: MakeVolume) -> VolumeMade:
        """Make a volume on the node, and offer it."""

    async def delete_volume(self, volume_id: str) -> None:
        """Delete a volume of the node with its data."""

    def snapshot(self, alloc_id: AllocID, token: str | None) -> AsyncIterator[bytes]:
        """The data of an allocation, for the node that goes on with it."""


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

    def __init__(
        self,
        server: Server,
        node_agent: NodeAccess | None,
        info: AgentInfo,
        rng: Random,
        *,
        reload: Callable[[], None] | None = None,
        peers_tls: Callable[[], ssl.SSLContext | None] = lambda: None,
    ) -> None:
        self.server = server
        self.node_agent = node_agent
        self.info = info
        self.reload = reload
        # For calls to other agents.
        self.peers_tls = peers_tls
        self.metrics = Metrics()
        self.events = EventBroker(server.context, server.settings.event_batches_kept)
        self.started_at = server.clock.now_ns()
        # Names this server among others for as long as it runs.
        self.server_id = server.context.new_id()
        self.commands = Commands(server.context, server.jobs, server.settings)
        self.rng = rng
        self.namespace_of = ObjectNamespaces(server)

    @property
    def clock(self) -> Clock:
        """What time it is."""
        return self.server.clock

    def alloc(self, alloc_id: AllocID) -> Allocation | None:
        """An allocation of the cluster."""
        return self.state.allocs.get(alloc_id)

    def node(self, node_id: NodeID) -> Node | None:
        """A node of the cluster."""
        return self.state.nodes.get(node_id)

    def knows_node(self, node_id: NodeID) -> bool:
        """Whether the cluster has such a node."""
        return node_id in self.state.nodes

    @property
    def state(self) -> State:
        """The newest State."""
        return self.server.state

    async def read(self, call: Call, keys: Sequence[WatchKey], read: Callable[[], tuple[int, T]]) -> Answer:
        """Answer a read, blocking if the caller asks for it."""
        index, body = await blocking(call, self.state, keys, read, self.rng)
        return read_answer(body, index)

    async def list(
        self,
        call: Call,
        keys: Sequence[WatchKey],
        read: Callable[[], tuple[int, Iterable[T]]],
        order: Order[T],
        *,
        where: Callable[[T], bool] | None = None,
        view: Callable[[T], Any] | None = None,
    ) -> Answer:
        """Answer a list that has pages and filters, blocking if the caller asks for it.

        `where` leaves out what the caller does not mean, `view` is how an object is shown.
        """
        page = page_of(call)
        index, items = await blocking(call, self.state, keys, read, self.rng)
        found, token = await listed(items, page, order, where=where)
        return read_answer(Rows(found, view), index, next_token=token)
