"""Reading the SQLite files that agents leave behind, without the agent."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from yurt.cli.errors import CommandError


@contextmanager
def opened(directory: str, name: str) -> Iterator[sqlite3.Connection]:
    """Open the file `name` in a directory or below it, for reading only. Raises `CommandError`."""
    found = sorted(path for path in Path(directory).rglob(name) if path.is_file())
    if not found:
        raise CommandError(
            f"There is no {name} in {directory}; name the data_dir of an agent, or a part of it"
        )
    if len(found) > 1:
        listed = ", ".join(str(path) for path in found)
        raise CommandError(f"There are several {name} below {directory}: {listed}; name the directory of one")
    connection = sqlite3.connect(f"file:{found[0]}?mode=ro", uri=True)
    try:
        yield connection
    except sqlite3.OperationalError as error:
        raise CommandError(f"{found[0]} cannot be read: {error}; stop the agent that uses it") from error
    except sqlite3.DatabaseError as error:
        raise CommandError(f"{found[0]} cannot be read: {error}") from error
    finally:
        connection.close()


def decoded(payload: bytes) -> Any:  # noqa: ANN401 # whatever was stored
    """What a stored value holds, fit for JSON; bytes that are no message are told by their length."""
    try:
        return _plain(msgspec.msgpack.decode(payload))
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return f"<{len(payload)} bytes>"


def _plain(value: object) -> object:
    if isinstance(value, bytes):
        return decoded(value) if value else ""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value
