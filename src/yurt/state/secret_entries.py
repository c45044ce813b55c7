"""The entries about root keys and identities."""

from __future__ import annotations

from typing import TypeAlias

from yurt.model.root_key import RootKey
from yurt.model.wire import NodeID
from yurt.state.entry_base import EntryBase


class UpsertRootKey(EntryBase, frozen=True, kw_only=True):
    """A root key is new. One that is active takes the place of the active one.

    With `rekey`, what is encrypted with other keys is to be encrypted anew.
    """

    key: RootKey
    rekey: bool = False


class SetRootKeyState(EntryBase, frozen=True, kw_only=True):
    """A root key changes its state; one that becomes active takes the place of the active one."""

    key_id: str
    state: str


class DeleteRootKey(EntryBase, frozen=True, kw_only=True):
    """A root key is forgotten; what is encrypted with it is lost."""

    key_id: str


class SetNodeIdentityKey(EntryBase, frozen=True, kw_only=True):
    """A node's identity is signed with another key."""

    node_id: NodeID
    key_id: str


SecretEntry: TypeAlias = UpsertRootKey | SetRootKeyState | DeleteRootKey | SetNodeIdentityKey
"""What becomes of keys, and of what they protect."""
