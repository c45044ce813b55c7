"""Root keys grow old: they are replaced in time, and forgotten once nothing needs them."""

from __future__ import annotations

import msgspec

from yurt.errors import YurtError
from yurt.model.root_key import KEY_ACTIVE, KEY_INACTIVE, KEY_PREPUBLISHED, KEY_REKEYING, RootKey
from yurt.model.wire import Nanoseconds
from yurt.observe.logger import get_logger
from yurt.server.commands.keyring import KeyringCommands
from yurt.server.commands.variables import encrypted_anew
from yurt.server.context import ServerContext
from yurt.server.watchers.pacing import Pacer
from yurt.state.entries import Entry
from yurt.state.key_uses import is_key_in_use
from yurt.state.secret_entries import DeleteRootKey, RekeyVariables, SetRootKeyState
from yurt.state.state import State

BATCH_S = 0.05
# Encrypting one takes some microseconds; this many hold nobody up.
REKEYED_PER_ENTRY_MAX = 100

logger = get_logger("keyring")


class KeyAges(msgspec.Struct, frozen=True, kw_only=True):
    """How old keys get: when the active one is replaced, and how long unused ones are kept besides."""

    rotation: Nanoseconds
    gc: Nanoseconds


async def watch_root_keys(context: ServerContext, ages: KeyAges, *, interval_s: float) -> None:
    """Replace, activate and forget keys when it is time, on the leader, until cancelled."""
    commands = KeyringCommands(context)
    async with Pacer(context, ["root-keys"], batch_s=BATCH_S) as pacer:
        while True:
            await pacer.wait(interval_s)
            now = context.clock.now_ns()
            publish_time = due_prepublication(context.state, ages, now=now)
            try:
                if publish_time is not None:
                    await commands.rotate(publish_time=publish_time)
                while (entry := _rekeyed(context)) is not None:
                    await context.committer.propose(entry)
            except YurtError as error:
                logger.error("root_keys.not_kept", error=str(error))
            await pacer.propose_each(key_steps(context.state, ages, now=now))


def due_prepublication(state: State, ages: KeyAges, *, now: Nanoseconds) -> Nanoseconds | None:
    """When a key that is to be announced now will become active; None when none is due.

    The next key is announced at half of the active one's life, so that whoever keeps our public keys for
    a while knows it in time.
    """
    active = state.root_keys.active
    if active is None or any(key.state == KEY_PREPUBLISHED for key in state.root_keys):
        return None
    born = _born(active)
    return max(born + ages.rotation, now) if now >= born + ages.rotation // 2 else None


def key_steps(state: State, ages: KeyAges, *, now: Nanoseconds) -> list[Entry]:
    """What is to be done with keys now: announced ones become active, unused ones are forgotten."""
    steps: list[Entry] = []
    for key in state.root_keys:
        if key.state == KEY_PREPUBLISHED and key.publish_time <= now:
            steps.append(SetRootKeyState(at=now, key_id=key.key_id, state=KEY_ACTIVE))
        elif key.state == KEY_REKEYING and not any(one.key_id == key.key_id for one in state.variables):
            steps.append(SetRootKeyState(at=now, key_id=key.key_id, state=KEY_INACTIVE))
        elif (
            key.state == KEY_INACTIVE
            and now - _born(key) > ages.rotation + ages.gc
            and not is_key_in_use(state, key)
        ):
            steps.append(DeleteRootKey(at=now, key_id=key.key_id))
    return steps


def _born(key: RootKey) -> Nanoseconds:
    return max(key.create_time, key.publish_time)


def _rekeyed(context: ServerContext) -> RekeyVariables | None:
    """The next variables that are to be encrypted anew. Raises what the keyring raises."""
    old = {key.key_id for key in context.state.root_keys if key.state == KEY_REKEYING}
    if not old:
        return None
    due = [one for one in context.state.variables if one.key_id in old][:REKEYED_PER_ENTRY_MAX]
    if not due:
        return None
    anew = tuple(encrypted_anew(context, variable) for variable in due)
    return RekeyVariables(at=context.clock.now_ns(), variables=anew)
