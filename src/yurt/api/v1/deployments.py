"""/v1/deployments and /v1/deployment."""

from __future__ import annotations

from yurt.api import needs
from yurt.api.answer import Answer
from yurt.api.call import Call
from yurt.api.deps import Deps
from yurt.api.errors import HttpError
from yurt.api.ids import checked_prefix, checked_uuid
from yurt.api.listing import by_id, by_index
from yurt.api.parameters import BLOCKING, LISTED
from yurt.api.routes import WRITE, Route
from yurt.api.rows import Rows
from yurt.api.v1.alloc_views import AllocListStub, alloc_stub
from yurt.api.v1.found import found
from yurt.model.deployment import Deployment
from yurt.model.job import JobKey
from yurt.model.wire import AllocID, DeploymentID, Wire, wire_names
from yurt.server.commands.deployments import DeploymentChanged

BY_ID = by_id(lambda deployment: deployment.id)
BY_INDEX = by_index(lambda deployment: deployment.create_index, lambda deployment: deployment.id)


# What a change of a deployment needs, unless its caller may submit jobs anyway.
_CAPABILITIES = {
    "fail": "fail-deployment",
    "pause": "pause-deployment",
    "promote": "promote-deployment",
    "allocation-health": "set-alloc-health-deployment",
    "unblock": "unblock-deployment",
}


class DeploymentRequest(Wire, frozen=True, kw_only=True):
    """Which deployment is meant."""

    deployment_id: str = ""


class PauseRequest(Wire, frozen=True, kw_only=True):
    """Hold a deployment, or let it go on."""

    deployment_id: str = ""
    pause: bool = False


class PromoteRequest(Wire, frozen=True, kw_only=True):
    """Promote the canaries of all groups, or of some."""

    deployment_id: str = ""
    all: bool = False
    groups: tuple[str, ...] | None = None


class AllocHealthRequest(
    Wire,
    frozen=True,
    kw_only=True,
    rename=wire_names(
        healthy_allocation_ids="HealthyAllocationIDs", unhealthy_allocation_ids="UnhealthyAllocationIDs"
    ),
):
    """Which allocations are healthy, and which are not."""

    deployment_id: str = ""
    healthy_allocation_ids: tuple[str, ...] | None = None
    unhealthy_allocation_ids: tuple[str, ...] | None = None


class DeploymentUpdateResponse(Wire, frozen=True, kw_only=True):
    """The answer to a change of a deployment."""

    eval_id: str
    eval_create_index: int
    deployment_modify_index: int
    reverted_job_version: int | None
    index: int


