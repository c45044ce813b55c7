"""The table of root keys."""

from __future__ import annotations

from yurt.model.root_key import KEY_ACTIVE, RootKey
from yurt.state.table import Table
from yurt.state.watches import Watches


class RootKeys(Table[str, RootKey]):
    """Root keys by id; at most one is active."""

    def __init__(self, watches: Watches) -> None:
        super().__init__("root-keys", watches)

    @property
    def active(self) -> RootKey | None:
        """The key that is used for everything new."""
        return next((key for key in self if key.state == KEY_ACTIVE), None)

    def active_at(self, index: int) -> RootKey | None:
        """The key that was active as of `index`; for what is older than all keys, the first."""
        keys = sorted((key for key in self if key.active_index), key=lambda key: key.active_index)
        return next((key for key in reversed(keys) if key.active_index <= index), keys[0] if keys else None)
