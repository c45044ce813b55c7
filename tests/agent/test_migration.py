"""Data moves with its allocation from node to node, whole or not at all."""

from __future__ import annotations

import asyncio
import io
import os
import tarfile
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.support.client_node import client_node
from tests.support.real_agent import RealAgent, running_agent
from yurt.agent.migration import MigrationFailed, error_file, snapshot, take_over
from yurt.model.migrate_token import migrate_token
from yurt.model.wire import AllocID

OLD = AllocID("0b0c1a2d-0000-4000-8000-00000000000a")


def make_alloc(root: Path, *tasks: str) -> Path:
    for name in ("alloc/data", "alloc/logs", *(f"{task}/local" for task in tasks)):
        (root / name).mkdir(parents=True)
    return root


async def whole(parts: AsyncIterator[bytes]) -> bytes:
    return b"".join([part async for part in parts])


async def in_parts(data: bytes, size: int = 1000) -> AsyncIterator[bytes]:
    for at in range(0, len(data), size):
        yield data[at : at + size]


async def test_data_arrives_as_it_was(tmp_path: Path) -> None:
    old, new = make_alloc(tmp_path / "old", "t", "gone"), make_alloc(tmp_path / "new", "t", "added")
    (old / "alloc/data/big").write_bytes(os.urandom(3_000_000))
    (old / "alloc/logs/t.stdout.0").write_text("stays")
    (old / "t/local/deep/er").mkdir(parents=True)
    (old / "t/local/deep/er/file").write_text("content")
    (old / "t/local/deep/er/file").chmod(0o640)
    os.chown(old / "t/local/deep/er/file", 65534, 65534)
    (old / "t/local/link").symlink_to("deep/er/file")
    (old / "t/local/outside").symlink_to("/etc")
    os.mkfifo(old / "t/local/pipe")
    (old / "gone/local/file").write_text("its task is no more")

    await take_over(snapshot(old, OLD, ["t", "gone"]), new, OLD, ["t", "added"])

    assert (new / "alloc/data/big").read_bytes() == (old / "alloc/data/big").read_bytes()
    copied = (new / "t/local/deep/er/file").stat()
    assert (copied.st_mode & 0o777, copied.st_uid) == (0o640, 65534)
    assert (new / "t/local/link").read_text() == "content"
    assert os.readlink(new / "t/local/outside") == "/etc"
    assert not (new / "t/local/pipe").exists()
    assert sorted(path.name for path in new.iterdir()) == ["added", "alloc", "t"]
    assert list((new / "alloc/logs").iterdir()) == []


