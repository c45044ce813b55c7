"""Tokens: made, changed, exchanged and deleted."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from yurt.model.acl.token import MANAGEMENT, AclToken, OneTimeToken, TokenLimits, token_problems
from yurt.model.multi_error import multi_error_text
from yurt.model.times import MINUTE_NS
from yurt.server.commands.acl import AclRefused, content_hash, is_uuid
from yurt.server.context import ServerContext
from yurt.state import acl_entries
from yurt.state.acl import Acl, secret_key

ONE_TIME_LIFE = 10 * MINUTE_NS


class AclTokenCommands:
    """What can be asked about tokens."""

    def __init__(self, context: ServerContext, limits: TokenLimits) -> None:
        self._context = context
        self._limits = limits

    async def create(self, token: AclToken, roles: Sequence[str] = ()) -> AclToken:
        """Make a token with ids of its own, or with those that it brings; `roles` are ids or names.

        Raises AclRefused.
        """
        now = self._context.clock.now_ns()
        if token.accessor_id or token.secret_id:
            self._check_own_ids(token)
        expiration = token.expiration_time or (now + token.expiration_ttl if token.expiration_ttl else 0)
        token = replace(
            token,
            accessor_id=token.accessor_id or self._context.new_id(),
            secret_id=token.secret_id or self._context.new_secret(),
            create_time=now,
            expiration_time=expiration,
        )
        return await self._store(token, None, roles)

    async def update(self, token: AclToken, roles: Sequence[str] = ()) -> AclToken:
        """Change a token's name, policies and roles. Raises AclRefused."""
        existing = self._acl.tokens.get(token.accessor_id)
        if existing is None:
            raise AclRefused(f"cannot find token {token.accessor_id}")
        token = replace(
            token,
            secret_id=existing.secret_id,
            create_time=existing.create_time,
            # What is not said about a token's end stays as it is.
            expiration_time=token.expiration_time or existing.expiration_time,
            expiration_ttl=token.expiration_ttl or existing.expiration_ttl,
        )
        return await self._store(token, existing, roles)

    async def delete(self, accessor_id: str) -> int:
        """Forget a token; returns the index. Raises AclRefused."""
        if accessor_id not in self._acl.tokens:
            raise AclRefused(f"Cannot delete nonexistent tokens: {accessor_id}")
        entry = acl_entries.DeleteAclTokens(at=self._context.clock.now_ns(), accessor_ids=(accessor_id,))
        return (await self._context.committer.propose(entry)).index

    async def make_one_time(self, accessor_id: str) -> OneTimeToken:
        """Make a secret that can be exchanged for a token once, soon."""
        now = self._context.clock.now_ns()
        token = OneTimeToken(
            one_time_secret_id=self._context.new_secret(),
            accessor_id=accessor_id,
            expires_at=now + ONE_TIME_LIFE,
        )
        await self._context.committer.propose(acl_entries.UpsertOneTimeTokens(at=now, tokens=(token,)))
        return self._acl.one_time_tokens[token.one_time_secret_id]

    async def exchange(self, secret: str) -> AclToken | None:
        """The token that a one-time secret stands for; None if there is none, or it was used already."""
        now = self._context.clock.now_ns()
        once = self._acl.one_time_tokens.get(secret)
        token = self._acl.tokens.get(once.accessor_id) if once is not None else None
        if once is None or token is None or once.expires_at <= now or token.is_expired(now):
            return None
        done = await self._context.committer.propose(
            acl_entries.DeleteOneTimeTokens(at=now, secret_ids=(secret,))
        )
        # Of two that come at once, the log lets one be first.
        return token if done.outcome else None

    def _check_own_ids(self, token: AclToken) -> None:
        if not (token.accessor_id and token.secret_id):
            raise AclRefused("a token that brings its own ids must bring both AccessorID and SecretID")
        if not (is_uuid(token.accessor_id) and is_uuid(token.secret_id)):
            raise AclRefused("AccessorID and SecretID must be UUIDs")
        if token.accessor_id == token.secret_id:
            raise AclRefused("AccessorID is no secret, so SecretID must be another UUID")
        if token.type == MANAGEMENT:
            raise AclRefused("a management token cannot bring its own AccessorID and SecretID")
        if token.accessor_id in self._acl.tokens:
            raise AclRefused(f"token {token.accessor_id} already exists")
        if self._acl.tokens.with_secret(secret_key(token.secret_id)) is not None:
            raise AclRefused("the SecretID is in use; choose another one")

    async def _store(self, token: AclToken, existing: AclToken | None, roles: Sequence[str]) -> AclToken:
        token = replace(
            token,
            roles=tuple(dict.fromkeys(self._role_id(role) for role in roles)) or None,
            policies=tuple(dict.fromkeys(token.policies)) if token.policies else None,
        )
        problems = token_problems(token, existing, self._limits)
        if problems:
            raise AclRefused(f"token 0 invalid: {multi_error_text(problems)}")
        entry = acl_entries.UpsertAclTokens(
            at=self._context.clock.now_ns(), tokens=(replace(token, hash=content_hash(token)),)
        )
        await self._context.committer.propose(entry)
        return self._acl.tokens[token.accessor_id]

    def _role_id(self, given: str) -> str:
        role = self._acl.roles.get(given) or self._acl.roles.named(given)
        if role is None:
            raise AclRefused(f"cannot find role {given}")
        return role.id

    @property
    def _acl(self) -> Acl:
        return self._context.state.acl
