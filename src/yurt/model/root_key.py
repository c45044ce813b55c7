"""Root keys: what encrypts variables and signs identities."""

from __future__ import annotations

from yurt.model.wire import Nanoseconds, Wire

KEY_ACTIVE = "active"
KEY_INACTIVE = "inactive"
KEY_REKEYING = "rekeying"
KEY_PREPUBLISHED = "prepublished"

ROOT_KEY_ALGORITHM = "aes256-gcm"


class RootKeyMeta(Wire, frozen=True, kw_only=True):
    """What everybody may know about a root key."""

    key_id: str
    algorithm: str = ROOT_KEY_ALGORITHM
    create_time: Nanoseconds = 0
    create_index: int = 0
    modify_index: int = 0
    state: str = KEY_ACTIVE
    publish_time: Nanoseconds = 0


class RootKey(RootKeyMeta, frozen=True, kw_only=True):
    """A root key as the log and State keep it.

    `wrapped` holds its secrets, encrypted with the servers' wrapping key, which `wrapped_by` names: what
    the log, State and snapshots hold is of no use without that key. `active_index` says when it became
    the active one, `inactive_time` when another took its place.
    """

    wrapped: bytes
    wrapped_by: str
    active_index: int = 0
    inactive_time: Nanoseconds = 0


def meta_of(key: RootKey) -> RootKeyMeta:
    """A root key without its secrets."""
    return RootKeyMeta(**{name: getattr(key, name) for name in RootKeyMeta.__struct_fields__})
