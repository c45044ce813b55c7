"""Applying changes of variables."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from yurt.model.variable import Variable, VariableKey
from yurt.state.secret_entries import (
    DeleteVariable,
    LockVariable,
    PutVariable,
    RekeyVariables,
    UnlockVariable,
)
from yurt.state.state import State


class VariableOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a change. One that was not done has a conflict with `variable`, None if there is none.

    `is_locked` says that the conflict is a lock of somebody else.
    """

    is_done: bool
    variable: Variable | None = None
    is_locked: bool = False
    is_over_quota: bool = False


def put_variable(state: State, index: int, entry: PutVariable) -> VariableOutcome:
    """Store a variable; its lock and its beginning stay."""
    key = entry.variable.key
    old = state.variables.get(key)
    conflict = _conflict(old, entry.lock_id, entry.check_index)
    if conflict is not None:
        return conflict
    if _is_over_quota(state, entry.variable, entry.bytes_max):
        return VariableOutcome(is_done=False, variable=old, is_over_quota=True)
    return _stored(
        state, index, replace(entry.variable, lock=old.lock if old is not None else None), entry.at
    )


def delete_variable(state: State, index: int, entry: DeleteVariable) -> VariableOutcome:
    """Forget a variable; one that is not there is forgotten already."""
    key = VariableKey(entry.namespace, entry.path)
    old = state.variables.get(key)
    conflict = _conflict(old, entry.lock_id, entry.check_index)
    if conflict is not None:
        return conflict
    state.variables.delete(key, index)
    return VariableOutcome(is_done=True, variable=old)


def lock_variable(state: State, index: int, entry: LockVariable) -> VariableOutcome:
    """Lock a variable that is not locked, making it if need be."""
    variable = entry.variable
    old = state.variables.get(variable.key)
    if old is not None:
        if old.lock is not None:
            return VariableOutcome(is_done=False, variable=old, is_locked=True)
        if entry.keeps_items:
            variable = replace(variable, data=old.data, key_id=old.key_id)
    if _is_over_quota(state, variable, entry.bytes_max):
        return VariableOutcome(is_done=False, variable=old, is_over_quota=True)
    return _stored(state, index, variable, entry.at)


def unlock_variable(state: State, index: int, entry: UnlockVariable) -> VariableOutcome:
    """Take a lock away. Its end is no change of the items, so their time stays."""
    key = VariableKey(entry.namespace, entry.path)
    old = state.variables.get(key)
    if old is None or old.lock is None or old.lock.id != entry.lock_id:
        return VariableOutcome(
            is_done=False, variable=old, is_locked=old is not None and old.lock is not None
        )
    fresh = replace(old, lock=None, modify_index=index)
    state.variables.put(key, fresh, index)
    return VariableOutcome(is_done=True, variable=fresh)


def rekey_variables(state: State, index: int, entry: RekeyVariables) -> None:
    """Store the same items under another key: nothing that anybody could see changes."""
    for variable in entry.variables:
        old = state.variables.get(variable.key)
        if old is not None and old.modify_index == variable.modify_index:
            fresh = replace(old, key_id=variable.key_id, data=variable.data)
            state.variables.put(variable.key, fresh, index)


def _is_over_quota(state: State, variable: Variable, bytes_max: int | None) -> bool:
    """Whether a variable that grows takes its namespaces beyond what their quota lets them store."""
    if bytes_max is None:
        return False
    uses = state.quota_uses
    old = state.variables.get(variable.key)
    more = len(variable.data) - (len(old.data) if old is not None else 0)
    names = uses.namespaces_of(uses.quota_of(variable.namespace))
    return more > 0 and sum(state.variables.bytes_of(name) for name in names) + more > bytes_max


def _conflict(old: Variable | None, lock_id: str, check_index: int | None) -> VariableOutcome | None:
    if old is not None and old.lock is not None and old.lock.id != lock_id:
        return VariableOutcome(is_done=False, variable=old, is_locked=True)
    current = old.modify_index if old is not None else 0
    if check_index is not None and check_index != current:
        return VariableOutcome(is_done=False, variable=old)
    return None


def _stored(state: State, index: int, variable: Variable, at: int) -> VariableOutcome:
    old = state.variables.get(variable.key)
    fresh = replace(
        variable,
        create_index=old.create_index if old is not None else index,
        create_time=old.create_time if old is not None else at,
        modify_index=index,
        modify_time=at,
    )
    state.variables.put(variable.key, fresh, index)
    return VariableOutcome(is_done=True, variable=fresh)