class DeploymentHandlers:
    """The handlers of /v1/deployments and /v1/deployment."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        of_deployment = self._deps.namespace_of.deployment
        changes = (
            ("fail", self.fail, None, "Give a deployment up"),
            ("pause", self.pause, PauseRequest, "Hold a deployment, or let it go on"),
            ("promote", self.promote, PromoteRequest, "Promote the canaries of a deployment"),
            (
                "allocation-health",
                self.allocation_health,
                AllocHealthRequest,
                "Say which allocations of a deployment are healthy",
            ),
            ("unblock", self.unblock, DeploymentRequest, "Let other regions go on"),
        )
        return (
            Route(
                path="/v1/deployments",
                handlers={"GET": self.list},
                summary="List deployments",
                takes=LISTED,
                needs=needs.listed("read-job"),
                response=list[Deployment],
            ),
            Route(
                path="/v1/deployment/allocations/{deployment_id}",
                handlers={"GET": self.allocations},
                summary="List the allocations of a deployment",
                takes=BLOCKING,
                needs=needs.namespace("read-job", of=of_deployment),
                response=list[AllocListStub],
            ),
            *(
                Route(
                    path=f"/v1/deployment/{name}/{{deployment_id}}",
                    handlers=dict.fromkeys(WRITE, handler),
                    summary=summary,
                    needs=needs.namespace("submit-job", _CAPABILITIES[name], of=of_deployment),
                    request=request,
                    response=DeploymentUpdateResponse,
                )
                for name, handler, request, summary in changes
            ),
            Route(
                path="/v1/deployment/{deployment_id}",
                handlers={"GET": self.read},
                summary="Read a deployment",
                takes=BLOCKING,
                needs=needs.namespace("read-job", of=of_deployment),
                response=Deployment,
            ),
        )

    async def list(self, call: Call) -> Answer:
        """GET /v1/deployments."""
        prefix = checked_prefix("", call.query.get("prefix", ""))
        sees = call.sees()
        table = self._deps.state.deployments

        def is_meant(deployment: Deployment) -> bool:
            return sees(deployment.namespace) and deployment.id.startswith(prefix)

        return await self._deps.list(
            call,
            [("deployments", None)],
            lambda: (table.index, table),
            BY_ID if prefix else BY_INDEX,
            where=is_meant,
        )

    async def read(self, call: Call) -> Answer:
        """GET /v1/deployment/<id>."""
        if not call.path["deployment_id"]:
            raise HttpError(500, "missing deployment ID")
        deployment_id = _deployment_id(call)
        table = self._deps.state.deployments

        def read() -> tuple[int, Deployment | None]:
            deployment = table.get(deployment_id)
            return (deployment.modify_index if deployment is not None else table.index), deployment

        return found(
            await self._deps.read(call, [("deployments", deployment_id)], read), "deployment not found"
        )

    async def allocations(self, call: Call) -> Answer:
        """GET /v1/deployment/allocations/<id>."""
        deployment_id = _deployment_id(call)
        state = self._deps.state

        def read() -> tuple[int, Rows]:
            deployment = state.deployments.get(deployment_id)
            if deployment is None:
                return state.allocs.index, Rows([])
            key = JobKey(deployment.namespace, deployment.job_id)
            rows = [alloc for alloc in state.allocs.of_job(key) if alloc.deployment_id == deployment_id]
            return state.allocs.index, Rows(rows, alloc_stub)

        return await self._deps.read(call, [("allocs", None)], read)

    async def fail(self, call: Call) -> Answer:
        """PUT /v1/deployment/fail/<id>: a body is not looked at."""
        return _answer(await self._deps.commands.deployments.fail(_deployment_id(call)))

    async def pause(self, call: Call) -> Answer:
        """PUT /v1/deployment/pause/<id>."""
        request: PauseRequest = await call.read(PauseRequest)
        deployment_id = _checked(call, request.deployment_id)
        commands = self._deps.commands.deployments
        return _answer(
            await (commands.pause(deployment_id) if request.pause else commands.resume(deployment_id))
        )

    async def promote(self, call: Call) -> Answer:
        """PUT /v1/deployment/promote/<id>."""
        request: PromoteRequest = await call.read(PromoteRequest)
        deployment_id = _checked(call, request.deployment_id)
        groups = None if request.all else request.groups or ()
        return _answer(await self._deps.commands.deployments.promote(deployment_id, groups))

    async def allocation_health(self, call: Call) -> Answer:
        """PUT /v1/deployment/allocation-health/<id>."""
        request: AllocHealthRequest = await call.read(AllocHealthRequest)
        deployment_id = _checked(call, request.deployment_id)
        return _answer(
            await self._deps.commands.deployments.set_health(
                deployment_id,
                healthy=[AllocID(one) for one in request.healthy_allocation_ids or ()],
                unhealthy=[AllocID(one) for one in request.unhealthy_allocation_ids or ()],
            )
        )

    async def unblock(self, call: Call) -> Answer:
        """PUT /v1/deployment/unblock/<id>."""
        request: DeploymentRequest = await call.read(DeploymentRequest)
        deployment_id = _checked(call, request.deployment_id)
        return _answer(await self._deps.commands.deployments.unblock(deployment_id))


def _deployment_id(call: Call) -> DeploymentID:
    return DeploymentID(checked_uuid("deployment", call.path["deployment_id"]))


def _checked(call: Call, deployment_id: str) -> DeploymentID:
    """The deployment of path and body, which must agree. Raises HttpError."""
    if not deployment_id:
        raise HttpError(400, "DeploymentID must be specified")
    if deployment_id != call.path["deployment_id"]:
        raise HttpError(400, "Deployment ID does not match")
    return _deployment_id(call)


def _answer(done: DeploymentChanged) -> Answer:
    return Answer(
        body=DeploymentUpdateResponse(
            eval_id=done.eval_id,
            eval_create_index=done.index if done.eval_id else 0,
            deployment_modify_index=done.index,
            reverted_job_version=done.reverted_version,
            index=done.index,
        ),
        index=done.index,
    )
