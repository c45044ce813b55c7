"""Who a token stands for, and what that allows."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable
from typing import TypeAlias

import msgspec

from yurt.errors import YurtError
from yurt.model.acl.caller import ANONYMOUS, Caller, IdentityClaims
from yurt.model.acl.capabilities import LIST, READ
from yurt.model.acl.permissions import EVERYTHING, Permissions
from yurt.model.acl.policy import AclPolicy, JobAcl
from yurt.model.acl.rules import NamespaceRule, PathRule, Rules, VariablesRule
from yurt.model.acl.token import MANAGEMENT, AclToken
from yurt.model.wire import AllocID, Nanoseconds
from yurt.server.context import ServerContext
from yurt.state.acl import Acl, secret_key

# Callers and sets of policies that are kept ready; beyond that they are worked out again.
CALLERS_MAX = 10_000
PERMISSIONS_MAX = 2_000
# What the variables of a job and its parts are kept under.
JOB_VARIABLES = "nomad/jobs"

_SECRET_LENGTH = 36
_SECRET_DASHES = (8, 13, 18, 23)

VerifyIdentity: TypeAlias = Callable[[str, Nanoseconds], IdentityClaims | None]
"""Reads a workload's signed identity; None unless its signature, audience and times are right."""


_PermissionsKey: TypeAlias = tuple[IdentityClaims | None, frozenset[tuple[str, int]]]


class TokenRefused(YurtError):
    """The token stands for nobody."""

    def __init__(self) -> None:
        super().__init__("Permission denied")


class TokenExpired(TokenRefused):
    """The token stood for somebody, until its time was over."""


class _Known(msgspec.Struct, frozen=True):
    index: int
    expires_at: Nanoseconds
    caller: Caller


class Authority:
    """Tells callers from their tokens.

    What was worked out is kept until a token, policy or role changes, so that a request costs a few
    microseconds. The same permissions are the same object, until they change.
    """

    def __init__(
        self, context: ServerContext, *, is_enabled: bool, verify_identity: VerifyIdentity | None = None
    ) -> None:
        self.is_enabled = is_enabled
        self.verify_identity = verify_identity
        self._context = context
        self._acl = context.state.acl
        self._callers: dict[bytes, _Known] = {}
        self._permissions: dict[_PermissionsKey, Permissions] = {}

    def caller(self, secret: str) -> Caller:
        """Whom a secret stands for; an empty one stands for nobody in particular.

        Raises TokenRefused, which is the same for every secret that is not known, and TokenExpired.
        """
        acl = self._current()
        if secret and not is_secret_id(secret):
            return self._workload(secret)
        key = secret_key(secret)
        known = self._callers.get(key)
        if known is None or known.index != acl.index:
            known = self._remember(key, self._work_out(acl, secret, key))
        if known.expires_at and known.expires_at <= self._context.clock.now_ns():
            raise TokenExpired
        return known.caller

    def token(self, secret: str) -> AclToken | None:
        """The token that a secret belongs to, whether its time is over or not."""
        token = self._current().tokens.with_secret(secret_key(secret))
        if token is None or not hmac.compare_digest(token.secret_id.encode(), secret.encode()):
            return None
        return token

    def _current(self) -> Acl:
        acl = self._context.state.acl
        if acl is not self._acl:
            # All State was replaced; indexes may have gone back to ones that meant something else.
            self._acl = acl
            self._callers.clear()
            self._permissions.clear()
        return acl

    def _remember(self, key: bytes, known: _Known) -> _Known:
        if len(self._callers) >= CALLERS_MAX:
            self._callers.clear()
        self._callers[key] = known
        return known

    def _work_out(self, acl: Acl, secret: str, key: bytes) -> _Known:
        policies: tuple[str, ...] = (ANONYMOUS,)
        if not secret:
            caller = Caller(
                accessor_id=ANONYMOUS,
                name="Anonymous Token",
                permissions=self._of_policies(_named(acl, policies)),
                policies=policies,
            )
            return _Known(acl.index, 0, caller)
        token = acl.tokens.with_secret(key)
        if token is None or not hmac.compare_digest(token.secret_id.encode(), secret.encode()):
            raise TokenRefused
        policies = policies_of(acl, token)
        caller = Caller(
            accessor_id=token.accessor_id,
            name=token.name,
            permissions=(
                EVERYTHING if token.type == MANAGEMENT else self._of_policies(_named(acl, policies))
            ),
            policies=policies,
        )
        return _Known(acl.index, token.expiration_time, caller)

    def _of_policies(self, policies: Iterable[AclPolicy], own: IdentityClaims | None = None) -> Permissions:
        found = tuple(policies)
        key = (own, frozenset((policy.name, policy.modify_index) for policy in found))
        permissions = self._permissions.get(key)
        if permissions is None:
            if len(self._permissions) >= PERMISSIONS_MAX:
                self._permissions.clear()
            rules = [policy.parsed for policy in found]
            if own is not None:
                rules.append(own_variables(own))
            permissions = self._permissions[key] = Permissions(rules)
        return permissions

    def _workload(self, signed: str) -> Caller:
        """A workload with its own signed identity, for as long as its allocation runs."""
        claims = (
            self.verify_identity(signed, self._context.clock.now_ns())
            if self.verify_identity is not None
            else None
        )
        if claims is None:
            raise TokenRefused
        return self.workload(claims)

    def workload(self, claims: IdentityClaims) -> Caller:
        """A workload that is who it says. Raises TokenRefused once its allocation is over."""
        state = self._context.state
        alloc = state.allocs.get(AllocID(claims.alloc_id))
        if alloc is None or alloc.is_terminal:
            raise TokenRefused
        applying = [policy for policy in state.acl.policies if applies_to(policy.job_acl, claims)]
        return Caller(
            accessor_id=f"{claims.namespace}/{claims.job_id}/{claims.task}",
            name=claims.job_id,
            permissions=self._of_policies(applying, claims),
            policies=tuple(policy.name for policy in applying),
            identity=claims,
        )


