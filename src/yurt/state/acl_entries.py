"""The entries about who may do what."""

from __future__ import annotations

from typing import TypeAlias

from yurt.model.acl.auth_method import AuthMethod, BindingRule
from yurt.model.acl.policy import AclPolicy, AclRole
from yurt.model.acl.token import AclToken, OneTimeToken
from yurt.state.entry_base import EntryBase


class AclChange(EntryBase, frozen=True, kw_only=True):
    """A change of who may do what."""


class BootstrapAcl(AclChange, frozen=True, kw_only=True):
    """The first management token of a cluster.

    Nothing happens if there was one before, unless `reset_index` is the index of when that was.
    """

    token: AclToken
    reset_index: int = 0


class UpsertAclPolicies(AclChange, frozen=True, kw_only=True):
    """Policies are new, or changed."""

    policies: tuple[AclPolicy, ...]


class DeleteAclPolicies(AclChange, frozen=True, kw_only=True):
    """Policies are forgotten; whoever names them gets nothing from them."""

    names: tuple[str, ...]


class UpsertAclRoles(AclChange, frozen=True, kw_only=True):
    """Roles are new, or changed."""

    roles: tuple[AclRole, ...]


class DeleteAclRoles(AclChange, frozen=True, kw_only=True):
    """Roles are forgotten."""

    role_ids: tuple[str, ...]


class UpsertAclTokens(AclChange, frozen=True, kw_only=True):
    """Tokens are new, or changed."""

    tokens: tuple[AclToken, ...]


class DeleteAclTokens(AclChange, frozen=True, kw_only=True):
    """Tokens are forgotten."""

    accessor_ids: tuple[str, ...]


class UpsertOneTimeTokens(AclChange, frozen=True, kw_only=True):
    """Secrets that can be exchanged once."""

    tokens: tuple[OneTimeToken, ...]


class DeleteOneTimeTokens(AclChange, frozen=True, kw_only=True):
    """Secrets were exchanged, or nobody came for them in time."""

    secret_ids: tuple[str, ...]


class UpsertAuthMethods(AclChange, frozen=True, kw_only=True):
    """Auth methods are new, or changed."""

    methods: tuple[AuthMethod, ...]


class DeleteAuthMethods(AclChange, frozen=True, kw_only=True):
    """Auth methods are forgotten, with their binding rules."""

    names: tuple[str, ...]


class UpsertBindingRules(AclChange, frozen=True, kw_only=True):
    """Binding rules are new, or changed."""

    rules: tuple[BindingRule, ...]


class DeleteBindingRules(AclChange, frozen=True, kw_only=True):
    """Binding rules are forgotten."""

    rule_ids: tuple[str, ...]


AclEntry: TypeAlias = (
    BootstrapAcl
    | UpsertAclPolicies
    | DeleteAclPolicies
    | UpsertAclRoles
    | DeleteAclRoles
    | UpsertAclTokens
    | DeleteAclTokens
    | UpsertOneTimeTokens
    | DeleteOneTimeTokens
    | UpsertAuthMethods
    | DeleteAuthMethods
    | UpsertBindingRules
    | DeleteBindingRules
)
