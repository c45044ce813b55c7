"""Garbage collection of tokens whose time is over."""

from __future__ import annotations

from yurt.model.wire import Nanoseconds
from yurt.state.acl_entries import AclEntry, DeleteAclTokens, DeleteOneTimeTokens
from yurt.state.state import State

TOKENS_PER_ENTRY_MAX = 4096


def collect_tokens(state: State, *, now: Nanoseconds, kept_for: Nanoseconds) -> list[AclEntry]:
    """Forget tokens that expired `kept_for` ago, and one-time secrets that nobody came for."""
    accessors = [token.accessor_id for token in state.acl.tokens if token.is_expired(now - kept_for)]
    secrets = [token.one_time_secret_id for token in state.acl.one_time_tokens if token.expires_at <= now]
    size = TOKENS_PER_ENTRY_MAX
    return [
        *(
            DeleteAclTokens(at=now, accessor_ids=tuple(accessors[start : start + size]))
            for start in range(0, len(accessors), size)
        ),
        *(
            DeleteOneTimeTokens(at=now, secret_ids=tuple(secrets[start : start + size]))
            for start in range(0, len(secrets), size)
        ),
    ]
