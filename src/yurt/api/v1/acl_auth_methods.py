"""/v1/acl/auth-methods, /v1/acl/auth-method, /v1/acl/binding-rules and /v1/acl/binding-rule."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from yurt.api import needs
from yurt.api.answer import Answer, empty_answer
from yurt.api.call import Call
from yurt.api.deps import Deps
from yurt.api.errors import HttpError
from yurt.api.filter import FilterUnreadable, compile_filter
from yurt.api.parameters import BLOCKING
from yurt.api.routes import WRITE, Route
from yurt.api.rows import Rows
from yurt.api.v1.acl_common import duration_of, if_enabled, refusals
from yurt.api.v1.acl_views import (
    REDACTED,
    AuthMethodStub,
    AuthMethodView,
    BindingRuleStub,
    BindingRuleView,
    method_stub,
    method_view,
    rule_stub,
    rule_view,
)
from yurt.api.v1.found import found
from yurt.model.acl.auth_method import AuthMethod, AuthMethodConfig, BindingRule
from yurt.model.wire import Wire


class AuthMethodForm(Wire, frozen=True, kw_only=True):
    """An auth method as it is sent; how long its tokens live is a text such as `1h`."""

    name: str = ""
    type: str = ""
    token_locality: str = ""
    token_name_format: str = ""
    max_token_ttl: Any = None
    default: bool = False
    config: AuthMethodConfig | None = None


class BindingRuleForm(Wire, frozen=True, kw_only=True):
    """A binding rule as it is sent."""

    id: str = ""
    description: str = ""
    auth_method: str = ""
    selector: str = ""
    bind_type: str = ""
    bind_name: str = ""


class AclAuthMethodHandlers:
    """The handlers of auth methods and binding rules."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        return (*self._method_routes(), *self._rule_routes())

    def _method_routes(self) -> tuple[Route, ...]:
        deps = self._deps
        return (
            Route(
                path="/v1/acl/auth-methods",
                handlers={"GET": if_enabled(deps, self.list_methods)},
                summary="List auth methods",
                takes=BLOCKING,
                # Whoever wants to log in has no token yet.
                needs=needs.ANYONE,
                response=list[AuthMethodStub],
            ),
            Route(
                path="/v1/acl/auth-method",
                handlers=dict.fromkeys(WRITE, if_enabled(deps, self.write_method)),
                summary="Make or change an auth method",
                needs=needs.MANAGEMENT,
                request=AuthMethodForm,
                response=AuthMethodView,
            ),
            Route(
                path="/v1/acl/auth-method/{name}",
                handlers={
                    "GET": if_enabled(deps, self.read_method),
                    **dict.fromkeys(WRITE, if_enabled(deps, self.write_method)),
                    "DELETE": if_enabled(deps, self.delete_method),
                },
                summary="Read, change or delete an auth method",
                needs=needs.MANAGEMENT,
                request=AuthMethodForm,
                response=AuthMethodView,
            ),
        )

    def _rule_routes(self) -> tuple[Route, ...]:
        deps = self._deps
        return (
            Route(
                path="/v1/acl/binding-rules",
                handlers={"GET": if_enabled(deps, self.list_rules)},
                summary="List binding rules",
                takes=BLOCKING,
                needs=needs.MANAGEMENT,
                response=list[BindingRuleStub],
            ),
            Route(
                path="/v1/acl/binding-rule",
                handlers=dict.fromkeys(WRITE, if_enabled(deps, self.write_rule)),
                summary="Make or change a binding rule",
                needs=needs.MANAGEMENT,
                request=BindingRuleForm,
                response=BindingRuleView,
            ),
            Route(
                path="/v1/acl/binding-rule/{rule_id}",
                handlers={
                    "GET": if_enabled(deps, self.read_rule),
                    **dict.fromkeys(WRITE, if_enabled(deps, self.write_rule)),
                    "DELETE": if_enabled(deps, self.delete_rule),
                },
                summary="Read, change or delete a binding rule",
                needs=needs.MANAGEMENT,
                request=BindingRuleForm,
                response=BindingRuleView,
            ),
        )

    async def list_methods(self, call: Call) -> Answer:
        """GET /v1/acl/auth-methods."""
        table = self._deps.state.acl.auth_methods

        def read() -> tuple[int, Rows]:
            return max(table.index, 1), Rows(sorted(table, key=lambda method: method.name), method_stub)

        return await self._deps.read(call, [("acl-auth-methods", None)], read)

    async def read_method(self, call: Call) -> Answer:
        """GET /v1/acl/auth-method/<name>."""
        name = call.path["name"]
        if not name:
            raise HttpError(400, "missing ACL auth-method name")
        table = self._deps.state.acl.auth_methods

        def read() -> tuple[int, AuthMethodView | None]:
            method = table.get(name)
            if method is None:
                return max(table.index, 1), None
            return method.modify_index, method_view(method)

        keys = [("acl-auth-methods", name)]
        return found(await self._deps.read(call, keys, read), "ACL auth-method not found")

    async def write_method(self, call: Call) -> Answer:
        """PUT /v1/acl/auth-method and /v1/acl/auth-method/<name>."""
        form: AuthMethodForm = await call.read(AuthMethodForm)
        if "name" in call.path and form.name != call.path["name"]:
            raise HttpError(400, "ACL auth-method name does not match request path")
        method = AuthMethod(
            name=form.name,
            type=form.type,
            token_locality=form.token_locality,
            token_name_format=form.token_name_format,
            max_token_ttl=duration_of(form.max_token_ttl),
            default=form.default,
            config=_given(form.config),
        )
        with refusals():
            stored = await self._deps.commands.acl_auth.write_method(method)
        return Answer(body=method_view(stored), index=stored.modify_index)

    async def delete_method(self, call: Call) -> Answer:
        """DELETE /v1/acl/auth-method/<name>."""
        return empty_answer(await self._deps.commands.acl_auth.delete_method(call.path["name"]))

    async def list_rules(self, call: Call) -> Answer:
        """GET /v1/acl/binding-rules."""
        table = self._deps.state.acl.binding_rules

        def read() -> tuple[int, Rows]:
            return max(table.index, 1), Rows(sorted(table, key=lambda rule: rule.id), rule_stub)

        return await self._deps.read(call, [("acl-binding-rules", None)], read)

    async def read_rule(self, call: Call) -> Answer:
        """GET /v1/acl/binding-rule/<id>."""
        rule_id = call.path["rule_id"]
        if not rule_id:
            raise HttpError(400, "missing ACL binding rule ID")
        table = self._deps.state.acl.binding_rules

        def read() -> tuple[int, BindingRuleView | None]:
            rule = table.get(rule_id)
            return (max(table.index, 1), None) if rule is None else (rule.modify_index, rule_view(rule))

        keys = [("acl-binding-rules", rule_id)]
        return found(await self._deps.read(call, keys, read), "ACL binding rule not found")

    async def write_rule(self, call: Call) -> Answer:
        """PUT /v1/acl/binding-rule and /v1/acl/binding-rule/<id>."""
        form: BindingRuleForm = await call.read(BindingRuleForm)
        rule_id = call.path.get("rule_id", form.id)
        if form.id and form.id != rule_id:
            raise HttpError(400, "ACL binding rule ID does not match request path")
        rule = BindingRule(
            id=rule_id,
            description=form.description,
            auth_method=form.auth_method,
            selector=form.selector,
            bind_type=form.bind_type,
            bind_name=form.bind_name,
        )
        with refusals():
            stored = await self._deps.commands.acl_auth.write_rule(rule, _selector_problem)
        return Answer(body=rule_view(stored), index=stored.modify_index)

    async def delete_rule(self, call: Call) -> Answer:
        """DELETE /v1/acl/binding-rule/<id>."""
        return empty_answer(await self._deps.commands.acl_auth.delete_rule(call.path["rule_id"]))


def _given(config: AuthMethodConfig | None) -> AuthMethodConfig | None:
    """A configuration as it is sent; whoever sends back what was shown means the secret to stay."""
    if config is None:
        return None
    if config.oidc_client_secret == REDACTED:
        config = replace(config, oidc_client_secret="")
    assertion = config.oidc_client_assertion or {}
    if REDACTED in (assertion.get("ClientSecret"), (assertion.get("PrivateKey") or {}).get("PemKey")):
        config = replace(config, oidc_client_assertion=None)
    return config


def _selector_problem(selector: str) -> str | None:
    try:
        if selector:
            compile_filter(selector)
    except FilterUnreadable as error:
        return str(error)
    return None
