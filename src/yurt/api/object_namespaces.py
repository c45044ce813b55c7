"""The namespaces of objects that paths name, for the needs of their routes."""

from __future__ import annotations

from yurt.api.call import Call
from yurt.model.wire import AllocID, DeploymentID, EvalID
from yurt.server.server import Server


class ObjectNamespaces:
    """Finds the namespace of what a path names; None when there is no such thing.

    Handlers take ids in either case, so these do, too: what is read must be what was checked.
    """

    def __init__(self, server: Server) -> None:
        self._server = server

    async def alloc(self, call: Call) -> str | None:
        """The namespace of an allocation."""
        alloc = self._server.state.allocs.get(AllocID(call.path["alloc_id"].lower()))
        return alloc.namespace if alloc is not None else None

    async def eval(self, call: Call) -> str | None:
        """The namespace of an evaluation."""
        evaluation = self._server.state.evals.get(EvalID(call.path["eval_id"].lower()))
        return evaluation.namespace if evaluation is not None else None

    async def deployment(self, call: Call) -> str | None:
        """The namespace of a deployment."""
        deployment = self._server.state.deployments.get(DeploymentID(call.path["deployment_id"].lower()))
        return deployment.namespace if deployment is not None else None
