"""/v1/system: tidying up."""

from __future__ import annotations

from yurt.api import needs
from yurt.api.answer import Answer, empty_answer
from yurt.api.call import Call
from yurt.api.deps import Deps
from yurt.api.routes import Route


class SystemHandlers:
    """The handlers of /v1/system."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        return (
            Route(
                path="/v1/system/gc",
                handlers={"PUT": self.gc},
                summary="Forget what is not needed",
                needs=needs.MANAGEMENT,
            ),
            Route(
                path="/v1/system/reconcile/summaries",
                handlers={"PUT": self.reconcile},
                summary="Count the allocations of all jobs anew",
                needs=needs.MANAGEMENT,
            ),
        )

    async def gc(self, _call: Call) -> Answer:
        """PUT /v1/system/gc."""
        await self._deps.commands.system.collect_garbage()
        return empty_answer()

    async def reconcile(self, _call: Call) -> Answer:
        """PUT /v1/system/reconcile/summaries."""
        await self._deps.commands.system.reconcile_summaries()
        return empty_answer()
