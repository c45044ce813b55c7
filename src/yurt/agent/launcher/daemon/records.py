"""How the agent, the launcher and a task's supervisor write facts to each other as bytes.

A request is a run of NUL-terminated `name=value` fields: nothing that reaches execve can hold a NUL, so
nothing needs escaping. A record is a small text file of `name=value` lines. Both are plain enough for an
agent of another version to read.

A started task has one record, `tasks/<key>`, in two parts: who supervises and who runs, there before the
command's first instruction; and how it ended, added when the whole process tree is gone. A fact that is
written again replaces the earlier one.
"""

import os

LAUNCHER = "launcher"
SOCKET = "launcher.sock"
TASKS = "tasks"
SPARE = "spare."  # then pid and start of a supervisor that has no task yet
# The last line of each part: what was cut short has none.
STARTED = "started"
EXITED = "exited"
# A launcher of another version is replaced when the agent next starts a task.
VERSION = "3"

_END = b"end=\0"
_TEXT = ("utf-8", "surrogateescape")  # any bytes pass, and whatever the locale, the same ones arrive
REQUEST_BYTES_MAX = 16 << 20


class Truncated(Exception):
    """The sender went away in the middle of a request, so nothing may be done about it."""


def encode_request(fields: list[tuple[str, str]]) -> bytes:
    """Fields in order, names may repeat; raises ValueError for a value with a NUL byte."""
    parts = []
    for name, value in fields:
        raw = value.encode(*_TEXT)
        if b"\0" in raw:
            raise ValueError(f"{name} holds a NUL byte, which no process can be given: {value!r}")
        parts.append(b"%s=%s\0" % (name.encode(), raw))
    return b"".join(parts) + _END


def read_request(fd: int) -> bytes:
    """Read one request, as encode_request made it, waiting for it to be complete."""
    data = b""
    while not (data == _END or data.endswith(b"\0" + _END)):
        chunk = os.read(fd, 1 << 16)
        if not chunk or len(data) > REQUEST_BYTES_MAX:
            raise Truncated
        data += chunk
    return data


def decode_request(data: bytes) -> list[tuple[str, str]]:
    """The fields of a complete request, in order."""
    fields = []
    for field in data.split(b"\0")[:-2]:
        name, _, value = field.partition(b"=")
        fields.append((name.decode(), value.decode(*_TEXT)))
    return fields


def encode_record(facts: dict[str, str]) -> bytes:
    """One line a fact; values must not hold line breaks."""
    return "".join(f"{name}={value}\n" for name, value in facts.items()).encode(*_TEXT)


def decode_record(data: bytes) -> dict[str, str]:
    """Facts of a record; a last line that is incomplete is left out."""
    lines = data.decode(*_TEXT).split("\n")[:-1]
    return dict(line.split("=", 1) for line in lines)


def write_record(path: str, facts: dict[str, str]) -> None:
    """Write a record that appears whole or not at all.

    It is not synced to disk: records speak of processes, and those do not outlive a power cut either.
    """
    fd = os.open(path + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        os.write(fd, encode_record(facts))
    finally:
        os.close(fd)
    os.rename(path + ".new", path)


def read_record(path: str) -> dict[str, str] | None:
    """Facts of the record at `path`, None where there is none."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        return decode_record(os.read(fd, 1 << 16))
    finally:
        os.close(fd)