def archive_of(*entries: tuple[tarfile.TarInfo, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for info, content in entries:
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def an_entry(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


GOOD = (an_entry("t/local/good"), b"x" * 100_000)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(archive_of(GOOD, (an_entry("../../evil"), b"x")), id="a name that leads out"),
        pytest.param(
            archive_of(
                GOOD,
                (an_entry("t/local/out", tarfile.SYMTYPE, "/tmp"), b""),
                (an_entry("t/local/out/x"), b"x"),
            ),
            id="a way out through a link",
        ),
        pytest.param(archive_of(GOOD, (an_entry("t/local/dev", tarfile.CHRTYPE), b"")), id="a device"),
        pytest.param(archive_of(GOOD)[:50_000], id="cut off"),
        pytest.param(b"no archive at all" * 100, id="no archive"),
        pytest.param(
            archive_of(GOOD, (an_entry(error_file(OLD)), b"disk on fire")), id="told to be incomplete"
        ),
    ],
)
async def test_a_bad_snapshot_leaves_a_fresh_directory(tmp_path: Path, data: bytes) -> None:
    new = make_alloc(tmp_path / "new", "t")
    with pytest.raises(MigrationFailed):
        await take_over(in_parts(data), new, OLD, ["t"])

    assert sorted(path.name for path in new.iterdir()) == ["alloc", "t"]
    assert list((new / "t/local").iterdir()) == []
    assert not (tmp_path / "evil").exists()


async def test_who_stops_listening_stops_the_packing(tmp_path: Path) -> None:
    old = make_alloc(tmp_path / "old", "t")
    (old / "alloc/data/big").write_bytes(bytes(5_000_000))
    parts = snapshot(old, OLD, ["t"])
    assert await anext(parts)
    async with asyncio.timeout(10):
        await parts.aclose()  # type: ignore[attr-defined]


# --- two real agents --------------------------------------------------------------------------------


MARKING = """
mark="$NOMAD_ALLOC_DIR/data/mark"
[ -f "$mark" ] || echo "$NOMAD_ALLOC_ID" > "$mark"
echo "$NOMAD_ALLOC_ID" >> local/seen
exec sleep 1000
"""


HEALTHY_AT_ONCE = {"HealthCheck": "task_states", "MinHealthyTime": 1, "HealthyDeadline": 10**11}


class Nodes(msgspec.Struct):
    """A server with a node, and a second node; directories by node id."""

    server: RealAgent
    directories: dict[str, Path]

    def path(self, alloc: dict[str, Any], name: str) -> Path:
        return self.directories[alloc["NodeID"]] / f"data/alloc/{alloc['ID']}/{name}"

    def drain(self, node_id: str, *, begin: bool) -> None:
        spec = {"Deadline": 60 * 10**9} if begin else None
        body = {"DrainSpec": spec, "MarkEligible": not begin}
        assert self.server.call("PUT", f"/v1/node/{node_id}/drain", body).status == 200

    def running(self, job: str, *, besides: str = "") -> dict[str, Any]:
        path = f"/v1/job/{job}/allocations"

        def wanted(allocs: list[dict[str, Any]]) -> list[dict[str, Any]]:
            return [a for a in allocs if a["ClientStatus"] == "running" and a["ID"] != besides]

        return wanted(self.server.wait_for(path, wanted))[0]


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    first, second = tmp_path_factory.mktemp("first"), tmp_path_factory.mktemp("second")
    with running_agent(first) as server:
        [own] = server.call("GET", "/v1/nodes").json
        with client_node(second, server) as node_id:
            yield Nodes(server, {own["ID"]: first, node_id: second})


def marking_job(name: str, disk: dict[str, Any]) -> dict[str, Any]:
    task = {
        "Name": "t",
        "Driver": "raw_exec",
        "Config": {"command": "/bin/sh", "args": ["-c", MARKING]},
        "Resources": {"CPU": 50, "MemoryMB": 32},
        "KillTimeout": 10**9,
    }
    group = {
        "Name": "g",
        "Count": 1,
        "EphemeralDisk": {"SizeMB": 200, **disk},
        # Drains wait for health, and there is nothing to be learnt from it here.
        "Migrate": {"MaxParallel": 1, **HEALTHY_AT_ONCE},
        "Update": {"MaxParallel": 1, "ProgressDeadline": 2 * 10**11, **HEALTHY_AT_ONCE},
        "Tasks": [task],
    }
    return {"ID": name, "Name": name, "Datacenters": ["dc1"], "TaskGroups": [group]}


def moved(nodes: Nodes, job: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The allocation of a job, and the one that replaces it on the other node."""
    assert nodes.server.call("PUT", "/v1/jobs", {"Job": job}).status == 200
    old = nodes.running(job["ID"])
    until_there(nodes.path(old, "t/local/seen"))
    nodes.drain(old["NodeID"], begin=True)
    try:
        new = nodes.running(job["ID"], besides=old["ID"])
    finally:
        nodes.drain(old["NodeID"], begin=False)
    assert new["NodeID"] != old["NodeID"]
    return old, new


def until_there(path: Path) -> None:
    for _ in range(200):
        if path.exists():
            return
        time.sleep(0.05)  # nothing tells when a task writes its file
    raise TimeoutError(path)


def test_a_disk_that_migrates_is_there_on_the_other_node(nodes: Nodes) -> None:
    old, new = moved(nodes, marking_job("migrating", {"Migrate": True, "Sticky": True}))

    until_there(nodes.path(new, "t/local/seen"))
    assert nodes.path(new, "alloc/data/mark").read_text() == f"{old['ID']}\n"
    assert old["ID"] in nodes.path(new, "t/local/seen").read_text()
    nodes.server.call("DELETE", "/v1/job/migrating?purge=true")


def test_a_disk_that_does_not_migrate_starts_empty(nodes: Nodes) -> None:
    _, new = moved(nodes, marking_job("staying", {"Sticky": True}))

    until_there(nodes.path(new, "t/local/seen"))
    assert nodes.path(new, "alloc/data/mark").read_text() == f"{new['ID']}\n"
    nodes.server.call("DELETE", "/v1/job/staying?purge=true")


def test_only_the_token_of_the_servers_opens_a_snapshot_on_a_node_that_is_no_server(nodes: Nodes) -> None:
    _, second = nodes.directories
    there = {"LTarget": "${node.unique.id}", "Operand": "=", "RTarget": second}
    nodes.server.call("PUT", "/v1/jobs", {"Job": {**marking_job("closed", {}), "Constraints": [there]}})
    alloc = nodes.running("closed")
    node = nodes.server.call("GET", f"/v1/node/{alloc['NodeID']}").json
    secret = (nodes.directories[alloc["NodeID"]] / "data/client/secret-id").read_text().strip()
    until_there(nodes.path(alloc, "t/local/seen"))

    def ask(alloc_id: str, token: str) -> tuple[int, bytes]:
        url = f"http://{node['HTTPAddr']}/v1/client/allocation/{alloc_id}/snapshot"
        request = urllib.request.Request(url, headers={"X-Nomad-Token": token})
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    assert ask(alloc["ID"], "")[0] == 403
    assert ask(alloc["ID"], migrate_token(OLD, secret))[0] == 403
    assert ask(OLD, migrate_token(OLD, secret))[0] == 404
    status, archive = ask(alloc["ID"], migrate_token(alloc["ID"], secret))
    assert status == 200
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        assert "alloc/data/mark" in files.getnames()
    nodes.server.call("DELETE", "/v1/job/closed?purge=true")
