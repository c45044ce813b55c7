"""/v1/acl/bootstrap, /v1/acl/policies and /v1/acl/policy."""

from __future__ import annotations

import asyncio
from pathlib import Path

from yurt.api import needs
from yurt.api.acl_rules import RulesUnreadable, read_rules
from yurt.api.answer import Answer, empty_answer
from yurt.api.call import Call
from yurt.api.deps import Deps
from yurt.api.errors import HttpError
from yurt.api.parameters import BLOCKING, PREFIX
from yurt.api.routes import WRITE, Route
from yurt.api.rows import Rows
from yurt.api.v1.acl_common import if_enabled, refusals
from yurt.api.v1.acl_views import (
    AclPolicyStub,
    AclPolicyView,
    AclTokenView,
    policy_stub,
    policy_view,
    token_view,
)
from yurt.api.v1.found import found
from yurt.model.acl.caller import ANONYMOUS
from yurt.model.acl.policy import AclPolicy, JobAcl
from yurt.model.acl.rules import Rules
from yurt.model.wire import Wire
from yurt.server.commands.acl import is_uuid

RESET_FILE = "acl-bootstrap-reset"
RESET_BYTES_MAX = 64


class BootstrapForm(Wire, frozen=True, kw_only=True):
    """The secret that the first token is to have."""

    bootstrap_secret: str = ""


class AclPolicyForm(Wire, frozen=True, kw_only=True):
    """A policy as it is sent."""

    name: str = ""
    description: str = ""
    rules: str = ""
    job_acl: JobAcl | None = None


class AclPolicyHandlers:
    """The handlers of policies, and of the first token."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        deps = self._deps
        return (
            Route(
                path="/v1/acl/bootstrap",
                handlers=dict.fromkeys(WRITE, if_enabled(deps, self.bootstrap)),
                summary="Make the first management token",
                needs=needs.ANYONE,
                request=BootstrapForm,
                response=AclTokenView,
            ),
            Route(
                path="/v1/acl/policies",
                handlers={"GET": if_enabled(deps, self.list)},
                summary="List policies",
                takes=(PREFIX, *BLOCKING),
                needs=needs.KNOWN_CALLER,
                response=list[AclPolicyStub],
            ),
            Route(
                path="/v1/acl/policy/self",
                handlers={"GET": if_enabled(deps, self.own)},
                summary="List the policies of the calling token",
                takes=BLOCKING,
                needs=needs.TOKEN,
                response=list[AclPolicyStub],
            ),
            Route(
                path="/v1/acl/policy/{name}",
                handlers={
                    "GET": if_enabled(deps, self.read),
                    **dict.fromkeys(WRITE, if_enabled(deps, self.write)),
                    "DELETE": if_enabled(deps, self.delete),
                },
                summary="Read, write or delete a policy",
                takes={"GET": BLOCKING},
                needs={
                    "GET": needs.Checked(told="the caller's own policy, or management", check=_may_read),
                    **dict.fromkeys((*WRITE, "DELETE"), needs.MANAGEMENT),
                },
                request=AclPolicyForm,
                response=AclPolicyView,
            ),
        )

    async def bootstrap(self, call: Call) -> Answer:
        """PUT /v1/acl/bootstrap."""
        form = BootstrapForm()
        if await call.body():
            form = await call.read(BootstrapForm)
        secret = form.bootstrap_secret
        if secret and not is_uuid(secret):
            raise HttpError(400, "invalid acl token")
        with refusals():
            token = await self._deps.commands.acl.bootstrap(secret, reset_index=await self._reset_index())
        return Answer(body=token_view(token, self._deps.state.acl), index=token.modify_index)

    async def list(self, call: Call) -> Answer:
        """GET /v1/acl/policies: those that the caller has, or all for management."""
        prefix, caller = call.query.get("prefix", ""), call.caller
        table = self._deps.state.acl.policies

        def read() -> tuple[int, Rows]:
            rows = [
                policy
                for policy in table
                if policy.name.startswith(prefix)
                and (caller.permissions.is_management or policy.name in caller.policies)
            ]
            return max(table.index, 1), Rows(sorted(rows, key=lambda policy: policy.name), policy_stub)

        return await self._deps.read(call, [("acl-policies", None)], read)

    async def own(self, call: Call) -> Answer:
        """GET /v1/acl/policy/self: nothing for management, which needs no policies."""
        caller = call.caller
        table = self._deps.state.acl.policies

        def read() -> tuple[int, Rows | None]:
            rows = [policy for policy in table if policy.name in caller.policies]
            is_without = caller.permissions.is_management or (caller.identity is not None and not rows)
            return max(table.index, 1), None if is_without else Rows(rows, policy_stub)

        return await self._deps.read(call, [("acl-policies", None)], read)

    async def read(self, call: Call) -> Answer:
        """GET /v1/acl/policy/<name>."""
        name = _name(call)
        table = self._deps.state.acl.policies

        def read() -> tuple[int, AclPolicyView | None]:
            policy = table.get(name)
            if policy is None:
                return max(table.index, 1), None
            return policy.modify_index, policy_view(policy)

        return found(await self._deps.read(call, [("acl-policies", name)], read), "ACL policy not found")

    async def write(self, call: Call) -> Answer:
        """PUT /v1/acl/policy/<name>."""
        name = _name(call)
        form: AclPolicyForm = await call.read(AclPolicyForm)
        if form.name != name:
            raise HttpError(400, "ACL policy name does not match request path")
        parsed, problem = Rules(), None
        try:
            parsed = await asyncio.to_thread(read_rules, form.rules)
        except RulesUnreadable as error:
            problem = str(error)
        policy = AclPolicy(
            name=form.name,
            description=form.description,
            rules=form.rules,
            parsed=parsed,
            job_acl=form.job_acl,
        )
        with refusals():
            return empty_answer(await self._deps.commands.acl.write_policy(policy, rules_problem=problem))

    async def delete(self, call: Call) -> Answer:
        """DELETE /v1/acl/policy/<name>."""
        return empty_answer(await self._deps.commands.acl.delete_policy(_name(call)))

    async def _reset_index(self) -> int:
        """The index that somebody with access to the server's disk left there, to start over."""
        directory = self._deps.server.settings.data_dir
        if directory is None:
            return 0
        return await asyncio.to_thread(_index_in, directory / RESET_FILE)


async def _may_read(call: Call) -> bool:
    name = call.path["name"]
    return call.permissions.is_management or name == ANONYMOUS or name in call.caller.policies or not name


def _name(call: Call) -> str:
    if not call.path["name"]:
        raise HttpError(400, "Missing Policy Name")
    return call.path["name"]


def _index_in(path: Path) -> int:
    try:
        with path.open("rb") as file:
            text = file.read(RESET_BYTES_MAX)
    except OSError:
        return 0
    return int(text) if text.strip().isdigit() else 0
