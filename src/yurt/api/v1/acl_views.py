"""Tokens, policies, roles, auth methods and binding rules as the API shows them."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from yurt.model.acl.auth_method import AuthMethod, AuthMethodConfig, BindingRule
from yurt.model.acl.policy import AclPolicy, AclRole, JobAcl
from yurt.model.acl.rules import Rules
from yurt.model.acl.token import AclToken, OneTimeToken
from yurt.model.durations import duration_text
from yurt.model.times import time_text
from yurt.model.wire import Nanoseconds, Wire, wire_names
from yurt.state.acl import Acl

REDACTED = "redacted"
# What a time of zero looks like where it is not null.
ZERO_TIME = "0001-01-01T00:00:00Z"


class RoleLink(Wire, frozen=True, kw_only=True):
    """A role of a token."""

    id: str = ""
    name: str = ""


class PolicyLink(Wire, frozen=True, kw_only=True):
    """A policy of a role."""

    name: str = ""


class AclTokenView(Wire, frozen=True, kw_only=True, rename=wire_names(is_global="Global")):
    """A token with its secret: only for itself and for those who manage tokens."""

    expiration_ttl: str
    accessor_id: str
    secret_id: str
    name: str
    type: str
    policies: tuple[str, ...] | None
    roles: tuple[RoleLink, ...] | None
    is_global: bool
    hash: bytes | None
    create_time: str
    expiration_time: str | None
    create_index: int
    modify_index: int


class AclTokenStub(Wire, frozen=True, kw_only=True, rename=wire_names(is_global="Global")):
    """A token without its secret."""

    accessor_id: str
    name: str
    type: str
    policies: tuple[str, ...] | None
    roles: tuple[RoleLink, ...] | None
    is_global: bool
    hash: bytes | None
    create_time: str
    expiration_time: str | None
    create_index: int
    modify_index: int


class OneTimeTokenView(Wire, frozen=True, kw_only=True):
    """A secret that can be exchanged once."""

    one_time_secret_id: str
    accessor_id: str
    expires_at: str | None
    create_index: int
    modify_index: int


class AclPolicyView(Wire, frozen=True, kw_only=True, rename=wire_names(rules_json="RulesJSON")):
    """A policy with what its rules mean."""

    name: str
    description: str
    rules: str
    rules_json: Rules
    job_acl: JobAcl | None
    hash: bytes | None
    create_index: int
    modify_index: int


class AclPolicyStub(Wire, frozen=True, kw_only=True):
    """A policy without its rules."""

    name: str
    description: str
    job_acl: JobAcl | None
    hash: bytes | None
    create_index: int
    modify_index: int


class AclRoleView(Wire, frozen=True, kw_only=True):
    """A role."""

    id: str
    name: str
    description: str
    policies: tuple[PolicyLink, ...]
    hash: bytes | None
    create_index: int
    modify_index: int


class AuthMethodView(Wire, frozen=True, kw_only=True):
    """An auth method without its secrets."""

    max_token_ttl: str
    name: str
    type: str
    token_locality: str
    token_name_format: str
    default: bool
    config: AuthMethodConfig | None
    hash: bytes | None
    create_time: str
    modify_time: str
    create_index: int
    modify_index: int


class AuthMethodStub(Wire, frozen=True, kw_only=True):
    """An auth method in short: anybody may know it, to log in with it."""

    name: str
    type: str
    default: bool
    hash: bytes | None
    create_index: int
    modify_index: int


class BindingRuleView(Wire, frozen=True, kw_only=True):
    """A binding rule."""

    id: str
    description: str
    auth_method: str
    selector: str
    bind_type: str
    bind_name: str
    hash: bytes | None
    create_time: str
    modify_time: str
    create_index: int
    modify_index: int


class BindingRuleStub(Wire, frozen=True, kw_only=True):
    """A binding rule in short."""

    id: str
    description: str
    auth_method: str
    hash: bytes | None
    create_index: int
    modify_index: int


def token_view(token: AclToken, acl: Acl) -> AclTokenView:
    """Show a token with its secret."""
    return bare_token_view(token, _role_links(token, acl))


def bare_token_view(token: AclToken, roles: tuple[RoleLink, ...]) -> AclTokenView:
    """Show a token with some names for its roles."""
    return AclTokenView(
        secret_id=token.secret_id,
        expiration_ttl=duration_text(token.expiration_ttl) if token.expiration_ttl else "",
        **_token_members(token, roles),
    )


def token_stub(token: AclToken, acl: Acl) -> AclTokenStub:
    """Show a token without its secret."""
    return AclTokenStub(**_token_members(token, _role_links(token, acl)))


def one_time_view(token: OneTimeToken) -> OneTimeTokenView:
    """Show a secret that can be exchanged once."""
    return OneTimeTokenView(
        one_time_secret_id=token.one_time_secret_id,
        accessor_id=token.accessor_id,
        expires_at=time_text(token.expires_at),
        create_index=token.create_index,
        modify_index=token.modify_index,
    )


def policy_view(policy: AclPolicy) -> AclPolicyView:
    """Show a policy."""
    return AclPolicyView(
        name=policy.name,
        description=policy.description,
        rules=policy.rules,
        rules_json=policy.parsed,
        job_acl=policy.job_acl,
        hash=policy.hash,
        create_index=policy.create_index,
        modify_index=policy.modify_index,
    )


def policy_stub(policy: AclPolicy) -> AclPolicyStub:
    """Show a policy without its rules."""
    return AclPolicyStub(
        name=policy.name,
        description=policy.description,
        job_acl=policy.job_acl,
        hash=policy.hash,
        create_index=policy.create_index,
        modify_index=policy.modify_index,
    )


def role_view(role: AclRole) -> AclRoleView:
    """Show a role."""
    return AclRoleView(
        id=role.id,
        name=role.name,
        description=role.description,
        policies=tuple(PolicyLink(name=name) for name in role.policies),
        hash=role.hash,
        create_index=role.create_index,
        modify_index=role.modify_index,
    )


def method_view(method: AuthMethod) -> AuthMethodView:
    """Show an auth method, its secrets hidden."""
    return AuthMethodView(
        max_token_ttl=duration_text(method.max_token_ttl),
        name=method.name,
        type=method.type,
        token_locality=method.token_locality,
        token_name_format=method.token_name_format,
        default=method.default,
        config=_hidden(method.config) if method.config is not None else None,
        hash=method.hash,
        create_time=_time(method.create_time),
        modify_time=_time(method.modify_time),
        create_index=method.create_index,
        modify_index=method.modify_index,
    )


def method_stub(method: AuthMethod) -> AuthMethodStub:
    """Show an auth method in short."""
    return AuthMethodStub(
        name=method.name,
        type=method.type,
        default=method.default,
        hash=method.hash,
        create_index=method.create_index,
        modify_index=method.modify_index,
    )


def rule_view(rule: BindingRule) -> BindingRuleView:
    """Show a binding rule."""
    return BindingRuleView(
        id=rule.id,
        description=rule.description,
        auth_method=rule.auth_method,
        selector=rule.selector,
        bind_type=rule.bind_type,
        bind_name=rule.bind_name,
        hash=rule.hash,
        create_time=_time(rule.create_time),
        modify_time=_time(rule.modify_time),
        create_index=rule.create_index,
        modify_index=rule.modify_index,
    )


def rule_stub(rule: BindingRule) -> BindingRuleStub:
    """Show a binding rule in short."""
    return BindingRuleStub(
        id=rule.id,
        description=rule.description,
        auth_method=rule.auth_method,
        hash=rule.hash,
        create_index=rule.create_index,
        modify_index=rule.modify_index,
    )


def _role_links(token: AclToken, acl: Acl) -> tuple[RoleLink, ...]:
    """The roles of a token; one that is gone grants nothing, so it is not shown either."""
    roles = (acl.roles.get(role_id) for role_id in token.roles or ())
    return tuple(RoleLink(id=role.id, name=role.name) for role in roles if role is not None)


def _token_members(token: AclToken, roles: tuple[RoleLink, ...]) -> dict[str, Any]:
    return {
        "accessor_id": token.accessor_id,
        "name": token.name,
        "type": token.type,
        "policies": token.policies,
        "roles": roles or None,
        "is_global": token.is_global,
        "hash": token.hash,
        "create_time": _time(token.create_time),
        "expiration_time": time_text(token.expiration_time),
        "create_index": token.create_index,
        "modify_index": token.modify_index,
    }


def _hidden(config: AuthMethodConfig) -> AuthMethodConfig:
    assertion = config.oidc_client_assertion
    if assertion is not None:
        assertion = {
            **assertion,
            **({"ClientSecret": REDACTED} if assertion.get("ClientSecret") else {}),
            **({"PrivateKey": _hidden_key(assertion["PrivateKey"])} if assertion.get("PrivateKey") else {}),
        }
    return replace(
        config,
        oidc_client_secret=REDACTED if config.oidc_client_secret else "",
        oidc_client_assertion=assertion,
    )


def _hidden_key(key: dict[str, Any]) -> dict[str, Any]:
    return {**key, "PemKey": REDACTED} if key.get("PemKey") else key


def _time(at: Nanoseconds) -> str:
    return time_text(at) or ZERO_TIME
