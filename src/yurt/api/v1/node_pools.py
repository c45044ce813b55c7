"""/v1/node/pools and /v1/node/pool."""

from __future__ import annotations

from typing import Any

from yurt.api import needs
from yurt.api.answer import Answer, empty_answer
from yurt.api.call import Call
from yurt.api.deps import Deps
from yurt.api.errors import HttpError
from yurt.api.listing import by_id, by_namespace
from yurt.api.parameters import BLOCKING, NODE_FIELDS, PAGED, PREFIX, flag
from yurt.api.routes import WRITE, Route
from yurt.api.v1.found import found
from yurt.api.v1.job_views import JobListStub, job_stub
from yurt.api.v1.node_views import NodeListStub, node_stub
from yurt.model.durations import parse_duration
from yurt.model.job import Job
from yurt.model.node import Node
from yurt.model.node_pool import NodePool, NodePoolScheduling
from yurt.model.times import HOUR_NS
from yurt.model.wire import ALL_NODE_POOL, Nanoseconds, Wire
from yurt.server.commands.node_pools import NodePoolInvalid

DEFAULT_IDENTITY_TTL = 24 * HOUR_NS

_POOLS = by_id(lambda pool: pool.name)
_NODES = by_id(lambda node: node.id)
_JOBS = by_namespace(lambda job: job.namespace, lambda job: job.id)


class NodePoolForm(Wire, frozen=True, kw_only=True):
    """A node pool as it is sent; the time to live is a number of nanoseconds or a text such as `48h`."""

    name: str = ""
    description: str = ""
    meta: dict[str, str] | None = None
    scheduler_configuration: NodePoolScheduling | None = None
    node_identity_ttl: Any = None


class NodePoolHandlers:
    """The handlers of /v1/node/pools and /v1/node/pool."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        reads = needs.InNodePool(capability="read", of=_named_pool)
        writes = needs.InNodePool(capability="write", of=_written_pool)
        return (
            Route(
                path="/v1/node/pools",
                handlers={"GET": self.list, **dict.fromkeys(WRITE, self.write)},
                summary="List node pools, make or replace one",
                takes={"GET": (PREFIX, *PAGED)},
                needs={"GET": needs.KNOWN_CALLER, **dict.fromkeys(WRITE, writes)},
                request=NodePoolForm,
                response=list[NodePool],
            ),
            Route(
                path="/v1/node/pool/{name}/nodes",
                handlers={"GET": self.nodes},
                summary="List the nodes of a pool",
                takes=(*PAGED, *NODE_FIELDS),
                needs=needs.All((needs.node("read"), reads)),
                response=list[NodeListStub],
            ),
            Route(
                path="/v1/node/pool/{name}/jobs",
                handlers={"GET": self.jobs},
                summary="List the jobs of a pool",
                takes=(*PAGED, flag("meta", "Show the metadata of jobs.")),
                needs=needs.All((needs.listed("list-jobs"), reads)),
                response=list[JobListStub],
            ),
            Route(
                path="/v1/node/pool/{name}",
                handlers={"GET": self.read, **dict.fromkeys(WRITE, self.write), "DELETE": self.delete},
                summary="Read, replace or delete a node pool",
                takes={"GET": BLOCKING},
                needs={
                    "GET": reads,
                    **dict.fromkeys(WRITE, writes),
                    "DELETE": needs.InNodePool(capability="delete", of=_named_pool),
                },
                request=dict.fromkeys(WRITE, NodePoolForm),
                response=NodePool,
            ),
        )

    async def list(self, call: Call) -> Answer:
        """GET /v1/node/pools."""
        prefix = call.query.get("prefix", "")
        table = self._deps.state.node_pools
        return await self._deps.list(
            call,
            [("node-pools", None)],
            lambda: (table.index, table),
            _POOLS,
            where=lambda pool: (
                pool.name.startswith(prefix) and call.permissions.allows_node_pool(pool.name, "read")
            ),
        )

    async def read(self, call: Call) -> Answer:
        """GET /v1/node/pool/<name>."""
        name = call.path["name"]
        table = self._deps.state.node_pools

        def read() -> tuple[int, NodePool | None]:
            pool = table.get(name)
            return (pool.modify_index if pool is not None else table.index), pool

        return found(await self._deps.read(call, [("node-pools", name)], read), "node pool not found")

    async def write(self, call: Call) -> Answer:
        """PUT /v1/node/pools and /v1/node/pool/<name>."""
        form: NodePoolForm = await call.read(NodePoolForm)
        if "name" in call.path and call.path["name"] != form.name:
            raise HttpError(400, "Node pool name does not match request path")
        pool = NodePool(
            name=form.name,
            description=form.description,
            meta=form.meta,
            scheduler_configuration=form.scheduler_configuration,
            node_identity_ttl=_identity_ttl(form.node_identity_ttl),
        )
        try:
            return empty_answer(await self._deps.commands.node_pools.upsert(pool))
        except NodePoolInvalid as error:
            raise HttpError(400, str(error)) from None

    async def delete(self, call: Call) -> Answer:
        """DELETE /v1/node/pool/<name>."""
        if not call.path["name"]:
            raise HttpError(400, "node pool name is empty")
        return empty_answer(await self._deps.commands.node_pools.delete(call.path["name"]))

    async def nodes(self, call: Call) -> Answer:
        """GET /v1/node/pool/<name>/nodes."""
        _refuse_prefix(call)
        name = call.path["name"]
        with_resources, with_os = call.flag("resources"), call.flag("os")
        table = self._deps.state.nodes

        def is_meant(node: Node) -> bool:
            return name in (ALL_NODE_POOL, node.node_pool)

        def view(node: Node) -> NodeListStub:
            return node_stub(node, with_resources=with_resources, with_os=with_os)

        return await self._deps.list(
            call, [("nodes", None)], lambda: (table.index, table), _NODES, where=is_meant, view=view
        )

    async def jobs(self, call: Call) -> Answer:
        """GET /v1/node/pool/<name>/jobs."""
        _refuse_prefix(call)
        name, with_meta = call.path["name"], call.flag("meta")
        sees = call.sees()
        state = self._deps.state

        def is_meant(job: Job) -> bool:
            return job.node_pool == name and sees(job.namespace)

        def view(job: Job) -> JobListStub:
            return job_stub(job, state.job_summaries.get(job.key), with_meta=with_meta)

        return await self._deps.list(
            call,
            [("jobs", None), ("job-summaries", None)],
            lambda: (max(state.jobs.index, state.job_summaries.index), state.jobs),
            _JOBS,
            where=is_meant,
            view=view,
        )


async def _named_pool(call: Call) -> str:
    return call.path["name"]


async def _written_pool(call: Call) -> str:
    form: NodePoolForm = await call.read(NodePoolForm)
    return form.name


def _refuse_prefix(call: Call) -> None:
    if call.query.get("prefix"):
        raise HttpError(400, "prefix argument not allowed")


def _identity_ttl(given: object) -> Nanoseconds:
    if given is None:
        return DEFAULT_IDENTITY_TTL
    if isinstance(given, int) and not isinstance(given, bool):
        return given
    try:
        return parse_duration(str(given))
    except ValueError:
        raise HttpError(
            400, f'NodeIdentityTTL must be nanoseconds or a duration such as "48h", not {given!r}'
        ) from None
