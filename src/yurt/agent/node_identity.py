"""Who a node is: its id and its secret, made once and kept in files."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from pathlib import Path

import msgspec

from yurt.errors import YurtError
from yurt.model.wire import NodeID

ID_FILE = "client-id"
SECRET_FILE = "secret-id"  # noqa: S105 - the name of a file, not a secret
UUID_CHARS = 36


class IdentityDamaged(YurtError):
    """An identity file does not hold an id."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path} does not hold a UUID; restore it from a backup, or delete {ID_FILE} and {SECRET_FILE} "
            "to make this a new node"
        )
        self.path = path


class NodeIdentity(msgspec.Struct, frozen=True):
    """A node's id, which everybody may know, and the secret that proves it."""

    node_id: NodeID
    secret_id: str


def load_identity(directory: Path | None, new_id: Callable[[], str]) -> NodeIdentity:
    """Read the node's identity, or make one on the first start; None keeps it in memory only.

    `new_id` makes the id. The secret is drawn from the machine's entropy: whoever sees enough ids of one
    generator can work out all others.
    """
    if directory is None:
        return NodeIdentity(NodeID(new_id()), _new_secret())
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    return NodeIdentity(
        NodeID(_read_or_make(directory / ID_FILE, new_id)),
        _read_or_make(directory / SECRET_FILE, _new_secret),
    )


def _new_secret() -> str:
    return str(uuid.uuid4())


def _read_or_make(path: Path, new_id: Callable[[], str]) -> str:
    try:
        text = path.read_text().strip()
    except FileNotFoundError:
        text = new_id()
        # Written aside first: a half-written id would make this another node for ever.
        unfinished = path.with_suffix(".new")
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        unfinished.rename(path)
    if len(text) != UUID_CHARS:
        raise IdentityDamaged(path)
    return text
