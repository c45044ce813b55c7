"""/allocations: what a node agent serves, so that another control plane can drive it."""

from __future__ import annotations

from yurt.agent.agent import NodeAgent
from yurt.agent.alloc_errors import AllocUnknown
from yurt.agent.alloc_runner.runner import AllocRunner
from yurt.agent.simple_allocs import alloc_view
from yurt.api import needs
from yurt.api.answer import Answer
from yurt.api.call import Call
from yurt.api.errors import HttpError
from yurt.api.routes import Route, RouteTable
from yurt.clock import Clock
from yurt.model.simple.external import external_alloc, read_allocation
from yurt.model.simple.fields import read_document
from yurt.model.wire import AllocID
from yurt.server.auth import Authority


class AllocationHandlers:
    """The handlers of /allocations."""

    def __init__(self, agent: NodeAgent, clock: Clock) -> None:
        self._agent = agent
        self._clock = clock

    def routes(self) -> tuple[Route, ...]:
        """The routes."""
        return (
            Route(
                path="/allocations",
                handlers={"POST": self.take},
                summary="Run an allocation",
                needs=needs.node("write"),
            ),
            Route(
                path="/allocations/{alloc_id}",
                handlers={"GET": self.read, "DELETE": self.delete},
                summary="Read or stop an allocation",
                needs={"GET": needs.node("read"), "DELETE": needs.node("write")},
            ),
        )

    async def take(self, call: Call) -> Answer:
        """POST /allocations."""
        asked = read_allocation(read_document(await call.body()))
        known = self._agent.allocs.get(asked.alloc_id)
        if known is None:
            self._agent.take_external(external_alloc(asked, self._agent.node, now=self._clock.now_ns()))
        elif not known.alloc.is_external or known.alloc.job.id != asked.job_id:
            raise HttpError(409, f'allocation_id: "{asked.alloc_id}" is here already, for another job')
        return Answer(body={"message": "Allocation accepted", "allocation_id": asked.alloc_id})

    async def read(self, call: Call) -> Answer:
        """GET /allocations/{alloc_id}."""
        return Answer(body=alloc_view(self._runner(call)))

    async def delete(self, call: Call) -> Answer:
        """DELETE /allocations/{alloc_id}; the answer comes when the tasks have ended."""
        await self._agent.remove(self._runner(call).alloc.id)
        return Answer(body={"message": "Allocation stopped and removed"})

    def _runner(self, call: Call) -> AllocRunner:
        alloc_id = call.path["alloc_id"]
        try:
            return self._agent.alloc(AllocID(alloc_id))
        except AllocUnknown:
            raise HttpError(404, f'allocation "{alloc_id}" not found') from None


def agent_routes(agent: NodeAgent, clock: Clock, authority: Authority | None) -> RouteTable:
    """Every route that a node agent serves in the simple dialect."""
    return RouteTable(AllocationHandlers(agent, clock).routes(), authority=authority)
