"""The entries about root keys, identities and variables."""

from __future__ import annotations

from typing import TypeAlias

from yurt.model.root_key import RootKey
from yurt.model.variable import Variable
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


class PutVariable(EntryBase, frozen=True, kw_only=True):
    """A variable is new or replaced.

    Nothing happens if it has a lock other than `lock_id`; nor, with `check_index`, unless the stored one is
    of that index, 0 for none.
    """

    variable: Variable
    lock_id: str = ""
    check_index: int | None = None
    # How many encrypted bytes the quota of the namespace allows; None is any number.
    bytes_max: int | None = None


class DeleteVariable(EntryBase, frozen=True, kw_only=True):
    """A variable is forgotten, under the conditions of PutVariable."""

    namespace: str
    path: str
    lock_id: str = ""
    check_index: int | None = None


class LockVariable(EntryBase, frozen=True, kw_only=True):
    """A variable is locked, and made if need be. Nothing happens if it has a lock already.

    `variable` carries the new lock. With `keeps_items`, an existing variable keeps its items.
    """

    variable: Variable
    keeps_items: bool = False
    bytes_max: int | None = None


class UnlockVariable(EntryBase, frozen=True, kw_only=True):
    """A variable loses the lock `lock_id`, if that is the one it has."""

    namespace: str
    path: str
    lock_id: str


class RekeyVariables(EntryBase, frozen=True, kw_only=True):
    """The same items, encrypted with another key. One that changed meanwhile is left alone."""

    variables: tuple[Variable, ...]


VariableEntry: TypeAlias = PutVariable | DeleteVariable | LockVariable | UnlockVariable | RekeyVariables
"""What becomes of variables."""

SecretEntry: TypeAlias = UpsertRootKey | SetRootKeyState | DeleteRootKey | SetNodeIdentityKey | VariableEntry
"""What becomes of keys, and of what they protect."""
