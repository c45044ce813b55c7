"""What still needs a root key."""

from __future__ import annotations

from yurt.model.root_key import RootKey
from yurt.state.state import State


def is_key_in_use(state: State, key: RootKey) -> bool:
    """Whether something is encrypted with the key, or signed with it and still valid.

    Which key signed a task's identity is not kept for each. It was one that was active after the
    allocation was made; so an allocation that is older than the key's end may hold a token of it.
    """
    if any(variable.key_id == key.key_id for variable in state.variables):
        return True
    if key.active_index == 0:
        return False
    return any(
        alloc.create_time < key.inactive_time and not alloc.is_client_terminal for alloc in state.allocs
    )
