"""The agent remembers what it put, across its own death, and survives a damaged file."""

from __future__ import annotations

import os
import sqlite3
import uuid
from pathlib import Path

import pytest

from tests.agent.builders import an_alloc
from yurt.agent.node_identity import IdentityDamaged, load_identity
from yurt.agent.state_db import (
    STATE_FILE,
    AllocRecord,
    StateDb,
    StateUnusable,
    StoredAlloc,
    TaskRecord,
)
from yurt.model.alloc import AllocDeploymentStatus
from yurt.model.task_state import TASK_RUNNING, TaskEvent, TaskState

ALLOC = AllocRecord(alloc=an_alloc(), deployment_status=AllocDeploymentStatus(healthy=True))
TASK = TaskRecord(
    state=TaskState(state=TASK_RUNNING, events=(TaskEvent(type="Started", time=1),)),
    attempt=2,
    handle=b"\x00h",
)
ID = ALLOC.alloc.id


async def test_what_was_put_is_found_by_the_next_agent(tmp_path: Path) -> None:
    db = StateDb(tmp_path)
    db.put_alloc(ALLOC)
    db.put_task(ID, "t", TASK)
    db.put_meta("node_meta", b"m")
    db.close()

    again = StateDb(tmp_path)
    assert again.load() == [StoredAlloc(ALLOC, {"t": TASK})]
    assert again.meta("node_meta") == b"m"
    assert again.meta("other") is None
    again.close()


def as_a_killed_agent_leaves_it(directory: Path) -> Path:
    copy = directory / "copy"
    copy.mkdir()
    for file in directory.glob("state.db*"):
        (copy / file.name).write_bytes(file.read_bytes())
    return copy


async def test_what_was_flushed_survives_without_a_close(tmp_path: Path) -> None:
    db = StateDb(tmp_path)
    db.put_alloc(ALLOC)
    db.flush()

    survivor = StateDb(as_a_killed_agent_leaves_it(tmp_path))
    assert [stored.record for stored in survivor.load()] == [ALLOC]
    survivor.close()
    db.close()


async def test_a_forgotten_alloc_is_gone_with_its_tasks(tmp_path: Path) -> None:
    db = StateDb(tmp_path)
    db.put_alloc(ALLOC)
    db.put_task(ID, "t", TASK)
    db.flush()
    db.put_task(ID, "t", TASK)
    db.forget_alloc(ID)

    assert db.load() == []
    db.close()


async def test_keeping_nothing_needs_no_file() -> None:
    db = StateDb(None)
    db.put_alloc(ALLOC)
    db.put_meta("k", b"v")

    assert db.load() == []
    assert db.meta("k") is None
    db.close()


async def test_a_damaged_file_is_moved_aside(tmp_path: Path) -> None:
    (tmp_path / STATE_FILE).write_bytes(b"not a database" * 100)
    db = StateDb(tmp_path)

    assert db.load() == []
    assert any(name.startswith("state.damaged-") for name in os.listdir(tmp_path))
    db.close()


async def test_an_unreadable_record_costs_only_itself(tmp_path: Path) -> None:
    db = StateDb(tmp_path)
    db.put_alloc(ALLOC)
    db.close()
    with sqlite3.connect(tmp_path / STATE_FILE) as raw:
        raw.execute("INSERT INTO allocs VALUES ('x', X'c1')")
        raw.execute("INSERT INTO tasks VALUES (?, 't', X'c1')", (ID,))
    raw.close()

    again = StateDb(tmp_path)
    assert again.load() == [StoredAlloc(ALLOC, {})]
    again.close()


async def test_a_newer_file_is_refused(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / STATE_FILE) as raw:
        raw.execute("PRAGMA user_version = 99")
    raw.close()

    with pytest.raises(StateUnusable, match="newer version"):
        StateDb(tmp_path)


async def test_two_agents_cannot_share_a_file(tmp_path: Path) -> None:
    first = StateDb(tmp_path)
    with pytest.raises(StateUnusable, match="no other agent"):
        StateDb(tmp_path)
    first.close()


def test_an_identity_is_made_once(tmp_path: Path) -> None:
    directory = tmp_path / "client"
    first = load_identity(directory, lambda: str(uuid.uuid4()))

    assert load_identity(directory, lambda: str(uuid.uuid4())) == first
    assert first.node_id != first.secret_id
    assert (directory / "secret-id").stat().st_mode & 0o777 == 0o600
    assert directory.stat().st_mode & 0o777 == 0o700


def test_an_identity_in_memory_is_new_each_time() -> None:
    assert load_identity(None, lambda: str(uuid.uuid4())) != load_identity(None, lambda: str(uuid.uuid4()))


def test_a_damaged_identity_is_named(tmp_path: Path) -> None:
    (tmp_path / "client-id").write_text("half")

    with pytest.raises(IdentityDamaged, match="client-id"):
        load_identity(tmp_path, lambda: str(uuid.uuid4()))
