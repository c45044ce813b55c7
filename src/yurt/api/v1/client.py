"""/v1/client: what only the node itself knows or does."""

from __future__ import annotations

from typing import Any

from yurt.agent.node_meta import BadMetaKey, NodeMeta
from yurt.agent.services.checks import CheckResult
from yurt.api import needs
from yurt.api.answer import Answer, empty_answer
from yurt.api.call import Call
from yurt.api.errors import HttpError
from yurt.api.parameters import NODE_ID, text
from yurt.api.routes import ANY_METHOD, WRITE, Handler, Route
from yurt.api.v1.client_checks import CheckReader
from yurt.api.v1.local_node import ClientDeps, asked_node, checked_alloc_id, known_alloc, node_of_alloc
from yurt.model.decode import BadRequestBody
from yurt.model.resource_usage import AllocResourceUsage
from yurt.model.wire import AllocID, Wire
from yurt.observe.host_stats import HostStats

READABLE = ("HEAD", "GET")
NOT_COLLECTABLE = "No such allocation on client, or allocation not eligible for GC"
SCHEDULE_STATES = ("pause", "run", "scheduled")


class RestartRequest(Wire, frozen=True, kw_only=True):
    """Which tasks to restart."""

    task_name: str = ""
    all_tasks: bool = False


class SignalRequest(Wire, frozen=True, kw_only=True):
    """Which signal to send to which task."""

    task: str = ""
    signal: str = ""


class PauseRequest(Wire, frozen=True, kw_only=True):
    """What a scheduled task is to do."""

    task: str = ""
    schedule_state: str = ""


class MetaRequest(Wire, frozen=True, kw_only=True):
    """Changes of a node's metadata."""

    node_id: str = ""
    meta: dict[str, str | None] | None = None


class IdentityRenewal(Wire, frozen=True, kw_only=True):
    """Which node's identity to renew."""

    node_id: str = ""


class MetaResponse(Wire, frozen=True, kw_only=True):
    """A node's metadata, and where it comes from."""

    meta: dict[str, str]
    dynamic: dict[str, str | None]
    static: dict[str, str]


class NodeClaims(Wire, frozen=True, kw_only=True):
    """What the identity of a node says."""

    claims: dict[str, Any]


class Done(Wire, frozen=True, kw_only=True):
    """The answer to what changes no State."""

    index: int = 0


_TAKES = {"stats": (text("task", "Only this task."),)}
_REQUESTS: dict[str, Any] = {"restart": RestartRequest, "signal": SignalRequest}
_ANSWERS: dict[str, Any] = {
    "stats": AllocResourceUsage,
    "checks": dict[str, CheckResult] | None,
    "restart": dict.fromkeys(("GET", "PUT", "POST", "DELETE"), Done),
    "signal": Done,
}


