"""The tables of who may do what."""

from __future__ import annotations

import hashlib

from yurt.model.acl.auth_method import AuthMethod, BindingRule
from yurt.model.acl.policy import AclPolicy, AclRole
from yurt.model.acl.token import AclBootstrap, AclToken, OneTimeToken
from yurt.state.table import Table
from yurt.state.watches import Watches

BOOTSTRAP_KEY = "acl"


def secret_key(secret: str) -> bytes:
    """What a secret is looked up by: how long that takes tells nothing about the secrets that there are."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


class AclTokens(Table[str, AclToken]):
    """Tokens by the ids that name them, and by their secrets."""

    def __init__(self, watches: Watches) -> None:
        super().__init__("acl-tokens", watches)
        self._by_secret: dict[bytes, str] = {}

    def put(self, key: str, row: AclToken, index: int) -> None:
        """Set a token, as of `index`."""
        old = self._rows.get(key)
        if old is not None and old.secret_id != row.secret_id:
            self._by_secret.pop(secret_key(old.secret_id), None)
        self._by_secret[secret_key(row.secret_id)] = key
        super().put(key, row, index)

    def delete(self, key: str, index: int) -> AclToken | None:
        """Remove a token, as of `index`."""
        row = super().delete(key, index)
        if row is not None:
            self._by_secret.pop(secret_key(row.secret_id), None)
        return row

    def with_secret(self, key: bytes) -> AclToken | None:
        """The token whose secret has this key, if there is one."""
        accessor_id = self._by_secret.get(key)
        return self._rows[accessor_id] if accessor_id is not None else None


class AclRoles(Table[str, AclRole]):
    """Roles by their ids, and by their names."""

    def __init__(self, watches: Watches) -> None:
        super().__init__("acl-roles", watches)
        self._by_name: dict[str, str] = {}

    def put(self, key: str, row: AclRole, index: int) -> None:
        """Set a role, as of `index`."""
        old = self._rows.get(key)
        if old is not None and old.name != row.name:
            self._by_name.pop(old.name, None)
        self._by_name[row.name] = key
        super().put(key, row, index)

    def delete(self, key: str, index: int) -> AclRole | None:
        """Remove a role, as of `index`."""
        row = super().delete(key, index)
        if row is not None:
            self._by_name.pop(row.name, None)
        return row

    def named(self, name: str) -> AclRole | None:
        """The role of that name, if there is one."""
        role_id = self._by_name.get(name)
        return self._rows[role_id] if role_id is not None else None


class Acl:
    """Who may do what."""

    def __init__(self, watches: Watches) -> None:
        self.tokens = AclTokens(watches)
        self.policies: Table[str, AclPolicy] = Table("acl-policies", watches)
        self.roles = AclRoles(watches)
        self.one_time_tokens: Table[str, OneTimeToken] = Table("acl-one-time-tokens", watches)
        self.auth_methods: Table[str, AuthMethod] = Table("acl-auth-methods", watches)
        self.binding_rules: Table[str, BindingRule] = Table("acl-binding-rules", watches)
        self.bootstraps: Table[str, AclBootstrap] = Table("acl-bootstraps", watches)

    @property
    def index(self) -> int:
        """The index of the last change of what anybody may do."""
        return max(self.tokens.index, self.policies.index, self.roles.index)

    @property
    def bootstrap_index(self) -> int:
        """When the first management token was made; 0 if that is still to come."""
        bootstrap = self.bootstraps.get(BOOTSTRAP_KEY)
        return bootstrap.modify_index if bootstrap is not None else 0
