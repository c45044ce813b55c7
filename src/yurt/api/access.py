"""Who may call what: the one place where the route table's needs are checked."""

from __future__ import annotations

from collections.abc import AsyncIterator

from yurt.api.call import Call
from yurt.api.errors import HttpError
from yurt.api.needs import MANAGEMENT, PERMISSION_DENIED, All, Anyone, InNamespace, Need
from yurt.api.routes import Route
from yurt.model.acl.caller import ANONYMOUS, Caller
from yurt.model.acl.permissions import NOTHING
from yurt.server.auth import Authority, TokenRefused

_NOBODY = Caller(accessor_id=ANONYMOUS, permissions=NOTHING)


async def admit(authority: Authority, route: Route, call: Call) -> None:
    """Find out who calls, and whether they may. Raises HttpError; then nothing else was done."""
    need = route.need(call.method) or MANAGEMENT
    try:
        call.caller = authority.caller(call.secret)
    except TokenRefused:
        if not isinstance(need, Anyone):
            raise HttpError(*PERMISSION_DENIED) from None
        call.caller = _NOBODY
    spaced = _namespaced(need)
    if spaced is not None:
        call.grants = lambda namespace: spaced.allows(call, namespace)
    if not await need.is_met(call):
        raise HttpError(*PERMISSION_DENIED)


def _namespaced(need: Need) -> InNamespace | None:
    """The need that says which namespaces a list shows."""
    if isinstance(need, All):
        return next((one for one in need.needs if isinstance(one, InNamespace)), None)
    return need if isinstance(need, InNamespace) else None


def is_as_admitted(authority: Authority, call: Call) -> bool:
    """Whether the caller may still do exactly what it could when it was admitted."""
    if call.caller is _NOBODY:
        return True
    try:
        return authority.caller(call.secret).permissions is call.permissions
    except TokenRefused:
        return False


async def while_admitted(
    parts: AsyncIterator[bytes], authority: Authority, route: Route, call: Call
) -> AsyncIterator[bytes]:
    """The parts of a stream, which ends once its caller loses its token or the right to it."""
    async for part in parts:
        if not is_as_admitted(authority, call):
            try:
                await admit(authority, route, call)
            except HttpError:
                return
        yield part
