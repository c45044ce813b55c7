"""/v1/allocations and /v1/allocation."""

from __future__ import annotations

from operator import attrgetter

from yurt.agent.services.checks import CheckResult
from yurt.api import needs
from yurt.api.answer import Answer
from yurt.api.call import Call
from yurt.api.deps import Deps
from yurt.api.errors import HttpError
from yurt.api.filter.values import Getters, define_members
from yurt.api.ids import checked_prefix, checked_uuid
from yurt.api.listing import by_id, by_index
from yurt.api.parameters import BLOCKING, LISTED, flag
from yurt.api.routes import ANY_METHOD, WRITE, Route
from yurt.api.rows import Rows
from yurt.api.v1.alloc_views import (
    AllocListStub,
    AllocView,
    alloc_metric,
    alloc_stub,
    alloc_view,
    legacy_resources,
    task_state_views,
)
from yurt.api.v1.client_checks import CheckReader
from yurt.api.v1.found import found
from yurt.model.alloc import Allocation
from yurt.model.service_registration import ServiceRegistration
from yurt.model.wire import AllocID, Wire
from yurt.server.commands.allocs import AllocNotFound

BY_ID = by_id(lambda alloc: alloc.id)
BY_INDEX = by_index(lambda alloc: alloc.create_index, lambda alloc: alloc.id)


def _filter_members() -> Getters:
    """What filters see of an allocation: the API's members, made only when an expression names them."""
    own = {name for name in dir(Allocation) if not name.startswith("_")}
    fields = dict(zip(AllocView.__struct_encode_fields__, AllocView.__struct_fields__, strict=True))
    return {
        **{wire: attrgetter(name) for wire, name in fields.items() if name in own},
        "Resources": lambda alloc: legacy_resources(alloc.resources)[0],
        "SharedResources": lambda alloc: legacy_resources(alloc.resources)[1],
        "TaskResources": lambda alloc: legacy_resources(alloc.resources)[2],
        "AllocatedResources": attrgetter("resources"),
        "Metrics": lambda alloc: alloc_metric(alloc.metrics),
        "TaskStates": lambda alloc: task_state_views(alloc.task_states),
    }


define_members(Allocation, _filter_members())


class AllocStopped(Wire, frozen=True, kw_only=True):
    """The evaluation that places a stopped allocation anew."""

    eval_id: str
    index: int


class AllocationHandlers:
    """The handlers of /v1/allocations and /v1/allocation."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps
        self._checks = CheckReader(deps)

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        of_alloc = self._deps.namespace_of.alloc
        return (
            Route(
                path="/v1/allocations",
                handlers={"GET": self.list},
                summary="List allocations",
                takes=(
                    *LISTED,
                    flag("resources", "Show the resources that allocations have."),
                    flag("task_states", "Show the states of tasks; they are without."),
                ),
                needs=needs.listed("read-job"),
                response=list[AllocListStub],
            ),
            Route(
                path="/v1/allocation/{alloc_id}/stop",
                handlers=dict.fromkeys(WRITE, self.stop),
                summary="Stop an allocation and place it anew",
                takes=(
                    flag("no_shutdown_delay", "Do not wait before tasks are stopped."),
                    flag("reschedule", "Count it as a failure that is placed anew."),
                ),
                response=AllocStopped,
                needs=needs.namespace("alloc-lifecycle", of=of_alloc),
            ),
            Route(
                path="/v1/allocation/{alloc_id}/services",
                handlers={"GET": self.services},
                summary="List the services of an allocation",
                takes=BLOCKING,
                needs=needs.namespace("read-job", of=of_alloc),
                response=list[ServiceRegistration],
            ),
            Route(
                path="/v1/allocation/{alloc_id}/checks",
                handlers=dict.fromkeys(ANY_METHOD, self._checks.read),
                summary="Read the results of an allocation's checks",
                response=dict[str, CheckResult] | None,
                needs=needs.namespace("read-job", of=of_alloc),
            ),
            Route(
                path="/v1/allocation/{alloc_id}",
                handlers={"GET": self.read},
                summary="Read an allocation",
                takes=BLOCKING,
                needs=needs.Checked(told="ns:read-job of the allocation", check=self._may_read),
                response=AllocView,
            ),
        )

    async def list(self, call: Call) -> Answer:
        """GET /v1/allocations."""
        prefix = checked_prefix("alloc", call.query.get("prefix", ""))
        sees = call.sees()
        with_resources = call.flag("resources")
        with_states = call.flag("task_states", default=True)
        table = self._deps.state.allocs

        def is_meant(alloc: Allocation) -> bool:
            return sees(alloc.job.namespace) and alloc.id.startswith(prefix)

        def view(alloc: Allocation) -> AllocListStub:
            return alloc_stub(alloc, with_resources=with_resources, with_task_states=with_states)

        return await self._deps.list(
            call,
            [("allocs", None)],
            lambda: (table.index, table),
            BY_ID if prefix else BY_INDEX,
            where=is_meant,
            view=view,
        )

    async def _may_read(self, call: Call) -> bool:
        """Whether the caller may read an allocation; to others it is unknown, in other words than 403's."""
        namespace = await self._deps.namespace_of.alloc(call)
        if namespace is not None and not call.permissions.allows(namespace, "read-job"):
            raise HttpError(500, f'Unknown allocation "{_alloc_id(call)}"')
        return True

    async def read(self, call: Call) -> Answer:
        """GET /v1/allocation/<id>."""
        alloc_id = _alloc_id(call)
        state = self._deps.state

        def read() -> tuple[int, AllocView | None]:
            alloc = state.allocs.get(alloc_id)
            if alloc is None:
                return state.allocs.index, None
            key = state.root_keys.active_at(alloc.create_index)
            return alloc.modify_index, alloc_view(alloc, signing_key_id=key.key_id if key else "")

        return found(await self._deps.read(call, [("allocs", alloc_id)], read), "alloc not found")

    async def stop(self, call: Call) -> Answer:
        """PUT /v1/allocation/<id>/stop."""
        alloc_id = _alloc_id(call)
        try:
            done = await self._deps.commands.allocs.stop(
                alloc_id,
                no_shutdown_delay=call.flag("no_shutdown_delay"),
                reschedule=call.flag("reschedule"),
            )
        except AllocNotFound as error:
            raise HttpError(404, str(error)) from None
        return Answer(body=AllocStopped(eval_id=done.eval_id, index=done.index), index=done.index)

    async def services(self, call: Call) -> Answer:
        """GET /v1/allocation/<id>/services."""
        alloc_id, namespace = _alloc_id(call), call.namespace
        state = self._deps.state

        def read() -> tuple[int, Rows | None]:
            alloc = state.allocs.get(alloc_id)
            is_there = alloc is not None and alloc.namespace == namespace
            return max(state.services.index, 1), Rows(state.services.of_alloc(alloc_id)) if is_there else None

        keys = [("services", None), ("allocs", alloc_id)]
        return found(await self._deps.read(call, keys, read), "allocation not found")


def _alloc_id(call: Call) -> AllocID:
    if "/" in call.path["alloc_id"]:
        raise HttpError(404, "resource not found")
    return AllocID(checked_uuid("alloc", call.path["alloc_id"]))
