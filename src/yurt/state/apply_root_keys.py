"""Applying changes of root keys."""

from __future__ import annotations

from msgspec.structs import replace

from yurt.model.root_key import KEY_ACTIVE, KEY_INACTIVE, KEY_REKEYING, RootKey
from yurt.state.secret_entries import DeleteRootKey, SetNodeIdentityKey, SetRootKeyState, UpsertRootKey
from yurt.state.state import State


def upsert_root_key(state: State, index: int, entry: UpsertRootKey) -> None:
    """Store a new key; with `rekey`, all others are to be replaced."""
    if entry.rekey:
        for other in state.root_keys.rows():
            if other.state in (KEY_ACTIVE, KEY_INACTIVE):
                _put(state, index, _retired(other, KEY_REKEYING, entry.at))
    key = replace(entry.key, create_index=index)
    _set_state(state, index, key, entry.key.state, entry.at)


def set_root_key_state(state: State, index: int, entry: SetRootKeyState) -> bool:
    """Change a key's state; False when there is no such key."""
    key = state.root_keys.get(entry.key_id)
    if key is None:
        return False
    _set_state(state, index, key, entry.state, entry.at)
    return True


def delete_root_key(state: State, index: int, entry: DeleteRootKey) -> bool:
    """Forget a key; False when there is no such key."""
    return state.root_keys.delete(entry.key_id, index) is not None


def set_node_identity_key(state: State, index: int, entry: SetNodeIdentityKey) -> None:
    """Store which key a node's identity is signed with."""
    node = state.nodes.get(entry.node_id)
    if node is not None:
        fresh = replace(node, identity_signing_key_id=entry.key_id, modify_index=index)
        state.nodes.put(node.id, fresh, index)


def _set_state(state: State, index: int, key: RootKey, wanted: str, at: int) -> None:
    if wanted != KEY_ACTIVE:
        _put(state, index, _retired(key, wanted, at))
        return
    for other in state.root_keys.rows():
        if other.state == KEY_ACTIVE and other.key_id != key.key_id:
            _put(state, index, _retired(other, KEY_INACTIVE, at))
    _put(state, index, replace(key, state=KEY_ACTIVE, active_index=index, inactive_time=0))


def _retired(key: RootKey, wanted: str, at: int) -> RootKey:
    was_active = key.state == KEY_ACTIVE and key.active_index > 0
    return replace(key, state=wanted, inactive_time=at if was_active else key.inactive_time)


def _put(state: State, index: int, key: RootKey) -> None:
    state.root_keys.put(key.key_id, replace(key, modify_index=index), index)
