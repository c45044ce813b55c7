"""/v1/namespaces and /v1/namespace."""

from __future__ import annotations

from typing import Any

import msgspec

from yurt.api import needs
from yurt.api.answer import Answer, empty_answer
from yurt.api.call import Call
from yurt.api.deps import Deps
from yurt.api.errors import HttpError
from yurt.api.parameters import BLOCKING, PREFIX
from yurt.api.routes import WRITE, Route
from yurt.api.rows import Rows
from yurt.api.v1.found import found
from yurt.model.namespace import Namespace, NamespaceCapabilities, NamespaceNodePools
from yurt.model.wire import Wire
from yurt.server.commands.namespaces import content_hash

# What only other editions have, as their refusals name it.
_UNLICENSED = {
    "vault_configuration": "invalid vault configuration: Multi-Cluster Vault is unlicensed.",
    "consul_configuration": "invalid consul configuration: Multi-Cluster Consul is unlicensed.",
}


class NamespaceForm(Wire, frozen=True, kw_only=True):
    """A namespace as it is sent."""

    name: str = ""
    description: str = ""
    quota: str = ""
    capabilities: NamespaceCapabilities | None = None
    node_pool_configuration: NamespaceNodePools | None = None
    vault_configuration: dict[str, Any] | None = None
    consul_configuration: dict[str, Any] | None = None
    meta: dict[str, str] | None = None
    required_extra_claims: dict[str, str] | None = None
    optional_extra_claims: dict[str, str] | None = None


class NamespaceHandlers:
    """The handlers of /v1/namespaces and /v1/namespace."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        return (
            Route(
                path="/v1/namespaces",
                handlers={"GET": self.list},
                summary="List namespaces",
                takes=(PREFIX, *BLOCKING),
                needs=needs.KNOWN_CALLER,
                response=list[Namespace],
            ),
            Route(
                path="/v1/namespace",
                handlers=dict.fromkeys(WRITE, self.write),
                summary="Make or replace a namespace",
                needs=needs.MANAGEMENT,
                request=NamespaceForm,
            ),
            Route(
                path="/v1/namespace/{name}",
                handlers={"GET": self.read, **dict.fromkeys(WRITE, self.write), "DELETE": self.delete},
                summary="Read, replace or delete a namespace",
                takes={"GET": BLOCKING},
                needs={
                    "GET": needs.Checked(told="any capability in the namespace", check=_may_see),
                    **dict.fromkeys((*WRITE, "DELETE"), needs.MANAGEMENT),
                },
                request=dict.fromkeys(WRITE, NamespaceForm),
                response=Namespace,
            ),
        )

    async def list(self, call: Call) -> Answer:
        """GET /v1/namespaces: no pages, no filter."""
        prefix = call.query.get("prefix", "")
        table = self._deps.state.namespaces

        def read() -> tuple[int, Rows]:
            rows = [
                namespace
                for namespace in table
                if namespace.name.startswith(prefix) and call.permissions.sees_namespace(namespace.name)
            ]
            return max(table.index, 1), Rows(sorted(rows, key=lambda namespace: namespace.name), _shown)

        return await self._deps.read(call, [("namespaces", None)], read)

    async def read(self, call: Call) -> Answer:
        """GET /v1/namespace/<name>."""
        name = call.path["name"]
        table = self._deps.state.namespaces

        def read() -> tuple[int, Namespace | None]:
            namespace = table.get(name)
            if namespace is None:
                return max(table.index, 1), None
            return namespace.modify_index, _shown(namespace)

        return found(await self._deps.read(call, [("namespaces", name)], read), "Namespace not found")

    async def write(self, call: Call) -> Answer:
        """PUT /v1/namespace and /v1/namespace/<name>."""
        form: NamespaceForm = await call.read(NamespaceForm)
        if "name" in call.path and call.path["name"] != form.name:
            raise HttpError(400, "Namespace name does not match request path")
        features = tuple(text for name, text in _UNLICENSED.items() if getattr(form, name) is not None)
        plain = {
            name: value for name, value in msgspec.structs.asdict(form).items() if name not in _UNLICENSED
        }
        return empty_answer(
            await self._deps.commands.namespaces.upsert(Namespace(**plain), features=features)
        )

    async def delete(self, call: Call) -> Answer:
        """DELETE /v1/namespace/<name>."""
        return empty_answer(await self._deps.commands.namespaces.delete(call.path["name"]))


async def _may_see(call: Call) -> bool:
    return call.permissions.sees_namespace(call.path["name"])


def _shown(namespace: Namespace) -> Namespace:
    """A namespace as the API shows it; the built-in one was never written, and is hashed here."""
    if namespace.hash is not None:
        return namespace
    return msgspec.structs.replace(namespace, hash=content_hash(namespace))
