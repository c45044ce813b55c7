"""State as chunks: what is shared stays shared, and what is damaged is refused."""

from __future__ import annotations

import msgspec
import pytest

from tests.state.acl_history import acl_history, an_id
from tests.state.builders import Cluster, a_job, a_node, an_eval, key, node_id
from tests.state.comparing import assert_same_state
from tests.state.simple_history import simple_history
from yurt.model.wire import AllocID
from yurt.state.acl import secret_key
from yurt.state.entries import DeregisterNodes
from yurt.state.snapshot import (
    ROWS_PER_CHUNK,
    SNAPSHOT_FORMAT,
    SnapshotHead,
    SnapshotUnreadable,
    dump,
    load,
    row_counts,
)
from yurt.state.state import State


def _some_state() -> Cluster:
    cluster = Cluster()
    node = cluster.add_node()
    job = cluster.add_job(None, an_eval("e1"))
    cluster.place(job, "a1", "a2", node=node)
    cluster.add_job(a_job(priority=80))
    return cluster


def test_an_empty_state_survives() -> None:
    assert_same_state(State(), load(dump(State())))


def test_allocations_share_what_they_shared() -> None:
    state = load(dump(_some_state().state))
    first, second = state.allocs.of_job(key())
    assert first.job is second.job
    assert first.resources is second.resources
    assert first.job.version == 0
    assert state.jobs[key()] is state.jobs.versions[key()][0]


def test_a_dump_shows_the_state_as_it_was_when_it_was_asked_for() -> None:
    cluster = _some_state()
    chunks = dump(cluster.state)
    cluster.add_node(a_node(2))
    cluster.report("a1", "complete")
    loaded = load(chunks)
    assert loaded.index == 4
    assert node_id(2) not in loaded.nodes
    assert loaded.allocs[AllocID("a1")].client_status == "pending"


def test_many_rows_take_many_chunks() -> None:
    cluster = Cluster()
    node = cluster.add_node()
    job = cluster.add_job()
    cluster.place(job, *(f"a{number}" for number in range(ROWS_PER_CHUNK + 1)), node=node)
    chunks = list(dump(cluster.state))
    assert sum(chunk.startswith(b"\xa6allocs") for chunk in chunks) == 2
    assert_same_state(cluster.state, load(chunks))


def test_who_may_do_what_is_saved_and_restored() -> None:
    state = acl_history().state
    restored = load(dump(state))
    assert_same_state(state, restored)
    assert restored.acl.bootstrap_index == state.acl.bootstrap_index == 1
    assert restored.acl.tokens.with_secret(secret_key(an_id(30))) == state.acl.tokens[an_id(20)]
    assert restored.acl.tokens.with_secret(secret_key(an_id(31))) is None
    assert restored.acl.roles.named("role-0") == state.acl.roles[an_id(10)]


def test_templates_and_deliveries_are_saved_and_restored() -> None:
    state = simple_history().state
    restored = load(dump(state))
    assert_same_state(state, restored)
    (node,) = restored.nodes
    assert [delivery.alloc_id for delivery in restored.deliveries.of_node(node.id)] == ["a1", "a2"]


def test_deliveries_go_with_their_node() -> None:
    cluster = simple_history()
    (node,) = cluster.state.nodes
    cluster.apply(DeregisterNodes(at=cluster.now, node_ids=(node.id,)))
    assert list(cluster.state.deliveries) == []


def test_loading_leaves_no_news() -> None:
    news = load(dump(_some_state().state)).take_news()
    assert [news.evals, news.ready_nodes, news.freed_nodes] == [[], [], {}]


def test_a_newer_format_is_refused() -> None:
    head = SnapshotHead(format=SNAPSHOT_FORMAT + 1, index=1, table_indexes={})
    with pytest.raises(SnapshotUnreadable, match="newer Yurt"):
        load([msgspec.msgpack.encode(head)])


@pytest.mark.parametrize(
    "damage", ["nothing", "no head", "cut", "unknown section", "empty", "missing shared"]
)
def test_damaged_content_is_refused(damage: str) -> None:
    chunks = list(dump(_some_state().state))
    match damage:
        case "nothing":
            chunks = []
        case "no head":
            del chunks[0]
        case "cut":
            chunks[-1] = chunks[-1][:-3]
        case "unknown section":
            chunks[1] = msgspec.msgpack.encode("surprise") + msgspec.msgpack.encode([])
        case "empty":
            chunks[1] = b""
        case "missing shared":
            chunks = [chunk for chunk in chunks if not chunk.startswith(b"\xabshared-jobs")]
    with pytest.raises(SnapshotUnreadable, match="damaged"):
        load(chunks)


def test_rows_are_counted() -> None:
    counts = row_counts(_some_state().state)
    assert counts["allocs"] == 2
    assert (counts["jobs"], counts["nodes"], counts["evals"]) == (1, 1, 1)
