"""Events about who may do what, without anybody's secret."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from yurt.api.v1.acl_views import RoleLink, bare_token_view, method_view, policy_view, role_view, rule_view
from yurt.model.acl.token import AclToken
from yurt.state.journal import Change

Described = tuple[str, str, tuple[str, ...] | None, dict[str, Any]]

ACL_EVENT_TYPES: Mapping[str, str] = {
    "BootstrapAcl": "ACLTokenUpserted",
    "UpsertAclTokens": "ACLTokenUpserted",
    "DeleteAclTokens": "ACLTokenDeleted",
    "UpsertAclPolicies": "ACLPolicyUpserted",
    "DeleteAclPolicies": "ACLPolicyDeleted",
    "UpsertAclRoles": "ACLRoleUpserted",
    "DeleteAclRoles": "ACLRoleDeleted",
    "UpsertAuthMethods": "ACLAuthMethodUpserted",
    "DeleteAuthMethods": "ACLAuthMethodDeleted",
    "UpsertBindingRules": "ACLBindingRuleUpserted",
    "DeleteBindingRules": "ACLBindingRuleDeleted",
}


def _token(change: Change) -> Described:
    token: AclToken = replace(change.row, secret_id="")
    links = tuple(RoleLink(id=role_id) for role_id in token.roles or ())
    return token.accessor_id, "", None, {"ACLToken": bare_token_view(token, links)}


def _policy(change: Change) -> Described:
    return change.row.name, "", None, {"ACLPolicy": policy_view(change.row)}


def _role(change: Change) -> Described:
    return change.row.id, "", (change.row.name,), {"ACLRole": role_view(change.row)}


def _method(change: Change) -> Described:
    return change.row.name, "", None, {"AuthMethod": method_view(change.row)}


def _rule(change: Change) -> Described:
    return change.row.id, "", (change.row.auth_method,), {"ACLBindingRule": rule_view(change.row)}


ACL_TOPICS: Mapping[str, tuple[str, Callable[[Change], Described]]] = {
    "acl-tokens": ("ACLToken", _token),
    "acl-policies": ("ACLPolicy", _policy),
    "acl-roles": ("ACLRole", _role),
    "acl-auth-methods": ("ACLAuthMethod", _method),
    "acl-binding-rules": ("ACLBindingRule", _rule),
}
