"""How the tables of who may do what are saved and restored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from yurt.model.acl.auth_method import AuthMethod, BindingRule
from yurt.model.acl.policy import AclPolicy, AclRole
from yurt.model.acl.token import AclBootstrap, AclToken, OneTimeToken
from yurt.state.acl import BOOTSTRAP_KEY, Acl
from yurt.state.table import Table


def acl_tables(acl: Acl) -> tuple[Table[Any, Any], ...]:
    """All of them."""
    return (
        acl.bootstraps,
        acl.tokens,
        acl.policies,
        acl.roles,
        acl.one_time_tokens,
        acl.auth_methods,
        acl.binding_rules,
    )


def acl_readers(acl: Acl) -> dict[str, tuple[Any, Callable[[list[Any]], None]]]:
    """What rows of each table are, and what puts them back."""
    kinds: tuple[tuple[Table[Any, Any], Any, Callable[[Any], str]], ...] = (
        (acl.bootstraps, AclBootstrap, lambda _: BOOTSTRAP_KEY),
        (acl.tokens, AclToken, lambda row: row.accessor_id),
        (acl.policies, AclPolicy, lambda row: row.name),
        (acl.roles, AclRole, lambda row: row.id),
        (acl.one_time_tokens, OneTimeToken, lambda row: row.one_time_secret_id),
        (acl.auth_methods, AuthMethod, lambda row: row.name),
        (acl.binding_rules, BindingRule, lambda row: row.id),
    )

    def putting(table: Table[Any, Any], key_of: Callable[[Any], str]) -> Callable[[list[Any]], None]:
        def put(rows: list[Any]) -> None:
            for row in rows:
                table.put(key_of(row), row, row.modify_index)

        return put

    return {table.name: (kind, putting(table, key_of)) for table, kind, key_of in kinds}
