"""/v1/acl/tokens and /v1/acl/token."""

from __future__ import annotations

from typing import Any

from yurt.api import needs
from yurt.api.answer import Answer, empty_answer, read_answer
from yurt.api.call import Call
from yurt.api.deps import Deps
from yurt.api.errors import HttpError
from yurt.api.ids import checked_prefix, checked_uuid
from yurt.api.listing import by_id, by_index
from yurt.api.parameters import BLOCKING, LISTED
from yurt.api.routes import WRITE, Route
from yurt.api.v1.acl_common import duration_of, if_enabled, refusals, time_of
from yurt.api.v1.acl_views import (
    ZERO_TIME,
    AclTokenStub,
    AclTokenView,
    RoleLink,
    one_time_view,
    token_stub,
    token_view,
)
from yurt.api.v1.found import found
from yurt.model.acl.caller import ANONYMOUS, OPEN_TO_ALL
from yurt.model.acl.token import CLIENT, AclToken
from yurt.model.wire import Wire, wire_names
from yurt.server.auth import TokenExpired, TokenRefused

LOOKUP = "acl token"
BY_ID = by_id(lambda token: token.accessor_id)
BY_INDEX = by_index(lambda token: token.create_index, lambda token: token.accessor_id)


class AclTokenForm(Wire, frozen=True, kw_only=True, rename=wire_names(is_global="Global")):
    """A token as it is sent; its life is a text such as `1h`."""

    accessor_id: str = ""
    secret_id: str = ""
    name: str = ""
    type: str = ""
    policies: tuple[str, ...] | None = None
    roles: tuple[RoleLink, ...] | None = None
    is_global: bool = False
    expiration_time: str | None = None
    expiration_ttl: Any = None


class ExchangeForm(Wire, frozen=True, kw_only=True):
    """A secret that can be exchanged once."""

    one_time_secret_id: str = ""


