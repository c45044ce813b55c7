"""Calls about variables."""

from collections.abc import Mapping
from typing import Any

from yurt.sdk.client import Answer, Client
from yurt.sdk.errors import ApiError
from yurt.sdk.transport import Param
from yurt.sdk.wire import Record, decode


class Lock(Record, frozen=True):
    """A held lock; durations are texts."""

    id: str = ""
    ttl: str = ""
    lock_delay: str = ""


class Variable(Record, frozen=True):
    """A variable; lists leave the items out. Times in nanoseconds."""

    namespace: str = ""
    path: str = ""
    create_index: int = 0
    modify_index: int = 0
    create_time: int = 0
    modify_time: int = 0
    items: dict[str, str] = {}
    lock: Lock | None = None


class Conflict(ApiError):
    """A check-and-set failed; `current` is what the server has, empty when it may not be seen."""

    def __init__(self, error: ApiError) -> None:
        super().__init__(error.status, error.body)
        self.current = decode(error.body.encode(), Variable)


def listing(client: Client, /, **params: Param) -> Answer[tuple[Variable, ...]]:
    """List variables; `prefix`, `filter` and paging may be given."""
    return client.get("/v1/vars", tuple[Variable, ...], **params)


def read(client: Client, path: str) -> Answer[Variable]:
    """Read a variable."""
    return client.get(_path(path), Variable)


def write(client: Client, /, path: str, variable: Mapping[str, Any], **params: Param) -> Answer[Variable]:
    """Write a variable; `cas` is the modify index it must have, 0 if it must not exist. Raises `Conflict`."""
    try:
        return client.put(_path(path), Variable, body=variable, **params)
    except ApiError as error:
        raise _conflict(error) from error


def delete(client: Client, /, path: str, **params: Param) -> None:
    """Delete a variable; `cas` is the modify index it must have. Raises `Conflict`."""
    try:
        client.send("DELETE", _path(path), **params)
    except ApiError as error:
        raise _conflict(error) from error


def acquire_lock(client: Client, path: str, variable: Mapping[str, Any]) -> Answer[Variable]:
    """Take a variable's lock, making the variable if there is none. Raises `Conflict` when it is held."""
    return write(client, path, variable, **{"lock-acquire": True})


def renew_lock(client: Client, path: str, lock_id: str) -> None:
    """Keep a lock for another time to live."""
    client.send("PUT", _path(path), body={"Lock": {"ID": lock_id}}, **{"lock-renew": True})


def release_lock(client: Client, path: str, lock_id: str) -> None:
    """Give a lock back."""
    client.send("PUT", _path(path), body={"Lock": {"ID": lock_id}}, **{"lock-release": True})


def _path(path: str) -> str:
    return f"/v1/var/{path}"


def _conflict(error: ApiError) -> ApiError:
    return Conflict(error) if error.status == 409 and error.body.startswith("{") else error
