"""Auth methods and binding rules: made, changed and deleted."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from yurt.model.acl.auth_method import (
    DEFAULT_NAME_FORMAT,
    AuthMethod,
    AuthMethodConfig,
    BindingRule,
    method_problems,
    rule_problems,
)
from yurt.model.acl.token import TokenLimits
from yurt.model.multi_error import multi_error_text
from yurt.server.commands.acl import AclNotFound, AclRefused
from yurt.server.context import ServerContext
from yurt.state import acl_entries
from yurt.state.acl import Acl


class AclAuthCommands:
    """What can be asked about auth methods and binding rules."""

    def __init__(self, context: ServerContext, limits: TokenLimits) -> None:
        self._context = context
        self._limits = limits

    async def write_method(self, method: AuthMethod) -> AuthMethod:
        """Make an auth method, or change what is given of one. Raises AclRefused."""
        now = self._context.clock.now_ns()
        known = self._acl.auth_methods.get(method.name)
        if known is not None:
            method = _merged_method(known, method)
        limits = self._limits
        problems = method_problems(method, ttl_min=limits.ttl_min, ttl_max=limits.ttl_max)
        if problems:
            raise AclRefused(f"auth method 0 invalid: {multi_error_text(problems)}")
        other = next((one for one in self._acl.auth_methods if one.default and one.name != method.name), None)
        if method.default and other is not None:
            raise AclRefused(f"default method already exists: {other.name}")
        method = replace(
            method,
            token_name_format=method.token_name_format or DEFAULT_NAME_FORMAT,
            create_time=known.create_time if known is not None else now,
            modify_time=now,
        )
        entry = acl_entries.UpsertAuthMethods(at=now, methods=(replace(method, hash=_hash(method)),))
        await self._context.committer.propose(entry)
        return self._acl.auth_methods[method.name]

    async def delete_method(self, name: str) -> int:
        """Forget an auth method and its binding rules; returns the index. Raises AclNotFound."""
        if name not in self._acl.auth_methods:
            raise AclNotFound("ACL auth method not found")
        entry = acl_entries.DeleteAuthMethods(at=self._context.clock.now_ns(), names=(name,))
        return (await self._context.committer.propose(entry)).index

    async def write_rule(
        self, rule: BindingRule, selector_problem: Callable[[str], str | None]
    ) -> BindingRule:
        """Make a binding rule, or change what is given of one. Raises AclRefused.

        `selector_problem` says what is wrong with a selector.
        """
        now = self._context.clock.now_ns()
        known = self._acl.binding_rules.get(rule.id) if rule.id else None
        if known is not None:
            rule = _merged_rule(known, rule)
        elif rule.id:
            raise AclRefused(f"cannot find binding rule {rule.id}")
        problems = rule_problems(rule, selector_problem(rule.selector))
        if problems:
            raise AclRefused(f"binding rule 0 invalid: {multi_error_text(problems)}")
        if rule.auth_method not in self._acl.auth_methods:
            raise AclRefused(f"ACL auth method {rule.auth_method} not found")
        rule = replace(
            rule,
            id=rule.id or self._context.new_id(),
            create_time=known.create_time if known is not None else now,
            modify_time=now,
        )
        entry = acl_entries.UpsertBindingRules(at=now, rules=(replace(rule, hash=_hash(rule)),))
        await self._context.committer.propose(entry)
        return self._acl.binding_rules[rule.id]

    async def delete_rule(self, rule_id: str) -> int:
        """Forget a binding rule; returns the index. Raises AclNotFound."""
        if rule_id not in self._acl.binding_rules:
            raise AclNotFound("ACL binding rule not found")
        entry = acl_entries.DeleteBindingRules(at=self._context.clock.now_ns(), rule_ids=(rule_id,))
        return (await self._context.committer.propose(entry)).index

    @property
    def _acl(self) -> Acl:
        return self._context.state.acl


def _merged_method(known: AuthMethod, given: AuthMethod) -> AuthMethod:
    """A method with what is given, and otherwise as it was."""
    return replace(
        given,
        type=given.type or known.type,
        token_locality=given.token_locality or known.token_locality,
        token_name_format=given.token_name_format or known.token_name_format,
        max_token_ttl=given.max_token_ttl or known.max_token_ttl,
        config=_merged_config(known.config, given.config),
    )


def _merged_config(known: AuthMethodConfig | None, given: AuthMethodConfig | None) -> AuthMethodConfig | None:
    if known is None or given is None:
        return given or known
    mine = msgspec.structs.asdict(given)
    kept = {name: value for name, value in msgspec.structs.asdict(known).items() if not mine[name]}
    return replace(given, **kept)


def _merged_rule(known: BindingRule, given: BindingRule) -> BindingRule:
    """A rule with what is given, and otherwise as it was."""
    return replace(
        known,
        description=given.description or known.description,
        auth_method=given.auth_method or known.auth_method,
        selector=given.selector or known.selector,
        bind_type=given.bind_type or known.bind_type,
        bind_name=given.bind_name or known.bind_name,
    )


def _hash(value: AuthMethod | BindingRule) -> bytes:
    plain = replace(value, hash=None, create_index=0, modify_index=0, create_time=0, modify_time=0)
    return hashlib.sha256(msgspec.json.encode(plain, order="sorted")).digest()
