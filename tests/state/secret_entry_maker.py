"""Random but valid entries about keys, and about what they protect."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from yurt.model.root_key import KEY_ACTIVE, KEY_INACTIVE, KEY_PREPUBLISHED, RootKey
from yurt.model.variable import Variable, VariableLock
from yurt.state import secret_entries as entries

if TYPE_CHECKING:
    from tests.state.entry_maker import EntryMaker

_T = TypeVar("_T")


class SecretEntries:
    """Makes entries that fit a cluster's State, with the choices of its owner."""

    def __init__(self, owner: EntryMaker) -> None:
        self._owner = owner

    @property
    def makers(self) -> tuple[Callable[[], entries.SecretEntry], ...]:
        """A function for each kind of entry."""
        return (
            self.upsert_root_key,
            self.set_root_key_state,
            self.delete_root_key,
            self.set_node_identity_key,
            self.put_variable,
            self.put_variable,
            self.delete_variable,
            self.lock_variable,
            self.unlock_variable,
            self.rekey_variables,
        )

    def upsert_root_key(self) -> entries.UpsertRootKey:
        key = RootKey(
            key_id=self._owner.new_id("key"),
            state=self._pick((KEY_ACTIVE, KEY_PREPUBLISHED)),
            create_time=self._now,
            wrapped=b"wrapped",
            wrapped_by="somebody",
        )
        rekey = key.state == KEY_ACTIVE and self._pick((True, False))
        return entries.UpsertRootKey(at=self._now, key=key, rekey=rekey)

    def set_root_key_state(self) -> entries.SetRootKeyState:
        state = self._pick((KEY_ACTIVE, KEY_INACTIVE))
        return entries.SetRootKeyState(at=self._now, key_id=self._some_key(), state=state)

    def delete_root_key(self) -> entries.DeleteRootKey:
        return entries.DeleteRootKey(at=self._now, key_id=self._some_key())

    def set_node_identity_key(self) -> entries.SetNodeIdentityKey:
        return entries.SetNodeIdentityKey(
            at=self._now, node_id=self._owner.some_node_id(), key_id=self._some_key()
        )

    def put_variable(self) -> entries.PutVariable:
        variable, stored = self._variable()
        return entries.PutVariable(
            at=self._now,
            variable=variable,
            lock_id=self._pick(("", self._lock_id(stored))),
            check_index=self._pick((None, None, stored.modify_index if stored else 0, 10**6)),
        )

    def delete_variable(self) -> entries.DeleteVariable:
        variable, stored = self._variable()
        return entries.DeleteVariable(
            at=self._now,
            namespace=variable.namespace,
            path=variable.path,
            lock_id=self._lock_id(stored),
            check_index=self._pick((None, 0)),
        )

    def lock_variable(self) -> entries.LockVariable:
        variable, _ = self._variable()
        lock = VariableLock(id=self._owner.new_id("lock"), ttl=1, lock_delay=2)
        keeps_items = self._pick((True, False))
        return entries.LockVariable(
            at=self._now, variable=replace(variable, lock=lock), keeps_items=keeps_items
        )

    def unlock_variable(self) -> entries.UnlockVariable:
        variable, stored = self._variable()
        lock_id = self._pick((self._lock_id(stored), "another"))
        return entries.UnlockVariable(
            at=self._now, namespace=variable.namespace, path=variable.path, lock_id=lock_id
        )

    def rekey_variables(self) -> entries.RekeyVariables:
        chosen = self._owner.choices.some(self._owner.cluster.state.variables.rows())
        anew = tuple(replace(one, key_id="another", data=one.data + b"!") for one in chosen)
        return entries.RekeyVariables(at=self._now, variables=anew)

    def _variable(self) -> tuple[Variable, Variable | None]:
        """A variable to be written, and what is stored in its place."""
        made = Variable(
            namespace=self._pick(("default", "team-a")),
            path=self._pick(("app/db", "nomad/jobs/web")),
            key_id=self._some_key(),
            data=self._pick((b"one", b"another")),
        )
        return made, self._owner.cluster.state.variables.get(made.key)

    def _lock_id(self, stored: Variable | None) -> str:
        return stored.lock.id if stored is not None and stored.lock is not None else ""

    def _some_key(self) -> str:
        return self._pick(("unknown", *(key.key_id for key in self._owner.cluster.state.root_keys)))

    def _pick(self, options: tuple[_T, ...]) -> _T:
        return self._owner.choices.pick(options)

    @property
    def _now(self) -> int:
        return self._owner.cluster.now
