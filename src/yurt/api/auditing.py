"""What a call looks like in the audit log."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from yurt.api.answer import Answer, text_answer
from yurt.api.call import Call
from yurt.model.acl.caller import ANONYMOUS, OPEN_TO_ALL, Caller
from yurt.model.times import time_text
from yurt.observe.audit import (
    COMPLETE,
    EVENT_TYPE,
    RECEIVED,
    VERSION,
    AuditLog,
    AuditRequest,
    AuditResponse,
    Auth,
    NamespaceRef,
    NodeMeta,
    Payload,
    RequestMeta,
    cut,
)
from yurt.server.auth import Authority, TokenRefused

NOT_WRITTEN = "the audit log cannot be written, so nothing was done; see the agent's log (audit.not_written)"
NOT_WRITTEN_AFTER = (
    "this was done, but the audit log cannot be written; see the agent's log (audit.not_written)"
)


class Auditor:
    """Has every call written down before it is carried out, and again once it is."""

    def __init__(
        self, log: AuditLog, *, agent_address: str, new_id: Callable[[], str], now_ns: Callable[[], int]
    ) -> None:
        self._log = log
        self._node = NodeMeta(agent_address)
        self._new_id = new_id
        self._now_ns = now_ns

    async def answer(
        self, call: Call, authority: Authority | None, handle: Callable[[], Awaitable[Answer]]
    ) -> Answer:
        """What `handle` answers, or a failure where the audit log must be written and cannot be."""
        auth = _auth(call, authority)
        request = AuditRequest(
            id=self._new_id(),
            operation=call.method,
            # Without the query, which may hold what nobody else should read.
            endpoint=cut(call.url_path),
            namespace=NamespaceRef(cut(call.namespace)),
            request_meta=RequestMeta(
                remote_address=call.remote_address, user_agent=cut(call.headers.get("user-agent", ""))
            ),
            node_meta=self._node,
        )
        if not await self._record(RECEIVED, auth, request, None):
            return text_answer(500, NOT_WRITTEN)
        answer = await handle()
        response = AuditResponse(status_code=answer.status)
        if not await self._record(COMPLETE, auth, request, response):
            return text_answer(500, NOT_WRITTEN_AFTER)
        return answer

    async def _record(
        self, stage: str, auth: Auth, request: AuditRequest, response: AuditResponse | None
    ) -> bool:
        timestamp = time_text(self._now_ns())
        assert timestamp is not None
        return await self._log.record(
            Payload(
                id=self._new_id(),
                stage=stage,
                type=EVENT_TYPE,
                timestamp=timestamp,
                version=VERSION,
                auth=auth,
                request=request,
                response=response,
            )
        )


def _auth(call: Call, authority: Authority | None) -> Auth:
    if authority is None:
        return Auth(accessor_id=OPEN_TO_ALL.accessor_id, name=OPEN_TO_ALL.name, method="open")
    try:
        caller = authority.caller(call.secret)
    except TokenRefused:
        return Auth(accessor_id="", method="refused")
    return Auth(accessor_id=caller.accessor_id, name=caller.name, method=_method(caller))


def _method(caller: Caller) -> str:
    if caller.identity is not None:
        return "workload"
    return ANONYMOUS if caller.is_anonymous else "token"
