"""Tokens: secrets that stand for policies, or for everything."""

from __future__ import annotations

from yurt.model.durations import duration_text
from yurt.model.wire import Nanoseconds, Wire, wire_names

CLIENT = "client"
MANAGEMENT = "management"
NAME_LENGTH_MAX = 256


class AclToken(Wire, frozen=True, kw_only=True, rename=wire_names(is_global="Global")):
    """A secret and what it stands for. Whoever holds `secret_id` is the token; `accessor_id` only names it.

    Policies are named, roles are given by id; times of 0 are none.
    """

    accessor_id: str
    secret_id: str
    name: str = ""
    type: str = CLIENT
    policies: tuple[str, ...] | None = None
    roles: tuple[str, ...] | None = None
    is_global: bool = False
    hash: bytes | None = None
    create_time: Nanoseconds = 0
    expiration_time: Nanoseconds = 0
    expiration_ttl: Nanoseconds = 0
    create_index: int = 0
    modify_index: int = 0

    def __repr__(self) -> str:
        """Without the secret, so that no log or traceback shows it."""
        return f"AclToken(accessor_id={self.accessor_id!r}, type={self.type!r})"

    def is_expired(self, now: Nanoseconds) -> bool:
        """Whether it no longer counts."""
        return 0 < self.expiration_time <= now


class OneTimeToken(Wire, frozen=True, kw_only=True):
    """A secret that can be exchanged for a token once, soon."""

    one_time_secret_id: str
    accessor_id: str
    expires_at: Nanoseconds
    create_index: int = 0
    modify_index: int = 0

    def __repr__(self) -> str:
        """Without the secret, so that no log or traceback shows it."""
        return f"OneTimeToken(accessor_id={self.accessor_id!r})"


class AclBootstrap(Wire, frozen=True, kw_only=True):
    """That, and when, a cluster got its first management token."""

    create_index: int = 0
    modify_index: int = 0


class TokenLimits(Wire, frozen=True, kw_only=True):
    """How short and how long tokens with an end may live."""

    ttl_min: Nanoseconds
    ttl_max: Nanoseconds


def token_problems(token: AclToken, existing: AclToken | None, limits: TokenLimits) -> list[str]:
    """Say what is wrong with a token, new or in the place of an existing one."""
    problems = []
    if len(token.name) > NAME_LENGTH_MAX:
        problems.append("token name too long")
    has_grants = bool(token.policies or token.roles)
    if token.type == CLIENT and not has_grants:
        problems.append("client token missing policies or roles")
    elif token.type == MANAGEMENT and has_grants:
        problems.append("management token cannot be associated with policies or roles")
    elif token.type not in (CLIENT, MANAGEMENT):
        problems.append("token type must be client or management")
    problems += _changes(token, existing) if existing is not None else _life(token, limits)
    return problems


def _changes(token: AclToken, existing: AclToken) -> list[str]:
    problems = []
    if token.is_global != existing.is_global:
        problems.append("cannot toggle global mode")
    if token.expiration_ttl != existing.expiration_ttl:
        problems.append("cannot update expiration TTL")
    if token.expiration_time != existing.expiration_time:
        problems.append("cannot update expiration time")
    return problems


def _life(token: AclToken, limits: TokenLimits) -> list[str]:
    if not token.expiration_time and not token.expiration_ttl:
        return []
    problems = []
    if token.expiration_ttl < 0:
        problems.append(
            f"token expiration TTL '{duration_text(token.expiration_ttl)}' should not be negative"
        )
    left = token.expiration_time - token.create_time
    if left < 0:
        problems.append("expiration time cannot be before create time")
    if left > limits.ttl_max:
        most = duration_text(limits.ttl_max)
        problems.append(
            f"expiration time cannot be more than {most} in the future (was {duration_text(left)})"
        )
    if left < limits.ttl_min:
        least = duration_text(limits.ttl_min)
        problems.append(
            f"expiration time cannot be less than {least} in the future (was {duration_text(left)})"
        )
    return problems
