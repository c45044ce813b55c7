"""/v1/acl/roles and /v1/acl/role."""

from __future__ import annotations

from yurt.api import needs
from yurt.api.answer import Answer, empty_answer
from yurt.api.call import Call
from yurt.api.deps import Deps
from yurt.api.errors import HttpError
from yurt.api.parameters import BLOCKING, PREFIX
from yurt.api.routes import WRITE, Route
from yurt.api.rows import Rows
from yurt.api.v1.acl_common import if_enabled, refusals
from yurt.api.v1.acl_views import AclRoleView, PolicyLink, role_view
from yurt.api.v1.found import found
from yurt.model.acl.policy import AclRole
from yurt.model.wire import Wire


class AclRoleForm(Wire, frozen=True, kw_only=True):
    """A role as it is sent."""

    id: str = ""
    name: str = ""
    description: str = ""
    policies: tuple[PolicyLink, ...] | None = None


class AclRoleHandlers:
    """The handlers of roles."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        deps = self._deps
        own = needs.Checked(told="a role of the caller's token, or management", check=self._may_read)
        return (
            Route(
                path="/v1/acl/roles",
                handlers={"GET": if_enabled(deps, self.list)},
                summary="List roles",
                takes=(PREFIX, *BLOCKING),
                needs=needs.KNOWN_CALLER,
                response=list[AclRoleView],
            ),
            Route(
                path="/v1/acl/role",
                handlers=dict.fromkeys(WRITE, if_enabled(deps, self.write)),
                summary="Make a role",
                needs=needs.MANAGEMENT,
                request=AclRoleForm,
                response=AclRoleView,
            ),
            Route(
                path="/v1/acl/role/name/{name}",
                handlers={"GET": if_enabled(deps, self.read_named)},
                summary="Read a role by its name",
                takes=BLOCKING,
                needs=own,
                response=AclRoleView,
            ),
            Route(
                path="/v1/acl/role/{role_id}",
                handlers={
                    "GET": if_enabled(deps, self.read),
                    **dict.fromkeys(WRITE, if_enabled(deps, self.update)),
                    "DELETE": if_enabled(deps, self.delete),
                },
                summary="Read, change or delete a role",
                takes={"GET": BLOCKING},
                needs={"GET": own, **dict.fromkeys((*WRITE, "DELETE"), needs.MANAGEMENT)},
                request=AclRoleForm,
                response=AclRoleView,
            ),
        )

    async def list(self, call: Call) -> Answer:
        """GET /v1/acl/roles: those of the caller's token, or all for management."""
        prefix = call.query.get("prefix", "")
        if call.caller.identity is not None:
            raise HttpError(500, "acl token lookup failed: index error: UUID must be 36 characters")
        table = self._deps.state.acl.roles

        def read() -> tuple[int, Rows]:
            own = self._own(call)
            rows = [
                role
                for role in table
                if role.id.startswith(prefix) and (call.permissions.is_management or role.id in own)
            ]
            return max(table.index, 1), Rows(sorted(rows, key=lambda role: role.id), role_view)

        return await self._deps.read(call, [("acl-roles", None)], read)

    async def read(self, call: Call) -> Answer:
        """GET /v1/acl/role/<id>."""
        if not call.path["role_id"]:
            raise HttpError(400, "missing ACL role ID")
        if "/" in call.path["role_id"]:
            raise HttpError(400, "invalid URI")
        return await self._read(call)

    async def read_named(self, call: Call) -> Answer:
        """GET /v1/acl/role/name/<name>."""
        if not call.path["name"]:
            raise HttpError(400, "missing ACL role name")
        return await self._read(call)

    async def write(self, call: Call) -> Answer:
        """PUT /v1/acl/role: an id makes it a change."""
        form: AclRoleForm = await call.read(AclRoleForm)
        role = AclRole(
            id=form.id,
            name=form.name,
            description=form.description,
            policies=tuple(link.name for link in form.policies or ()),
        )
        with refusals():
            stored = await self._deps.commands.acl.write_role(role)
        return Answer(body=role_view(stored), index=stored.modify_index)

    async def update(self, call: Call) -> Answer:
        """PUT /v1/acl/role/<id>."""
        form: AclRoleForm = await call.read(AclRoleForm)
        if form.id != call.path["role_id"]:
            raise HttpError(400, "ACL role ID does not match request path")
        return await self.write(call)

    async def delete(self, call: Call) -> Answer:
        """DELETE /v1/acl/role/<id>."""
        return empty_answer(await self._deps.commands.acl.delete_role(call.path["role_id"]))

    async def _read(self, call: Call) -> Answer:
        table = self._deps.state.acl.roles

        def read() -> tuple[int, AclRoleView | None]:
            role = self._named(call)
            return (max(table.index, 1), None) if role is None else (role.modify_index, role_view(role))

        return found(await self._deps.read(call, [("acl-roles", None)], read), "ACL role not found")

    async def _may_read(self, call: Call) -> bool:
        if call.permissions.is_management:
            return True
        role = self._named(call)
        return role is not None and role.id in self._own(call)

    def _named(self, call: Call) -> AclRole | None:
        table = self._deps.state.acl.roles
        return table.named(call.path["name"]) if "name" in call.path else table.get(call.path["role_id"])

    def _own(self, call: Call) -> tuple[str, ...]:
        token = self._deps.state.acl.tokens.get(call.caller.accessor_id)
        return (token.roles or ()) if token is not None else ()
