"""How the agent, the launcher and a task's supervisor write facts to each other as bytes.

A request is its length in hex, NUL-terminated `name=value` fields, and the environment of the command in
the same form: nothing that reaches execve can hold a NUL, so nothing needs escaping. A record is a small
text file of `name=value` lines. Both are plain enough for an agent of another version to read.

A started task has one record, `tasks/<key>`: who supervises it, there before the command's first
instruction; who runs, added right after; and how it ended, added when the whole process tree is gone. A
fact that is written again replaces the earlier one.
"""

import os

LAUNCHER = "launcher"
SOCKET = "launcher.sock"
TASKS = "tasks"
SPARE = "spare."  # then pid and start of a supervisor that has no task yet
# The last line of each part: what was cut short has none.
CLAIMED = "claimed"
STARTED = "started"
EXITED = "exited"
# A launcher of another version is replaced when the agent next starts a task.
VERSION = "4"

LENGTH_DIGITS = 8
_ENVIRONMENT = b"\0environment=\0"  # no value can hold it
_TEXT = ("utf-8", "surrogateescape")  # any bytes pass, and whatever the locale, the same ones arrive
REQUEST_BYTES_MAX = 16 << 20


class Truncated(Exception):
    """The sender went away in the middle of a request, so nothing may be done about it."""


def encode_request(fields: list[tuple[str, str]], environment: list[str]) -> bytes:
    """Fields in order, names may repeat; raises ValueError for a value with a NUL byte."""
    text = "".join([f"{name}={value}\0" for name, value in fields])
    variables = "".join([f"{variable}\0" for variable in environment])
    if text.count("\0") != len(fields) or variables.count("\0") != len(environment):
        named = [*fields, *(("env", variable) for variable in environment)]
        name, value = next((name, value) for name, value in named if "\0" in value)
        raise ValueError(f"{name} holds a NUL byte, which no process can be given: {value!r}")
    body = text.encode(*_TEXT)[:-1] + _ENVIRONMENT + variables.encode(*_TEXT)
    return b"%0*x" % (LENGTH_DIGITS, len(body)) + body


def read_request(fd: int) -> bytes:
    """Read one request, as encode_request made it, waiting for it to be complete; returns its body."""
    data = os.read(fd, 1 << 16)
    while len(data) < LENGTH_DIGITS or len(data) < LENGTH_DIGITS + int(data[:LENGTH_DIGITS], 16):
        chunk = os.read(fd, 1 << 16)
        if not chunk or len(data) > REQUEST_BYTES_MAX:
            raise Truncated
        data += chunk
    return data[LENGTH_DIGITS:]


def decode_request(body: bytes) -> tuple[dict[str, list[str]], bytes]:
    """The fields of a request by name, and the environment as it came."""
    head, _, environment = body.partition(_ENVIRONMENT)
    fields: dict[str, list[str]] = {}
    for field in head.decode(*_TEXT).split("\0"):
        name, _, value = field.partition("=")
        fields.setdefault(name, []).append(value)
    return fields, environment


def decode_environment(environment: bytes) -> dict[bytes, bytes]:
    """The variables of a request's environment."""
    split = [variable.partition(b"=") for variable in environment.split(b"\0")[:-1]]
    return {name: value for name, _, value in split}


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
