"""A node's metadata: what the configuration says, and what people changed while the agent ran."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from yurt.agent.state_db import StateDb
from yurt.errors import YurtError

_DB_KEY = "node_meta"
_KEY = re.compile(r"[A-Za-z_][\w-]*(\.[A-Za-z_][\w-]*)*")


class BadMetaKey(YurtError):
    """A name that constraints could not refer to."""

    def __init__(self, key: str) -> None:
        super().__init__(
            f"metadata key {key!r} is invalid: use dot-separated identifiers of letters, digits, _ and -"
        )
        self.key = key


class NodeMeta(msgspec.Struct, frozen=True):
    """`dynamic` wins over `static`; a None in it hides the key of that name."""

    static: dict[str, str]
    dynamic: dict[str, str | None] = {}

    @property
    def merged(self) -> dict[str, str]:
        """What the node's metadata amounts to."""
        both = {**self.static, **self.dynamic}
        return {key: value for key, value in both.items() if value is not None}

    def changed(self, changes: Mapping[str, str | None]) -> NodeMeta:
        """Apply changes; None hides or forgets a key. Raises BadMetaKey, and then changes nothing."""
        for key in changes:
            if not _KEY.fullmatch(key):
                raise BadMetaKey(key)
        dynamic = {**self.dynamic, **changes}
        # A key that is neither set nor hides anything need not be remembered.
        kept = {key: value for key, value in dynamic.items() if value is not None or key in self.static}
        return NodeMeta(self.static, kept)


def load_meta(db: StateDb, static: dict[str, str]) -> NodeMeta:
    """The metadata with what an earlier agent was told."""
    stored = db.meta(_DB_KEY)
    dynamic = msgspec.msgpack.decode(stored, type=dict[str, str | None]) if stored else {}
    return NodeMeta(static, dynamic)


def store_meta(db: StateDb, meta: NodeMeta) -> None:
    """Remember what people changed."""
    db.put_meta(_DB_KEY, msgspec.msgpack.encode(meta.dynamic))
