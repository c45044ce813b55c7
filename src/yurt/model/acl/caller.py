"""Callers: who makes a request."""

from __future__ import annotations

import msgspec

from yurt.model.acl.permissions import EVERYTHING, Permissions

ANONYMOUS = "anonymous"


class IdentityClaims(msgspec.Struct, frozen=True, kw_only=True):
    """What a workload's signed identity says about it."""

    namespace: str
    job_id: str
    group: str = ""
    task: str = ""
    alloc_id: str = ""


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """Who makes a request, and what that allows.

    `accessor_id` names a token without giving its secret away, so it is what logs and lists show.
    """

    accessor_id: str
    name: str = ""
    permissions: Permissions = EVERYTHING
    policies: tuple[str, ...] = ()
    identity: IdentityClaims | None = None

    @property
    def is_anonymous(self) -> bool:
        """Whether no token was sent."""
        return self.accessor_id == ANONYMOUS


OPEN_TO_ALL = Caller(accessor_id="acls-disabled", name="ACLs disabled token")
"""The caller of every request where access is not controlled."""
