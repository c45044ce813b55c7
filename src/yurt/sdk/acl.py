"""Calls about access control: policies, tokens, roles, auth methods, binding rules, login."""

from collections.abc import Mapping
from typing import Any

from yurt.sdk.client import Answer, Client
from yurt.sdk.transport import path_segment
from yurt.sdk.types.acl import (
    AuthMethod,
    AuthUrl,
    BindingRule,
    ExchangedToken,
    IntroductionToken,
    OneTimeAnswer,
    Policy,
    Role,
    Token,
)

Body = Mapping[str, Any]


def bootstrap(client: Client, secret: str = "") -> Answer[Token]:
    """Make the first management token, with a chosen secret if one is given."""
    return client.put("/v1/acl/bootstrap", Token, body={"BootstrapSecret": secret} if secret else None)


def list_policies(client: Client) -> Answer[tuple[Policy, ...]]:
    """List policies, without their rules."""
    return client.get("/v1/acl/policies", tuple[Policy, ...])


def own_policies(client: Client) -> Answer[tuple[Policy, ...] | None]:
    """List the policies of the token that asks; None for a management token."""
    return client.get("/v1/acl/policy/self", tuple[Policy, ...] | None)  # type: ignore[arg-type] # a union is no class


def read_policy(client: Client, name: str) -> Answer[Policy]:
    """Read a policy."""
    return client.get(f"/v1/acl/policy/{path_segment(name)}", Policy)


def write_policy(client: Client, name: str, policy: Body) -> None:
    """Create or replace a policy."""
    client.send("PUT", f"/v1/acl/policy/{path_segment(name)}", body=policy)


def delete_policy(client: Client, name: str) -> None:
    """Delete a policy; an unknown one is no error."""
    client.send("DELETE", f"/v1/acl/policy/{path_segment(name)}")


def list_tokens(client: Client) -> Answer[tuple[Token, ...]]:
    """List tokens, without their secrets."""
    return client.get("/v1/acl/tokens", tuple[Token, ...])


def read_token(client: Client, accessor: str) -> Answer[Token]:
    """Read a token by its accessor; `self` is the one that asks."""
    return client.get(f"/v1/acl/token/{path_segment(accessor)}", Token)


def create_token(client: Client, token: Body) -> Answer[Token]:
    """Make a token."""
    return client.put("/v1/acl/token", Token, body=token)


def update_token(client: Client, accessor: str, token: Body) -> Answer[Token]:
    """Replace a token's name, type, policies and roles."""
    return client.put(f"/v1/acl/token/{path_segment(accessor)}", Token, body=token)


def delete_token(client: Client, accessor: str) -> None:
    """Delete a token."""
    client.send("DELETE", f"/v1/acl/token/{path_segment(accessor)}")


def list_roles(client: Client) -> Answer[tuple[Role, ...]]:
    """List roles."""
    return client.get("/v1/acl/roles", tuple[Role, ...])


def read_role(client: Client, name: str, *, by_name: bool = False) -> Answer[Role]:
    """Read a role by its id or name."""
    return client.get(f"/v1/acl/role/{'name/' if by_name else ''}{path_segment(name)}", Role)


def write_role(client: Client, role: Body, role_id: str = "") -> Answer[Role]:
    """Make a role, or replace the one with the given id."""
    return client.put(f"/v1/acl/role/{path_segment(role_id)}" if role_id else "/v1/acl/role", Role, body=role)


def delete_role(client: Client, role_id: str) -> None:
    """Delete a role."""
    client.send("DELETE", f"/v1/acl/role/{path_segment(role_id)}")


def list_auth_methods(client: Client) -> Answer[tuple[AuthMethod, ...]]:
    """List auth methods, without their configuration."""
    return client.get("/v1/acl/auth-methods", tuple[AuthMethod, ...])


def read_auth_method(client: Client, name: str) -> Answer[AuthMethod]:
    """Read an auth method."""
    return client.get(f"/v1/acl/auth-method/{path_segment(name)}", AuthMethod)


def write_auth_method(client: Client, method: Body, *, name: str = "") -> Answer[AuthMethod]:
    """Make an auth method, or change the named one."""
    path = f"/v1/acl/auth-method/{path_segment(name)}" if name else "/v1/acl/auth-method"
    return client.put(path, AuthMethod, body=method)


def delete_auth_method(client: Client, name: str) -> None:
    """Delete an auth method."""
    client.send("DELETE", f"/v1/acl/auth-method/{path_segment(name)}")


def list_binding_rules(client: Client) -> Answer[tuple[BindingRule, ...]]:
    """List binding rules."""
    return client.get("/v1/acl/binding-rules", tuple[BindingRule, ...])


def read_binding_rule(client: Client, rule_id: str) -> Answer[BindingRule]:
    """Read a binding rule."""
    return client.get(f"/v1/acl/binding-rule/{path_segment(rule_id)}", BindingRule)


def write_binding_rule(client: Client, rule: Body, rule_id: str = "") -> Answer[BindingRule]:
    """Make a binding rule, or change the one with the given id."""
    path = f"/v1/acl/binding-rule/{path_segment(rule_id)}" if rule_id else "/v1/acl/binding-rule"
    return client.put(path, BindingRule, body=rule)


def delete_binding_rule(client: Client, rule_id: str) -> None:
    """Delete a binding rule."""
    client.send("DELETE", f"/v1/acl/binding-rule/{path_segment(rule_id)}")


def login(client: Client, method: str, login_token: str) -> Answer[Token]:
    """Exchange a signed token of an identity provider for one of the cluster."""
    return client.put("/v1/acl/login", Token, body={"AuthMethodName": method, "LoginToken": login_token})


def oidc_auth_url(client: Client, request: Body) -> Answer[AuthUrl]:
    """Begin a login with OpenID Connect: the page to send somebody to."""
    return client.put("/v1/acl/oidc/auth-url", AuthUrl, body=request)


def oidc_complete_auth(client: Client, request: Body) -> Answer[Token]:
    """Complete a login with OpenID Connect: exchange what somebody brought back for a token."""
    return client.put("/v1/acl/oidc/complete-auth", Token, body=request)


def create_introduction_token(client: Client, request: Body) -> Answer[IntroductionToken]:
    """Make a token that introduces a new node."""
    return client.put("/v1/acl/identity/client-introduction-token", IntroductionToken, body=request)


def own_token(client: Client) -> Answer[Token]:
    """Read the token that asks."""
    return client.get("/v1/acl/token/self", Token)


def create_one_time_token(client: Client) -> Answer[OneTimeAnswer]:
    """Make a secret that can be exchanged once for the token that asks."""
    return client.put("/v1/acl/token/onetime", OneTimeAnswer)


def exchange_one_time_token(client: Client, secret: str) -> Answer[ExchangedToken]:
    """Exchange a one-time secret for its token."""
    return client.put("/v1/acl/token/onetime/exchange", ExchangedToken, body={"OneTimeSecretID": secret})
