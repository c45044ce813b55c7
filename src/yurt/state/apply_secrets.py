"""Applying what becomes of keys, and of what they protect."""

from __future__ import annotations

from typing import assert_never

from yurt.state import secret_entries as entries
from yurt.state.apply_root_keys import (
    delete_root_key,
    set_node_identity_key,
    set_root_key_state,
    upsert_root_key,
)
from yurt.state.apply_variables import (
    VariableOutcome,
    delete_variable,
    lock_variable,
    put_variable,
    rekey_variables,
    unlock_variable,
)
from yurt.state.state import State


def apply_secret_entry(state: State, index: int, entry: entries.SecretEntry) -> VariableOutcome | bool | None:
    """Apply one such entry; see `yurt.state.apply`."""
    outcome: VariableOutcome | bool | None = None
    match entry:
        case entries.UpsertRootKey():
            upsert_root_key(state, index, entry)
        case entries.SetRootKeyState():
            outcome = set_root_key_state(state, index, entry)
        case entries.DeleteRootKey():
            outcome = delete_root_key(state, index, entry)
        case entries.SetNodeIdentityKey():
            set_node_identity_key(state, index, entry)
        case entries.PutVariable():
            outcome = put_variable(state, index, entry)
        case entries.DeleteVariable():
            outcome = delete_variable(state, index, entry)
        case entries.LockVariable():
            outcome = lock_variable(state, index, entry)
        case entries.UnlockVariable():
            outcome = unlock_variable(state, index, entry)
        case entries.RekeyVariables():
            rekey_variables(state, index, entry)
        case _:
            assert_never(entry)
    return outcome
