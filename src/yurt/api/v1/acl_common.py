"""What the routes about access have in common."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from yurt.api.answer import Answer
from yurt.api.call import Call
from yurt.api.deps import Deps
from yurt.api.errors import HttpError
from yurt.api.routes import Handler
from yurt.model.durations import parse_duration
from yurt.model.times import time_ns
from yurt.model.wire import Nanoseconds
from yurt.server.commands.acl import AclRefused

DISABLED = "ACL support disabled"
_INT64_MAX = 2**63 - 1


def if_enabled(deps: Deps, handler: Handler) -> Handler:
    """A handler that refuses where access is not controlled."""

    async def handle(call: Call) -> Answer:
        if not deps.server.authority.is_enabled:
            raise HttpError(400, DISABLED)
        return await handler(call)

    return handle


@contextmanager
def refusals() -> Iterator[None]:
    """Answer what is refused with a 400."""
    try:
        yield
    except AclRefused as error:
        raise HttpError(400, str(error)) from None


def duration_of(given: object) -> Nanoseconds:
    """A duration that is a text such as `1h`, a number of nanoseconds, or not there. Raises HttpError."""
    if given in (None, ""):
        return 0
    if isinstance(given, int) and not isinstance(given, bool):
        return given
    try:
        found = parse_duration(str(given))
    except ValueError:
        raise HttpError(400, f'time: invalid duration "{given}"') from None
    return max(-_INT64_MAX, min(found, _INT64_MAX))


def time_of(given: str | None) -> Nanoseconds:
    """A time that is a text, or not there. Raises HttpError."""
    try:
        return time_ns(given or None)
    except ValueError:
        raise HttpError(400, f'parsing time "{given}": write it as 2006-01-02T15:04:05Z') from None
