"""/v1/quotas and /v1/quota: how much namespaces may use."""

from __future__ import annotations

from yurt.api import needs
from yurt.api.answer import Answer, empty_answer
from yurt.api.call import Call
from yurt.api.deps import Deps
from yurt.api.errors import HttpError
from yurt.api.parameters import BLOCKING, PREFIX
from yurt.api.routes import WRITE, Route
from yurt.api.rows import Rows
from yurt.api.v1.found import found
from yurt.model.quota import QuotaSpec, QuotaUsage
from yurt.server.commands.quotas import usage_of
from yurt.state.watches import WatchKey

# What a quota's use depends on.
_USE: tuple[WatchKey, ...] = (("quotas", None), ("allocs", None), ("variables", None), ("namespaces", None))


class QuotaHandlers:
    """The handlers of /v1/quotas, /v1/quota-usages and /v1/quota."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        read, write = needs.InArea("quota", "read"), needs.InArea("quota", "write")
        return (
            Route(
                path="/v1/quotas",
                handlers={"GET": self.list},
                summary="List quotas",
                takes=(PREFIX, *BLOCKING),
                needs=read,
                response=list[QuotaSpec],
            ),
            Route(
                path="/v1/quota-usages",
                handlers={"GET": self.usages},
                summary="List what quotas are used for",
                takes=(PREFIX, *BLOCKING),
                needs=read,
                response=list[QuotaUsage],
            ),
            Route(
                path="/v1/quota",
                handlers=dict.fromkeys(WRITE, self.write),
                summary="Make or change a quota",
                needs=write,
                request=QuotaSpec,
            ),
            Route(
                path="/v1/quota/usage/{name}",
                handlers={"GET": self.usage},
                summary="Read what a quota is used for",
                takes=BLOCKING,
                needs=read,
                response=QuotaUsage,
            ),
            Route(
                path="/v1/quota/{name}",
                handlers={"GET": self.read, **dict.fromkeys(WRITE, self.write), "DELETE": self.delete},
                summary="Read, change or delete a quota",
                takes={"GET": BLOCKING},
                needs={"GET": read, **dict.fromkeys(WRITE, write), "DELETE": write},
                request=QuotaSpec,
                response=QuotaSpec,
            ),
        )

    async def list(self, call: Call) -> Answer:
        """GET /v1/quotas."""
        prefix, table = call.query.get("prefix", ""), self._deps.state.quotas

        def read() -> tuple[int, Rows]:
            return max(table.index, 1), Rows(sorted_quotas(table.rows(), prefix))

        return await self._deps.read(call, [("quotas", None)], read)

    async def usages(self, call: Call) -> Answer:
        """GET /v1/quota-usages."""
        prefix, state = call.query.get("prefix", ""), self._deps.state

        def read() -> tuple[int, Rows]:
            rows = sorted_quotas(state.quotas.rows(), prefix)
            return self._use_index(), Rows(rows, self._usage)

        return await self._deps.read(call, _USE, read)

    async def read(self, call: Call) -> Answer:
        """GET /v1/quota/<name>."""
        name, table = call.path["name"], self._deps.state.quotas

        def read() -> tuple[int, QuotaSpec | None]:
            spec = table.get(name)
            return (spec.modify_index if spec is not None else max(table.index, 1)), spec

        return found(await self._deps.read(call, [("quotas", name)], read), "Quota not found")

    async def usage(self, call: Call) -> Answer:
        """GET /v1/quota/usage/<name>."""
        name, table = call.path["name"], self._deps.state.quotas

        def read() -> tuple[int, QuotaUsage | None]:
            spec = table.get(name)
            return self._use_index(), self._usage(spec) if spec is not None else None

        return found(await self._deps.read(call, _USE, read), "Quota not found")

    async def write(self, call: Call) -> Answer:
        """PUT /v1/quota, PUT /v1/quota/<name>."""
        spec: QuotaSpec = await call.read(QuotaSpec)
        name = call.path.get("name", spec.name)
        if name != spec.name:
            raise HttpError(400, "Quota name does not match request path")
        return empty_answer(await self._deps.commands.quotas.upsert(spec))

    async def delete(self, call: Call) -> Answer:
        """DELETE /v1/quota/<name>."""
        return empty_answer(await self._deps.commands.quotas.delete(call.path["name"]))

    def _usage(self, spec: QuotaSpec) -> QuotaUsage:
        return usage_of(self._deps.state, spec, self._deps.info.region)

    def _use_index(self) -> int:
        state = self._deps.state
        tables = (state.quotas, state.allocs, state.variables, state.namespaces)
        return max(1, *(table.index for table in tables))


def sorted_quotas(rows: list[QuotaSpec], prefix: str) -> list[QuotaSpec]:
    """The quotas whose names begin so, by name."""
    return sorted((one for one in rows if one.name.startswith(prefix)), key=lambda one: one.name)