class ClientHandlers:
    """The handlers of /v1/client, but for files."""

    def __init__(self, deps: ClientDeps) -> None:
        self._deps = deps
        self._checks = CheckReader(deps)

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        of_alloc = self._deps.namespace_of.alloc
        read, lifecycle = ("read-job",), ("alloc-lifecycle",)
        actions: tuple[tuple[str, tuple[str, ...], Handler, str, tuple[str, ...]], ...] = (
            ("stats", ANY_METHOD, self.alloc_stats, "Measure an allocation", read),
            ("checks", ANY_METHOD, self._checks.read, "Read the results of an allocation's checks", read),
            ("restart", ANY_METHOD, self.restart, "Restart tasks of an allocation", lifecycle),
            ("signal", WRITE, self.signal, "Send a signal to tasks of an allocation", lifecycle),
            (
                "gc",
                ANY_METHOD,
                self.collect,
                "Delete an allocation that is over",
                ("submit-job", "gc-allocation"),
            ),
        )
        return (
            *(
                Route(
                    path=f"/v1/client/allocation/{{alloc_id}}/{name}",
                    handlers=dict.fromkeys(methods, handler),
                    summary=summary,
                    needs=needs.namespace(*any_of, of=of_alloc),
                    cors=READABLE,
                    takes=_TAKES.get(name, ()),
                    request=_REQUESTS.get(name),
                    response=_ANSWERS.get(name),
                )
                for name, methods, handler, summary, any_of in actions
            ),
            Route(
                path="/v1/client/allocation/{alloc_id}/pause",
                handlers=dict.fromkeys(("GET", *WRITE), self.pause),
                summary="Refuse to pause tasks",
                needs={
                    "GET": needs.namespace("read-job", of=of_alloc),
                    **dict.fromkeys(WRITE, needs.namespace("submit-job", "pause-allocation", of=of_alloc)),
                },
                cors=READABLE,
                takes={"GET": (text("task", "The task."),)},
                request=PauseRequest,
            ),
            Route(
                path="/v1/client/allocation/{alloc_id}",
                handlers=dict.fromkeys(ANY_METHOD, self.unknown),
                summary="Refuse unknown actions",
                needs=needs.KNOWN_CALLER,
                cors=READABLE,
            ),
            Route(
                path="/v1/client/stats",
                handlers=dict.fromkeys(ANY_METHOD, self.stats),
                summary="Measure a node",
                takes=(NODE_ID,),
                needs=needs.node("read"),
                response=HostStats,
                cors=READABLE,
            ),
            Route(
                path="/v1/client/gc",
                handlers=dict.fromkeys(ANY_METHOD, self.collect_all),
                summary="Delete all allocations of a node that are over",
                takes=(NODE_ID,),
                needs=needs.node("write"),
            ),
            Route(
                path="/v1/client/metadata",
                handlers={"GET": self.read_meta, "POST": self.change_meta},
                summary="Read or change the metadata of a node",
                takes=(NODE_ID,),
                needs={"GET": needs.node("read"), "POST": needs.node("write")},
                request=MetaRequest,
                response=dict.fromkeys(("GET", "POST"), MetaResponse),
                cors=READABLE,
            ),
            Route(
                path="/v1/client/identity",
                handlers={"GET": self.read_identity},
                summary="Read what the identity of a node says",
                takes=(NODE_ID,),
                response=NodeClaims,
                needs=needs.node("read"),
                cors=READABLE,
            ),
            Route(
                path="/v1/client/identity/renew",
                handlers=dict.fromkeys(WRITE, self.renew_identity),
                summary="Renew the identity of a node",
                takes=(NODE_ID,),
                response=dict[str, str],
                needs=needs.node("write"),
                request=IdentityRenewal,
                cors=READABLE,
            ),
        )

    async def read_identity(self, call: Call) -> Answer:
        """GET /v1/client/identity."""
        claims = await asked_node(self._deps, call, unknown_status=500).identity_claims()
        # As numbers with a point: whoever decodes them into untyped values expects floats.
        return Answer(
            body=NodeClaims(
                claims={
                    name: float(value) if isinstance(value, int) else value for name, value in claims.items()
                }
            )
        )

    async def renew_identity(self, call: Call) -> Answer:
        """PUT /v1/client/identity/renew."""
        request = IdentityRenewal()
        if await call.body():
            request = await call.read(IdentityRenewal)
        agent = asked_node(self._deps, call, unknown_status=500, named=request.node_id)
        await agent.renew_identity()
        return Answer(body={})

    async def unknown(self, _call: Call) -> Answer:
        """/v1/client/allocation/<anything else>."""
        raise HttpError(404, "resource not found")

    async def alloc_stats(self, call: Call) -> Answer:
        """/v1/client/allocation/<id>/stats."""
        alloc = known_alloc(self._deps, self._alloc_id(call))
        agent = node_of_alloc(self._deps, alloc)
        if agent.alloc_dir(alloc.id) is None:
            return Answer(body=AllocResourceUsage())
        return Answer(body=await agent.alloc_usage(alloc.id, call.query.get("task", "")))

    async def restart(self, call: Call) -> Answer:
        """/v1/client/allocation/<id>/restart."""
        request = RestartRequest()
        if await call.body():
            try:
                request = await call.read(RestartRequest)
            except BadRequestBody as error:
                raise HttpError(500, str(error)) from None
        alloc_id = self._alloc_id(call)
        agent = node_of_alloc(self._deps, known_alloc(self._deps, alloc_id))
        await agent.restart_task(alloc_id, task=request.task_name, all_tasks=request.all_tasks)
        return Answer(body=Done())

    async def signal(self, call: Call) -> Answer:
        """PUT /v1/client/allocation/<id>/signal."""
        try:
            request: SignalRequest = await call.read(SignalRequest)
        except BadRequestBody as error:
            raise HttpError(400, f"Failed to decode body: {error}") from None
        alloc_id = self._alloc_id(call)
        agent = node_of_alloc(self._deps, known_alloc(self._deps, alloc_id))
        await agent.signal_task(alloc_id, task=request.task, signal=request.signal)
        return Answer(body=Done())

    async def collect(self, call: Call) -> Answer:
        """/v1/client/allocation/<id>/gc."""
        alloc_id = self._alloc_id(call)
        agent = node_of_alloc(self._deps, known_alloc(self._deps, alloc_id))
        if agent.alloc_dir(alloc_id) is None or not await agent.collect(alloc_id):
            raise HttpError(500, NOT_COLLECTABLE)
        return empty_answer()

    async def pause(self, call: Call) -> Answer:
        """/v1/client/allocation/<id>/pause: tasks have no schedules here."""
        if call.method != "GET":
            request: PauseRequest = await call.read(PauseRequest)
            if request.schedule_state not in SCHEDULE_STATES:
                raise HttpError(400, "Not a valid task schedule state")
        self._alloc_id(call)
        raise HttpError(500, "Enterprise only")

    async def stats(self, call: Call) -> Answer:
        """/v1/client/stats."""
        return Answer(body=await asked_node(self._deps, call, unknown_status=404).host_stats())

    async def collect_all(self, call: Call) -> Answer:
        """/v1/client/gc."""
        await asked_node(self._deps, call, unknown_status=404).collect_all()
        return empty_answer()

    async def read_meta(self, call: Call) -> Answer:
        """GET /v1/client/metadata."""
        return _meta_answer(asked_node(self._deps, call, unknown_status=500).meta)

    async def change_meta(self, call: Call) -> Answer:
        """POST /v1/client/metadata."""
        request: MetaRequest = await call.read(MetaRequest)
        if request.meta is None:
            raise HttpError(400, "missing required Meta object")
        if "" in request.meta:
            raise HttpError(400, "metadata keys must not be empty")
        agent = asked_node(self._deps, call, unknown_status=500)
        try:
            return _meta_answer(agent.change_meta(request.meta))
        except BadMetaKey as error:
            raise HttpError(
                400, f'"{error.key}" is invalid; metadata keys must be valid dotted hcl identifiers'
            ) from None

    def _alloc_id(self, call: Call) -> AllocID:
        alloc_id = checked_alloc_id(call.path["alloc_id"])
        return known_alloc(self._deps, alloc_id).id


def _meta_answer(meta: NodeMeta) -> Answer:
    return Answer(body=MetaResponse(meta=meta.merged, dynamic=dict(meta.dynamic), static=meta.static))