class AclTokenHandlers:
    """The handlers of tokens."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        deps = self._deps
        return (
            Route(
                path="/v1/acl/tokens",
                handlers={"GET": if_enabled(deps, self.list)},
                summary="List tokens",
                takes=LISTED,
                needs=needs.MANAGEMENT,
                response=list[AclTokenStub],
            ),
            Route(
                path="/v1/acl/token",
                handlers=dict.fromkeys(WRITE, if_enabled(deps, self.create)),
                summary="Make a token",
                needs=needs.MANAGEMENT,
                request=AclTokenForm,
                response=AclTokenView,
            ),
            Route(
                path="/v1/acl/token/self",
                handlers={"GET": self.own},
                summary="Read the calling token",
                # Who sends a token that is no good is told why.
                needs=needs.ANYONE,
                response=AclTokenView,
            ),
            Route(
                path="/v1/acl/token/onetime",
                handlers=dict.fromkeys(WRITE, if_enabled(deps, self.make_one_time)),
                summary="Make a secret that can be exchanged for the calling token once",
                needs=needs.KNOWN_CALLER,
            ),
            Route(
                path="/v1/acl/token/onetime/exchange",
                handlers=dict.fromkeys(WRITE, if_enabled(deps, self.exchange)),
                summary="Exchange a secret for its token",
                needs=needs.ANYONE,
                request=ExchangeForm,
            ),
            Route(
                path="/v1/acl/token/{accessor_id}",
                handlers={
                    "GET": if_enabled(deps, self.read),
                    **dict.fromkeys(WRITE, if_enabled(deps, self.update)),
                    "DELETE": if_enabled(deps, self.delete),
                },
                summary="Read, change or delete a token",
                takes={"GET": BLOCKING},
                needs={
                    "GET": needs.Checked(told="the caller's own token, or management", check=_may_read),
                    **dict.fromkeys((*WRITE, "DELETE"), needs.MANAGEMENT),
                },
                request=AclTokenForm,
                response=AclTokenView,
            ),
        )

    async def list(self, call: Call) -> Answer:
        """GET /v1/acl/tokens."""
        prefix = checked_prefix(LOOKUP, call.query.get("prefix", ""))
        acl = self._deps.state.acl

        return await self._deps.list(
            call,
            [("acl-tokens", None)],
            lambda: (max(acl.tokens.index, 1), acl.tokens),
            BY_ID if prefix else BY_INDEX,
            where=lambda token: token.accessor_id.startswith(prefix),
            view=lambda token: token_stub(token, acl),
        )

    async def create(self, call: Call) -> Answer:
        """PUT /v1/acl/token: with an accessor that there is already, a change of that token."""
        form: AclTokenForm = await call.read(AclTokenForm)
        if form.accessor_id and form.accessor_id in self._deps.state.acl.tokens:
            return await self._update(form)
        with refusals():
            made = await self._deps.commands.acl_tokens.create(_token(form), _roles(form))
        return self._shown(made)

    async def update(self, call: Call) -> Answer:
        """PUT /v1/acl/token/<accessor>."""
        form: AclTokenForm = await call.read(AclTokenForm)
        if form.accessor_id != call.path["accessor_id"]:
            raise HttpError(400, "ACL token accessor does not match request path")
        return await self._update(form)

    async def read(self, call: Call) -> Answer:
        """GET /v1/acl/token/<accessor>."""
        accessor_id = _accessor_id(call)
        acl = self._deps.state.acl

        def read() -> tuple[int, AclTokenView | None]:
            token = acl.tokens.get(accessor_id)
            if token is None:
                return max(acl.tokens.index, 1), None
            return token.modify_index, token_view(token, acl)

        return found(await self._deps.read(call, [("acl-tokens", accessor_id)], read), "ACL token not found")

    async def delete(self, call: Call) -> Answer:
        """DELETE /v1/acl/token/<accessor>."""
        with refusals():
            return empty_answer(await self._deps.commands.acl_tokens.delete(call.path["accessor_id"]))

    async def own(self, call: Call) -> Answer:
        """GET /v1/acl/token/self."""
        authority, acl = self._deps.server.authority, self._deps.state.acl
        if not authority.is_enabled:
            return read_answer(_nobody(OPEN_TO_ALL.accessor_id, OPEN_TO_ALL.name, None), 0)
        try:
            caller = authority.caller(call.secret)
        except TokenExpired:
            raise HttpError(500, "ACL token expired") from None
        except TokenRefused as error:
            raise HttpError(403, str(error)) from None
        if caller.identity is not None:
            raise HttpError(404, "ACL token not found")
        token = acl.tokens.get(caller.accessor_id)
        if token is None:
            return read_answer(_nobody(ANONYMOUS, caller.name, caller.policies), 0)
        return read_answer(token_view(token, acl), token.modify_index)

    async def make_one_time(self, call: Call) -> Answer:
        """PUT /v1/acl/token/onetime."""
        if call.caller.accessor_id not in self._deps.state.acl.tokens:
            raise HttpError(500, "acl token lookup failed: missing secret id")
        token = await self._deps.commands.acl_tokens.make_one_time(call.caller.accessor_id)
        body = {"OneTimeToken": one_time_view(token), "Index": token.modify_index}
        return Answer(body=body, index=token.modify_index)

    async def exchange(self, call: Call) -> Answer:
        """PUT /v1/acl/token/onetime/exchange."""
        form: ExchangeForm = await call.read(ExchangeForm)
        if not form.one_time_secret_id:
            raise HttpError(500, "one-time token lookup failed: missing secret")
        secret = checked_uuid("one-time token", form.one_time_secret_id)
        token = await self._deps.commands.acl_tokens.exchange(secret)
        if token is None:
            raise HttpError(*needs.PERMISSION_DENIED)
        index = self._deps.state.acl.one_time_tokens.index
        return Answer(body={"Token": token_view(token, self._deps.state.acl), "Index": index}, index=index)

    async def _update(self, form: AclTokenForm) -> Answer:
        with refusals():
            return self._shown(await self._deps.commands.acl_tokens.update(_token(form), _roles(form)))

    def _shown(self, token: AclToken) -> Answer:
        return Answer(body=token_view(token, self._deps.state.acl), index=token.modify_index)


async def _may_read(call: Call) -> bool:
    accessor_id = call.path["accessor_id"]
    return call.permissions.is_management or accessor_id.lower() == call.caller.accessor_id


def _accessor_id(call: Call) -> str:
    if not call.path["accessor_id"]:
        raise HttpError(400, "Missing Token Accessor")
    return checked_uuid(LOOKUP, call.path["accessor_id"])


def _token(form: AclTokenForm) -> AclToken:
    return AclToken(
        accessor_id=form.accessor_id,
        secret_id=form.secret_id,
        name=form.name,
        type=form.type,
        policies=form.policies or None,
        is_global=form.is_global,
        expiration_time=time_of(form.expiration_time),
        expiration_ttl=duration_of(form.expiration_ttl),
    )


def _roles(form: AclTokenForm) -> tuple[str, ...]:
    return tuple(role.id or role.name for role in form.roles or ())


def _nobody(accessor_id: str, name: str, policies: tuple[str, ...] | None) -> AclTokenView:
    """A token for who sends none."""
    return AclTokenView(
        expiration_ttl="",
        accessor_id=accessor_id,
        secret_id="",
        name=name,
        type=CLIENT,
        policies=policies,
        roles=None,
        is_global=False,
        hash=None,
        create_time=ZERO_TIME,
        expiration_time=None,
        create_index=0,
        modify_index=0,
    )
