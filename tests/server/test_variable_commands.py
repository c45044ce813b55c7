"""Variables: encrypted wherever they are written down, changed under conditions, locked for a while."""

from __future__ import annotations

from random import Random

import msgspec
import pytest

from tests.server.running import running
from tests.server.virtual_time import VirtualClock, run_virtual
from yurt.log import MemoryLog
from yurt.model.root_key import KEY_INACTIVE
from yurt.model.times import HOUR_NS, SECOND_NS
from yurt.model.variable import VariableKey
from yurt.server.commands.variables import RenewRefused, VariableCommands, VariableRefused
from yurt.server.keyring import DataDamaged, KeyMissing
from yurt.server.server import Server
from yurt.server.settings import ServerSettings
from yurt.server.watchers.root_keys import KeyAges, due_prepublication, key_steps
from yurt.state.entries import decode_entry
from yurt.state.secret_entries import PutVariable
from yurt.state.snapshot import dump, load
from yurt.state.state import State

KEY = VariableKey("default", "app/db")
SECRET = "hunter2-is-the-password"
DAY_NS = 24 * HOUR_NS
AGES = KeyAges(rotation=30 * DAY_NS, gc=HOUR_NS)
LOCK = {"ttl": 10 * SECOND_NS, "delay": 3 * SECOND_NS}


class Cluster:
    """A server in virtual time, with a key."""

    def __init__(self) -> None:
        self.log = MemoryLog()
        self.server = Server(ServerSettings(name="test"), self.log, State(), VirtualClock(), Random(1))
        self.variables = VariableCommands(self.server.context)

    async def begin(self) -> Cluster:
        await self.server.keyring.rotate()
        return self


async def test_items_come_back_and_nothing_else_holds_them() -> None:
    cluster = await Cluster().begin()
    state = cluster.server.state
    written: list[bytes] = []
    append = cluster.log.append

    def spy(entries: list[bytes], *more: object) -> object:
        written.extend(entries)
        return append(entries, *more)  # type: ignore[arg-type]

    cluster.log.append = spy  # type: ignore[method-assign, assignment]
    outcome = await cluster.variables.put(KEY, {"password": SECRET})
    assert outcome.variable is not None
    assert cluster.variables.items_of(outcome.variable) == {"password": SECRET}
    (entry,) = written
    assert isinstance(decode_entry(entry), PutVariable)
    everything = entry + b"".join(dump(state)) + msgspec.json.encode(state.variables.rows())
    assert SECRET.encode() not in everything
    assert b"password" not in everything
    restored = load(dump(state))
    assert restored.variables.rows() == state.variables.rows()
    assert restored.variables.bytes_of("default") == len(outcome.variable.data)


async def test_what_was_encrypted_for_one_path_cannot_be_read_at_another() -> None:
    cluster = await Cluster().begin()
    outcome = await cluster.variables.put(KEY, {"password": SECRET})
    assert outcome.variable is not None
    moved = msgspec.structs.replace(outcome.variable, path="public/db")
    with pytest.raises(DataDamaged):
        cluster.variables.items_of(moved)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("", "invalid path"),
        ("a b", "invalid path"),
        ("a\n", "invalid path"),
        ("../x", "invalid path"),
        ("nomad", "reserved top-level"),
        ("nomad/other", "only paths at"),
        ("nomad/job-templates/", "at the level below it"),
    ],
)
async def test_bad_paths_are_refused(path: str, text: str) -> None:
    cluster = await Cluster().begin()
    with pytest.raises(VariableRefused, match=text):
        await cluster.variables.put(VariableKey("default", path), {"a": "b"})
    assert len(cluster.server.state.variables) == 0


async def test_sizes_are_counted_in_bytes() -> None:
    cluster = await Cluster().begin()
    await cluster.variables.put(KEY, {"k": "é" * 32767})
    with pytest.raises(VariableRefused, match="64KiB"):
        await cluster.variables.put(KEY, {"k": "é" * 32768})


async def test_check_and_set() -> None:
    cluster = await Cluster().begin()
    put, delete = cluster.variables.put, cluster.variables.delete
    first = await put(KEY, {"a": "1"}, check_index=0)
    assert first.is_done
    assert first.variable is not None
    again = await put(KEY, {"a": "2"}, check_index=0)
    assert (again.is_done, again.variable) == (False, first.variable)
    assert (await put(KEY, {"a": "2"}, check_index=first.variable.modify_index)).is_done
    assert not (await delete(KEY, check_index=first.variable.modify_index)).is_done
    assert (await delete(KEY)).is_done
    assert (await delete(KEY, check_index=0)).is_done
    assert not (await delete(KEY, check_index=5)).is_done


