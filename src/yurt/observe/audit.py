"""The audit log: who asked for what, from where, and how it ended."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

import msgspec

from yurt.observe.audit_file import AuditFile, AuditWriter

RECEIVED = "OperationReceived"
COMPLETE = "OperationComplete"
EVENT_TYPE = "audit"
VERSION = 1
# Longer ones are cut: what callers choose freely must not fill the disk.
TEXT_CHARS_MAX = 1024


class Auth(msgspec.Struct, frozen=True, kw_only=True):
    """Who asks, never with what secret."""

    accessor_id: str
    name: str = ""
    method: str = ""
    """`token`, `workload`, `anonymous`, `refused` (nobody's token) or `open` (access is not controlled)."""


class NamespaceRef(msgspec.Struct, frozen=True):
    """The namespace that is meant."""

    id: str


class RequestMeta(msgspec.Struct, frozen=True, kw_only=True):
    """Where a request comes from."""

    remote_address: str
    user_agent: str


class NodeMeta(msgspec.Struct, frozen=True):
    """The agent that was asked."""

    ip: str


class AuditRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked."""

    id: str
    operation: str
    endpoint: str
    namespace: NamespaceRef
    request_meta: RequestMeta
    node_meta: NodeMeta


class AuditResponse(msgspec.Struct, frozen=True, kw_only=True):
    """How it ended."""

    status_code: int


class Payload(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One stage of one request."""

    id: str
    stage: str
    type: str
    timestamp: str
    version: int
    auth: Auth
    request: AuditRequest
    response: AuditResponse | None = None


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the audit log."""

    created_at: str
    event_type: str
    payload: Payload


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """Events that are left out: those that match in all that is named; `*` stands for any text."""

    endpoints: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()

    def leaves_out(self, stage: str, operation: str, endpoint: str) -> bool:
        """Whether this filter keeps an event out of the log."""
        return (
            _is_among(self.stages, stage)
            and _is_among(self.operations, operation)
            and _is_among(self.endpoints, endpoint)
        )


class AuditLog:
    """Writes events in a thread of its own.

    With `is_enforced` nothing is done, and no answer given, that could not be written; else what cannot be
    written is lost, and said.
    """

    def __init__(self, file: AuditFile, *, filters: Sequence[Filter] = (), is_enforced: bool) -> None:
        self._filters = tuple(filters)
        self._is_enforced = is_enforced
        self._encode = msgspec.json.Encoder().encode
        self._writer = AuditWriter(file)

    async def record(self, payload: Payload) -> bool:
        """Write an event; False if it had to be written and was not."""
        request = payload.request
        if any(one.leaves_out(payload.stage, request.operation, request.endpoint) for one in self._filters):
            return True
        line = (
            self._encode(Event(created_at=payload.timestamp, event_type=EVENT_TYPE, payload=payload)) + b"\n"
        )
        if not self._is_enforced:
            self._writer.offer(line)
            return True
        written: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        if not self._writer.offer(line, written):
            return False
        return await written

    def reopen(self) -> None:
        """Open the file anew: somebody may have moved it away."""
        self._writer.reopen()

    async def close(self) -> None:
        """Write what is left, and end."""
        await asyncio.to_thread(self._writer.close)


def cut(text: str) -> str:
    """A text of the caller's, within what an event may hold."""
    return text if len(text) <= TEXT_CHARS_MAX else text[:TEXT_CHARS_MAX] + "…"


def _is_among(patterns: Iterable[str], text: str) -> bool:
    found = tuple(patterns)
    return not found or any(_pattern(one).fullmatch(text) is not None for one in found)


@lru_cache(maxsize=256)
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(".*".join(re.escape(part) for part in text.split("*")), re.DOTALL)
