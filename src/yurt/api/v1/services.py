"""/v1/services and /v1/service."""

from __future__ import annotations

from yurt.api import needs
from yurt.api.answer import Answer, empty_answer
from yurt.api.call import ALL_NAMESPACES, Call, uint64
from yurt.api.deps import Deps
from yurt.api.errors import HttpError
from yurt.api.listing import by_namespace
from yurt.api.parameters import BLOCKING, PAGED, text
from yurt.api.routes import Route
from yurt.api.rows import Rows
from yurt.model.service_choice import chosen
from yurt.model.service_registration import ServiceRegistration
from yurt.model.wire import Wire

BY_NAMESPACE = by_namespace(lambda service: service.namespace, lambda service: service.id)
# Workloads find each other within their namespace.
_READS = needs.InNamespace(any_of=("read-job",), is_list=True, or_own_workload=True)
BAD_CHOICE = "failed to choose services: Parameter for choose must be in form '<number>|<key>'"


class ServiceStub(Wire, frozen=True, kw_only=True):
    """A service and the tags of all its instances."""

    service_name: str
    tags: tuple[str, ...]


class NamespaceServices(Wire, frozen=True, kw_only=True):
    """The services of a namespace."""

    namespace: str
    services: tuple[ServiceStub, ...]


class ServiceHandlers:
    """The handlers of /v1/services and /v1/service."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        return (
            Route(
                path="/v1/services",
                handlers={"GET": self.list},
                summary="List services",
                takes=BLOCKING,
                needs=_READS,
                response=list[NamespaceServices],
            ),
            Route(
                path="/v1/service/{name}",
                handlers={"GET": self.read, "DELETE": self.delete},
                summary="List the instances of a service, delete one",
                takes={
                    "GET": (
                        *PAGED,
                        text("choose", "`<number>|<key>`: so many, the same ones for the same key."),
                    )
                },
                documented={"DELETE": "/v1/service/{name}/{registration_id}"},
                needs={
                    "GET": _READS,
                    "DELETE": needs.namespace("submit-job", "delete-service-registration"),
                },
                response=list[ServiceRegistration],
            ),
        )

    async def list(self, call: Call) -> Answer:
        """GET /v1/services."""
        sees = call.sees()
        table = self._deps.state.services

        def read() -> tuple[int, Rows]:
            tags: dict[str, dict[str, dict[str, None]]] = {}
            for service in table:
                if sees(service.namespace):
                    names = tags.setdefault(service.namespace, {})
                    names.setdefault(service.service_name, {}).update(dict.fromkeys(service.tags or ()))
            rows = [
                NamespaceServices(
                    namespace=space,
                    services=tuple(
                        ServiceStub(service_name=name, tags=tuple(found)) for name, found in names.items()
                    ),
                )
                for space, names in tags.items()
            ]
            return max(table.index, 1), Rows(rows)

        return await self._deps.read(call, [("services", None)], read)

    async def read(self, call: Call) -> Answer:
        """GET /v1/service/<name>."""
        name, namespace, sees = call.path["name"], call.namespace, call.sees()
        if not name:
            raise HttpError(400, "missing service name")
        choice = _choice(call.query.get("choose", ""))
        table = self._deps.state.services

        def instances() -> list[ServiceRegistration]:
            if namespace == ALL_NAMESPACES:
                return [
                    service for service in table if service.service_name == name and sees(service.namespace)
                ]
            return table.named(namespace, name)

        if choice is None:
            return await self._deps.list(
                call,
                [("services", None)],
                lambda: (max(table.index, 1), instances()),
                BY_NAMESPACE,
            )
        number, key = choice
        return await self._deps.read(
            call,
            [("services", None)],
            lambda: (max(table.index, 1), Rows(chosen(instances(), number, key))),
        )

    async def delete(self, call: Call) -> Answer:
        """DELETE /v1/service/<name>/<id>."""
        parts = call.path["name"].split("/")
        if len(parts) == 1:
            raise HttpError(405, "Invalid method")
        if len(parts) > 2:
            raise HttpError(400, "invalid URI")
        return empty_answer(await self._deps.commands.services.delete(call.namespace, parts[1]))


def _choice(text: str) -> tuple[int, str] | None:
    if not text:
        return None
    head, bar, key = text.partition("|")
    number = uint64(head)
    if not bar or number is None:
        raise HttpError(400, BAD_CHOICE)
    return number, key
