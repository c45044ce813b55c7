"""Applying changes of who may do what."""

from __future__ import annotations

from typing import TypeVar, assert_never

from msgspec.structs import replace

from yurt.model.acl.auth_method import AuthMethod, BindingRule
from yurt.model.acl.policy import AclPolicy, AclRole
from yurt.model.acl.token import AclBootstrap, AclToken, OneTimeToken
from yurt.state import acl_entries as entries
from yurt.state.acl import BOOTSTRAP_KEY
from yurt.state.state import State

_Row = TypeVar("_Row", AclBootstrap, AclPolicy, AclRole, AclToken, OneTimeToken, AuthMethod, BindingRule)


def apply_acl_entry(state: State, index: int, entry: entries.AclEntry) -> bool:
    """Apply a change of who may do what; the outcome is whether anything was to be done."""
    acl = state.acl
    match entry:
        case entries.BootstrapAcl():
            return _bootstrap(state, index, entry)
        case entries.UpsertAclPolicies(policies=policies):
            for policy in policies:
                known = acl.policies.get(policy.name)
                created = known.create_index if known is not None else index
                acl.policies.put(policy.name, _at(policy, created, index), index)
        case entries.DeleteAclPolicies(names=names):
            for name in names:
                acl.policies.delete(name, index)
            # Whoever blocks on the table sees that something was asked for, as Nomad has it.
            acl.policies.index = index
        case entries.UpsertAclTokens() | entries.DeleteAclTokens():
            _change_tokens(state, index, entry)
        case entries.UpsertAclRoles() | entries.DeleteAclRoles():
            _change_roles(state, index, entry)
        case entries.UpsertOneTimeTokens(tokens=one_time):
            for token in one_time:
                acl.one_time_tokens.put(token.one_time_secret_id, _at(token, index, index), index)
        case entries.DeleteOneTimeTokens(secret_ids=secrets):
            found = [acl.one_time_tokens.delete(secret, index) for secret in secrets]
            return all(one is not None for one in found)
        case entries.UpsertAuthMethods() | entries.DeleteAuthMethods():
            _change_methods(state, index, entry)
        case entries.UpsertBindingRules() | entries.DeleteBindingRules():
            _change_rules(state, index, entry)
        case _:
            assert_never(entry)
    return True


def _bootstrap(state: State, index: int, entry: entries.BootstrapAcl) -> bool:
    acl = state.acl
    if acl.bootstrap_index and entry.reset_index != acl.bootstrap_index:
        return False
    known = acl.bootstraps.get(BOOTSTRAP_KEY)
    done = _at(AclBootstrap(), known.create_index if known else index, index)
    acl.bootstraps.put(BOOTSTRAP_KEY, done, index)
    acl.tokens.put(entry.token.accessor_id, _at(entry.token, index, index), index)
    return True


def _change_tokens(
    state: State, index: int, entry: entries.UpsertAclTokens | entries.DeleteAclTokens
) -> None:
    table = state.acl.tokens
    if isinstance(entry, entries.DeleteAclTokens):
        for accessor_id in entry.accessor_ids:
            table.delete(accessor_id, index)
        return
    for token in entry.tokens:
        known = table.get(token.accessor_id)
        table.put(token.accessor_id, _at(token, known.create_index if known else index, index), index)


def _change_roles(state: State, index: int, entry: entries.UpsertAclRoles | entries.DeleteAclRoles) -> None:
    table = state.acl.roles
    if isinstance(entry, entries.DeleteAclRoles):
        for role_id in entry.role_ids:
            table.delete(role_id, index)
        return
    for role in entry.roles:
        known = table.get(role.id)
        table.put(role.id, _at(role, known.create_index if known else index, index), index)


def _change_methods(
    state: State, index: int, entry: entries.UpsertAuthMethods | entries.DeleteAuthMethods
) -> None:
    table, rules = state.acl.auth_methods, state.acl.binding_rules
    if isinstance(entry, entries.DeleteAuthMethods):
        for name in entry.names:
            table.delete(name, index)
            for rule in [one for one in rules if one.auth_method == name]:
                rules.delete(rule.id, index)
        return
    for method in entry.methods:
        known = table.get(method.name)
        table.put(method.name, _at(method, known.create_index if known else index, index), index)


def _change_rules(
    state: State, index: int, entry: entries.UpsertBindingRules | entries.DeleteBindingRules
) -> None:
    table = state.acl.binding_rules
    if isinstance(entry, entries.DeleteBindingRules):
        for rule_id in entry.rule_ids:
            table.delete(rule_id, index)
        return
    for rule in entry.rules:
        known = table.get(rule.id)
        table.put(rule.id, _at(rule, known.create_index if known else index, index), index)


def _at(row: _Row, create_index: int, modify_index: int) -> _Row:
    return replace(row, create_index=create_index, modify_index=modify_index)
