"""/v1/allocations and /v1/allocation."""

from __future__ import annotations

from yurt.api.answer import Answer
from yurt.api.call import ALL_NAMESPACES, Call
from yurt.api.deps import Deps
from yurt.api.errors import HttpError
from yurt.api.ids import checked_prefix, checked_uuid
from yurt.api.routes import Route
from yurt.api.v1.alloc_views import AllocListStub, AllocView, alloc_stub, alloc_view
from yurt.api.v1.found import found
from yurt.api.v1.paging import page
from yurt.model.wire import AllocID


class AllocationHandlers:
    """The handlers of /v1/allocations and /v1/allocation."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        return (
            Route(path="/v1/allocations", handlers={"GET": self.list}, summary="List allocations"),
            Route(
                path="/v1/allocation/{alloc_id}", handlers={"GET": self.read}, summary="Read an allocation"
            ),
        )

    async def list(self, call: Call) -> Answer:
        """GET /v1/allocations."""
        prefix = checked_prefix("alloc", call.query.get("prefix", ""))
        with_resources = call.flag("resources")
        with_states = call.query.get("task_states", "") == "" or call.flag("task_states")
        state = self._deps.state

        def read() -> tuple[int, tuple[list[AllocListStub], str]]:
            allocs = [
                alloc
                for alloc in state.allocs
                if call.namespace in (ALL_NAMESPACES, alloc.job.namespace) and alloc.id.startswith(prefix)
            ]
            shown, token = page(
                call,
                allocs,
                order=(lambda a: (a.id,)) if prefix else (lambda a: (a.create_index, a.id)),
                token=(lambda a: a.id) if prefix else (lambda a: f"{a.create_index}.{a.id}"),
            )
            stubs = [
                alloc_stub(alloc, with_resources=with_resources, with_task_states=with_states)
                for alloc in shown
            ]
            return state.allocs.index, (stubs, token)

        answer = await self._deps.read(call, [("allocs", None)], read)
        answer.body, answer.next_token = answer.body
        return answer

    async def read(self, call: Call) -> Answer:
        """GET /v1/allocation/<id>."""
        if "/" in call.path["alloc_id"]:
            raise HttpError(404, "resource not found")
        alloc_id = AllocID(checked_uuid("alloc", call.path["alloc_id"]))
        state = self._deps.state

        def read() -> tuple[int, AllocView | None]:
            alloc = state.allocs.get(alloc_id)
            if alloc is None:
                return state.allocs.index, None
            return alloc.modify_index, alloc_view(alloc)

        return found(await self._deps.read(call, [("allocs", alloc_id)], read), "alloc not found")