async def test_only_the_holder_of_a_lock_may_change_the_variable() -> None:
    cluster = await Cluster().begin()
    variables = cluster.variables
    await variables.put(KEY, {"a": "1"})
    locked = (await variables.acquire(KEY, None, **LOCK)).variable
    assert locked is not None
    assert locked.lock is not None
    assert variables.items_of(locked) == {"a": "1"}
    for refused in (
        await variables.put(KEY, {"a": "2"}),
        await variables.delete(KEY),
        await variables.acquire(KEY, {"a": "2"}, **LOCK),
        await variables.release(KEY, "another"),
    ):
        assert (refused.is_done, refused.is_locked) == (False, True)
    assert (await variables.put(KEY, {"a": "2"}, lock_id=locked.lock.id)).is_done
    assert variables.renew(KEY, locked.lock.id).lock == locked.lock
    with pytest.raises(RenewRefused, match="attempting to modify locked variable"):
        variables.renew(KEY, "another")
    assert (await variables.release(KEY, locked.lock.id)).is_done
    with pytest.raises(RenewRefused, match="doesn't hold a lock"):
        variables.renew(KEY, locked.lock.id)
    assert (await variables.put(KEY, {"a": "3"})).is_done


def test_a_lock_that_nobody_renews_ends_after_twice_its_ttl_and_its_delay() -> None:
    async def story() -> None:
        cluster = await Cluster().begin()
        clock, state = cluster.server.clock, cluster.server.state
        async with running(cluster.server):
            locked = (await cluster.variables.acquire(KEY, {"a": "1"}, **LOCK)).variable
            assert locked is not None
            assert locked.lock is not None
            await clock.sleep(20)
            cluster.variables.renew(KEY, locked.lock.id)
            await clock.sleep(22)
            assert state.variables[KEY].lock is not None
            await clock.sleep(2)
            assert state.variables[KEY].lock is None
            assert (await cluster.variables.acquire(KEY, None, **LOCK)).is_done

    run_virtual(story())


def test_a_full_rotation_encrypts_everything_anew_and_nobody_sees_it() -> None:
    async def story() -> None:
        cluster = await Cluster().begin()
        state = cluster.server.state
        old = state.root_keys.active
        assert old is not None
        async with running(cluster.server):
            for number in range(250):
                await cluster.variables.put(VariableKey("default", f"app/{number}"), {"n": str(number)})
            before = {one.path: one.modify_index for one in state.variables}
            await cluster.server.keyring.rotate(full=True)
            await cluster.server.clock.sleep(5)
            assert {one.path: one.modify_index for one in state.variables} == before
            assert {one.key_id for one in state.variables} == {_active(state)}
            assert state.root_keys[old.key_id].state == KEY_INACTIVE
            await cluster.server.keyring.remove(old.key_id)
            assert cluster.variables.items_of(state.variables[VariableKey("default", "app/7")]) == {"n": "7"}

    run_virtual(story())


async def test_keys_are_replaced_in_time_and_forgotten_when_nothing_needs_them() -> None:
    cluster = await Cluster().begin()
    state, committer = cluster.server.state, cluster.server.committer
    born = state.root_keys[_active(state)].create_time
    first = _active(state)
    kept = (await cluster.variables.put(KEY, {"a": "1"})).variable
    assert kept is not None

    assert due_prepublication(state, AGES, now=born + 14 * DAY_NS) is None
    publish_time = due_prepublication(state, AGES, now=born + 15 * DAY_NS)
    assert publish_time == born + 30 * DAY_NS
    second, _ = await cluster.server.keyring.rotate(publish_time=publish_time)
    assert due_prepublication(state, AGES, now=publish_time) is None, "one is announced already"
    assert key_steps(state, AGES, now=publish_time - 1) == []
    await committer.propose(*key_steps(state, AGES, now=publish_time))
    assert _active(state) == second.key_id

    late = born + 31 * DAY_NS
    assert key_steps(state, AGES, now=late) == [], "a variable needs the first one"
    await cluster.variables.put(KEY, {"a": "2"})
    assert key_steps(state, AGES, now=born + 30 * DAY_NS) == [], "too soon"
    await committer.propose(*key_steps(state, AGES, now=late))
    assert first not in state.root_keys
    with pytest.raises(KeyMissing):
        cluster.variables.items_of(kept)


def _active(state: State) -> str:
    key = state.root_keys.active
    assert key is not None
    return key.key_id
