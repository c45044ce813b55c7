"""The audit log's file: order, rotation, what happens when it cannot be written."""

from __future__ import annotations

import asyncio
import json
import stat
from pathlib import Path
from typing import Any

import pytest

from yurt.observe.audit import (
    COMPLETE,
    RECEIVED,
    AuditLog,
    AuditRequest,
    AuditResponse,
    Auth,
    Filter,
    NamespaceRef,
    NodeMeta,
    Payload,
    RequestMeta,
)
from yurt.observe.audit_file import AuditFile, AuditWriter


def payload(
    stage: str = RECEIVED, operation: str = "GET", endpoint: str = "/v1/jobs", agent: str = ""
) -> Payload:
    return Payload(
        id="e1",
        stage=stage,
        type="audit",
        timestamp="2026-01-02T03:04:05Z",
        version=1,
        auth=Auth(accessor_id="a1", name="ops", method="token"),
        request=AuditRequest(
            id="r1",
            operation=operation,
            endpoint=endpoint,
            namespace=NamespaceRef("default"),
            request_meta=RequestMeta(remote_address="10.0.0.9:555", user_agent=agent),
            node_meta=NodeMeta("10.0.0.1:4646"),
        ),
        response=AuditResponse(status_code=200) if stage == COMPLETE else None,
    )


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


async def test_an_event_is_one_line_with_who_what_where_and_outcome(tmp_path: Path) -> None:
    path = tmp_path / "audit" / "audit.log"
    log = AuditLog(AuditFile(path=path), is_enforced=True)
    assert await log.record(payload())
    assert await log.record(payload(COMPLETE, agent="evil\r\n{}"))
    await log.close()
    received, complete = lines(path)
    assert received == {
        "created_at": "2026-01-02T03:04:05Z",
        "event_type": "audit",
        "payload": {
            "id": "e1",
            "stage": "OperationReceived",
            "type": "audit",
            "timestamp": "2026-01-02T03:04:05Z",
            "version": 1,
            "auth": {"accessor_id": "a1", "name": "ops", "method": "token"},
            "request": {
                "id": "r1",
                "operation": "GET",
                "endpoint": "/v1/jobs",
                "namespace": {"id": "default"},
                "request_meta": {"remote_address": "10.0.0.9:555", "user_agent": ""},
                "node_meta": {"ip": "10.0.0.1:4646"},
            },
        },
    }
    assert complete["payload"]["response"] == {"status_code": 200}
    assert complete["payload"]["request"]["request_meta"]["user_agent"] == "evil\r\n{}", "on one line"


async def test_the_file_is_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "audit" / "audit.log"
    await AuditLog(AuditFile(path=path), is_enforced=True).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


async def test_a_planted_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "audit.log").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic"):
        AuditLog(AuditFile(path=tmp_path / "audit.log"), is_enforced=True)


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        pytest.param([], 4, id="nothing left out"),
        pytest.param([Filter(endpoints=("/v1/metrics",))], 2, id="an endpoint"),
        pytest.param([Filter(endpoints=("/v1/*",), operations=("GET",))], 1, id="reads"),
        pytest.param([Filter(stages=("OperationReceived",))], 1, id="a stage"),
        pytest.param([Filter(stages=("*",), endpoints=("*",), operations=("*",))], 0, id="all"),
        pytest.param([Filter(operations=("PUT",)), Filter(endpoints=("/v1/jobs",))], 2, id="either of two"),
    ],
)
async def test_filters_leave_events_out(filters: list[Filter], expected: int, tmp_path: Path) -> None:
    log = AuditLog(AuditFile(path=tmp_path / "audit.log"), filters=filters, is_enforced=True)
    await log.record(payload(endpoint="/v1/metrics"))
    await log.record(payload(COMPLETE, endpoint="/v1/metrics"))
    await log.record(payload(endpoint="/v1/jobs"))
    await log.record(payload(endpoint="/v1/jobs", operation="PUT"))
    await log.close()
    assert len(lines(tmp_path / "audit.log")) == expected


async def test_a_full_file_is_put_aside_and_old_ones_go(tmp_path: Path) -> None:
    file = AuditFile(path=tmp_path / "audit.log", rotate_bytes=1000, kept_files_max=2)
    log = AuditLog(file, is_enforced=True)
    for _ in range(20):
        assert await log.record(payload())
    await log.close()
    sizes = {path: path.stat().st_size for path in tmp_path.iterdir()}  # noqa: ASYNC240 - nothing else runs
    assert len(sizes) == 3, "the file, and two old ones"
    assert max(sizes.values()) <= 1000


def test_an_old_file_is_put_aside(tmp_path: Path) -> None:
    now = [1000.0]
    file = AuditFile(path=tmp_path / "audit.log", rotate_after_s=60)
    writer = AuditWriter(file, now=lambda: now[0])
    writer.offer(b"first\n")
    writer.close()
    writer = AuditWriter(file, now=lambda: now[0])
    now[0] += 61
    writer.offer(b"second\n")
    writer.close()
    assert file.path.read_text() == "second\n"
    assert [path.read_text() for path in tmp_path.glob("audit-*.log")] == ["first\n"]


async def test_a_moved_file_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    log = AuditLog(AuditFile(path=path), is_enforced=True)
    await log.record(payload())
    path.rename(tmp_path / "moved.log")
    log.reopen()
    await log.record(payload())
    await log.close()
    assert (len(lines(path)), len(lines(tmp_path / "moved.log"))) == (1, 1)


@pytest.mark.parametrize(("is_enforced", "answer"), [(True, False), (False, True)])
async def test_a_file_that_cannot_be_written_is_handled_as_configured(
    is_enforced: bool, answer: bool, tmp_path: Path
) -> None:
    path = tmp_path / "audit.log"
    log = AuditLog(AuditFile(path=path), is_enforced=is_enforced)
    path.unlink()
    path.mkdir()
    log.reopen()
    assert await log.record(payload()) is answer
    path.rmdir()
    assert await log.record(payload())
    await log.close()
    assert len(lines(path)) >= 1, "it goes on once it can"


async def test_writers_do_not_wait_for_each_other_and_nothing_is_lost(tmp_path: Path) -> None:
    log = AuditLog(AuditFile(path=tmp_path / "audit.log"), is_enforced=True)
    assert all(await asyncio.gather(*(log.record(payload(endpoint=f"/v1/{n}")) for n in range(500))))
    await log.close()
    endpoints = [line["payload"]["request"]["endpoint"] for line in lines(tmp_path / "audit.log")]
    assert endpoints == [f"/v1/{n}" for n in range(500)]