def policies_of(acl: Acl, token: AclToken) -> tuple[str, ...]:
    """The names of a token's policies, its roles' included."""
    roles = (acl.roles.get(role_id) for role_id in token.roles or ())
    names = [*(token.policies or ()), *(name for role in roles if role is not None for name in role.policies)]
    return tuple(dict.fromkeys(names))


def applies_to(acl: JobAcl | None, claims: IdentityClaims) -> bool:
    """Whether a policy applies to a workload by itself."""
    if acl is None or not acl.namespace:
        return False
    return (
        acl.namespace == claims.namespace
        and acl.job_id in ("", claims.job_id)
        and acl.group in ("", claims.group)
        and acl.task in ("", claims.task)
    )


def own_variables(claims: IdentityClaims) -> Rules:
    """What a workload may read without any policy: the variables of its job, group and task."""
    paths = [JOB_VARIABLES]
    for part in (claims.job_id, claims.group, claims.task):
        # In a rule a star stands for any text, and would open the variables of other jobs.
        if not part or "*" in part:
            break
        paths.append(f"{paths[-1]}/{part}")
    rules = tuple(PathRule(path_spec=path, capabilities=(READ, LIST)) for path in paths)
    rule = NamespaceRule(name=claims.namespace, variables=VariablesRule(paths=rules))
    return Rules(namespaces=(rule,))


def _named(acl: Acl, names: Iterable[str]) -> Iterable[AclPolicy]:
    found = (acl.policies.get(name) for name in names)
    return (policy for policy in found if policy is not None)


def is_secret_id(secret: str) -> bool:
    """Whether a text has the form of a token's secret; anything else is a signed identity, if at all."""
    return len(secret) == _SECRET_LENGTH and all(secret[at] == "-" for at in _SECRET_DASHES)
