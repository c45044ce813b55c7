"""Random but valid entries about keys, and about what they protect."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from yurt.model.root_key import KEY_ACTIVE, KEY_INACTIVE, KEY_PREPUBLISHED, RootKey
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

    def _some_key(self) -> str:
        return self._pick(("unknown", *(key.key_id for key in self._owner.cluster.state.root_keys)))

    def _pick(self, options: tuple[_T, ...]) -> _T:
        return self._owner.choices.pick(options)

    @property
    def _now(self) -> int:
        return self._owner.cluster.now
