"""Namespaces: made, changed and deleted."""

from __future__ import annotations

import hashlib
import re

import msgspec
from msgspec.structs import replace

from yurt.errors import YurtError
from yurt.model.job import JOB_DEAD
from yurt.model.multi_error import multi_error_text
from yurt.model.namespace import Namespace
from yurt.model.wire import DEFAULT_NAMESPACE
from yurt.server.context import ServerContext
from yurt.state.entries import DeleteNamespaces, UpsertNamespaces
from yurt.state.state import State

DESCRIPTION_LENGTH_MAX = 256
NAME_PATTERN = "^[a-zA-Z0-9-]{1,128}$"

_NAME = re.compile(r"[a-zA-Z0-9-]{1,128}")


class NamespaceRefused(YurtError):
    """The namespace cannot be stored or deleted as asked."""


class NamespaceCommands:
    """What can be asked about namespaces."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context

    async def upsert(self, namespace: Namespace, *, features: tuple[str, ...] = ()) -> int:
        """Store a namespace; returns the index. Raises NamespaceRefused.

        `features` are what the request asks for that only other editions have, in their words.
        """
        problems = [*namespace_problems(namespace), *features]
        if problems:
            raise NamespaceRefused(f'Invalid namespace "{namespace.name}": {multi_error_text(problems)}')
        if namespace.quota and namespace.quota not in self._context.state.quotas:
            raise NamespaceRefused(
                f'namespace "{namespace.name}" using non-existent quota "{namespace.quota}"'
            )
        entry = UpsertNamespaces(
            at=self._context.clock.now_ns(),
            namespaces=(replace(namespace, hash=content_hash(namespace)),),
        )
        return (await self._context.committer.propose(entry)).index

    async def delete(self, name: str) -> int:
        """Forget an unused namespace; returns the index. Raises NamespaceRefused."""
        state = self._context.state
        if name == DEFAULT_NAMESPACE:
            raise NamespaceRefused("can not delete default namespace")
        if name not in state.namespaces:
            raise NamespaceRefused("namespace not found")
        uses = namespace_uses(state, name, self._context.region)
        if uses:
            raise NamespaceRefused(multi_error_text(uses))
        entry = DeleteNamespaces(at=self._context.clock.now_ns(), names=(name,))
        return (await self._context.committer.propose(entry)).index


def namespace_problems(namespace: Namespace) -> list[str]:
    """Say what is wrong with a namespace."""
    problems = []
    if _NAME.fullmatch(namespace.name) is None:
        problems.append(f'invalid name "{namespace.name}". Must match regex {NAME_PATTERN}')
    if len(namespace.description) > DESCRIPTION_LENGTH_MAX:
        problems.append(f"description longer than {DESCRIPTION_LENGTH_MAX}")
    pools = namespace.node_pool_configuration
    if pools is not None and pools.allowed and pools.denied:
        problems.append("invalid node pool configuration: use either allowed or denied, not both")
    return problems


def namespace_uses(state: State, name: str, region: str) -> list[str]:
    """Say what still lives in a namespace."""
    uses = []
    if any(job.namespace == name and job.status != JOB_DEAD for job in state.jobs):
        uses.append(f'namespace "{name}" has non-terminal jobs in regions: [{region}]')
    if any(alloc.namespace == name and not alloc.is_client_terminal for alloc in state.allocs):
        uses.append(f'namespace "{name}" has non-terminal allocations in regions: [{region}]')
    if state.variables.has_any(name):
        uses.append(f'namespace "{name}" has variables associated with it in regions: [{region}]')
    return uses


def content_hash(value: msgspec.Struct) -> bytes:
    """A hash of what a person wrote, by which copies of it are compared."""
    plain = replace(value, hash=None, create_index=0, modify_index=0)
    return hashlib.sha256(msgspec.json.encode(plain, order="sorted")).digest()
