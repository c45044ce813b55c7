"""Root keys: made, replaced and removed."""

from __future__ import annotations

import asyncio

from yurt.errors import YurtError
from yurt.model.root_key import KEY_ACTIVE, KEY_PREPUBLISHED, RootKeyMeta, meta_of
from yurt.model.wire import Nanoseconds
from yurt.observe.logger import get_logger
from yurt.server.context import ServerContext
from yurt.state.key_uses import is_key_in_use
from yurt.state.secret_entries import DeleteRootKey, UpsertRootKey

logger = get_logger("keyring")


class KeyRefused(YurtError):
    """A key cannot be made or removed as asked."""


class KeyringCommands:
    """What can be asked about root keys."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context

    async def make_usable(self) -> None:
        """Make sure that there is an active key which this server can use.

        A key that it cannot open is kept: with the right wrapping key it becomes readable again.
        """
        active = self._context.state.root_keys.active
        if self._context.keyring.is_usable:
            return
        if active is not None:
            logger.error("root_key.unreadable", key_id=active.key_id, wrapped_by=active.wrapped_by)
        await self.rotate()

    async def rotate(self, *, full: bool = False, publish_time: Nanoseconds = 0) -> tuple[RootKeyMeta, int]:
        """Make a new key, active at once or announced until `publish_time`; returns it with the index.

        With `full`, everything is encrypted anew with it. Raises KeyRefused.
        """
        if full and publish_time:
            raise KeyRefused("keyring cannot be prepublished and full rotated at the same time")
        context = self._context
        now = context.clock.now_ns()
        key = await asyncio.to_thread(
            context.keyring.new_key,
            context.new_id(),
            now=now,
            state=KEY_PREPUBLISHED if publish_time else KEY_ACTIVE,
            publish_time=publish_time,
        )
        committed = await context.committer.propose(UpsertRootKey(at=now, key=key, rekey=full))
        logger.info("root_key.made", key_id=key.key_id, state=key.state, full=full)
        return meta_of(key), committed.index

    async def remove(self, key_id: str, *, force: bool = False) -> int:
        """Forget a key that nothing needs, or with `force` any but the active one; returns the index.

        Raises KeyRefused.
        """
        state = self._context.state
        key = state.root_keys.get(key_id)
        if key is None:
            raise KeyRefused("root key not found")
        if key.state == KEY_ACTIVE:
            raise KeyRefused("active root key cannot be deleted - call rotate first")
        if not force and is_key_in_use(state, key):
            raise KeyRefused("root key in use, cannot delete")
        entry = DeleteRootKey(at=self._context.clock.now_ns(), key_id=key_id)
        index = (await self._context.committer.propose(entry)).index
        logger.info("root_key.removed", key_id=key_id, force=force)
        return index
