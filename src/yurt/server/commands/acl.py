"""Who may do what: policies, roles and the first token, made and deleted."""

from __future__ import annotations

import hashlib
import uuid

import msgspec
from msgspec.structs import replace

from yurt.errors import YurtError
from yurt.model.acl.policy import AclPolicy, AclRole, policy_problems, role_problems
from yurt.model.acl.token import MANAGEMENT, AclToken
from yurt.model.multi_error import multi_error_text
from yurt.server.context import ServerContext
from yurt.state import acl_entries
from yurt.state.acl import Acl

BOOTSTRAP_NAME = "Bootstrap Token"


class AclRefused(YurtError):
    """What was asked for would not be right."""


class AclNotFound(YurtError):
    """What is to be deleted is not there."""


class AclCommands:
    """What can be asked about policies, roles and the first token."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context

    async def bootstrap(self, secret: str, *, reset_index: int = 0) -> AclToken:
        """Make the first management token, with a secret of its own or the given one. Raises AclRefused.

        Once there was one, `reset_index` must be the index of when, which only those who can write to
        the server's disk can say.
        """
        now = self._context.clock.now_ns()
        token = AclToken(
            accessor_id=self._context.new_id(),
            secret_id=secret or self._context.new_secret(),
            name=BOOTSTRAP_NAME,
            type=MANAGEMENT,
            is_global=True,
            create_time=now,
        )
        token = replace(token, hash=content_hash(token))
        known = self._acl.bootstrap_index
        # Anybody may ask, so what cannot succeed must leave nothing in the log.
        if known and not reset_index:
            raise AclRefused(f"ACL bootstrap already done (reset index: {known})")
        if known and reset_index != known:
            raise AclRefused(f"Invalid bootstrap reset index (specified {reset_index}, reset index: {known})")
        entry = acl_entries.BootstrapAcl(at=now, token=token, reset_index=reset_index)
        done = await self._context.committer.propose(entry)
        if not done.outcome:
            raise AclRefused(f"ACL bootstrap already done (reset index: {self._acl.bootstrap_index})")
        return self._acl.tokens[token.accessor_id]

    async def write_policy(self, policy: AclPolicy, *, rules_problem: str | None = None) -> int:
        """Store a policy; returns the index. Raises AclRefused."""
        problems = policy_problems(policy, rules_problem)
        if problems:
            raise AclRefused(f"policy 0 invalid: {multi_error_text(problems)}")
        entry = acl_entries.UpsertAclPolicies(
            at=self._context.clock.now_ns(), policies=(replace(policy, hash=content_hash(policy)),)
        )
        return (await self._context.committer.propose(entry)).index

    async def delete_policy(self, name: str) -> int:
        """Forget a policy, whether there is one or not; returns the index."""
        entry = acl_entries.DeleteAclPolicies(at=self._context.clock.now_ns(), names=(name,))
        return (await self._context.committer.propose(entry)).index

    async def write_role(self, role: AclRole) -> AclRole:
        """Make a role if it has no id, else change the one that has it. Raises AclRefused."""
        known = self._acl.roles.get(role.id) if role.id else None
        if role.id and known is None:
            raise AclRefused(f"cannot find role {role.id}")
        problems = role_problems(role)
        if problems:
            raise AclRefused(f"role 0 invalid: {multi_error_text(problems)}")
        for name in role.policies:
            if name not in self._acl.policies:
                raise AclRefused(f"cannot find policy {name}")
        same_name = self._acl.roles.named(role.name)
        if same_name is not None and same_name.id != role.id:
            raise AclRefused(f"role with name {role.name} already exists")
        role = replace(
            role, id=role.id or self._context.new_id(), policies=tuple(dict.fromkeys(role.policies))
        )
        entry = acl_entries.UpsertAclRoles(
            at=self._context.clock.now_ns(), roles=(replace(role, hash=content_hash(role)),)
        )
        await self._context.committer.propose(entry)
        return self._acl.roles[role.id]

    async def delete_role(self, role_id: str) -> int:
        """Forget a role; returns the index. Raises AclNotFound."""
        if role_id not in self._acl.roles:
            raise AclNotFound("ACL role not found")
        entry = acl_entries.DeleteAclRoles(at=self._context.clock.now_ns(), role_ids=(role_id,))
        return (await self._context.committer.propose(entry)).index

    @property
    def _acl(self) -> Acl:
        return self._context.state.acl


def is_uuid(text: str) -> bool:
    """Whether a text is a UUID as tokens have it, in lower case and with dashes."""
    try:
        return str(uuid.UUID(text)) == text
    except ValueError:
        return False


def content_hash(value: AclToken | AclPolicy | AclRole) -> bytes:
    """A hash of what somebody wrote, by which copies of it are compared; it gives no secret away."""
    plain = msgspec.to_builtins(value)
    for name in ("Hash", "CreateIndex", "ModifyIndex", "SecretID"):
        plain.pop(name, None)
    return hashlib.sha256(msgspec.json.encode(plain, order="sorted")).digest()
