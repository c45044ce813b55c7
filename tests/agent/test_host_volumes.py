"""Volumes that are made on nodes at run time, by the built-in plugin and by the operator's."""

from __future__ import annotations

import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tests.agent.builders import a_node
from tests.support.client_node import client_node
from tests.support.real_agent import RealAgent, running_agent
from yurt.agent.host_volumes import HostVolumes, VolumeFailed
from yurt.agent.settings import ClientSettings
from yurt.agent.state_db import StateDb
from yurt.model.client_protocol import MakeVolume
from yurt.model.node import HostVolume

ASKED = MakeVolume(id="v1", name="data", namespace="default", plugin_id="mkdir")
PLUGIN = """#!/bin/sh
exec 3>> "$0.log"
echo "$1 $DHV_OPERATION $DHV_VOLUME_NAME $DHV_CAPACITY_MIN_BYTES $DHV_PARAMETERS $DHV_CREATED_PATH" >&3
case $1 in
fingerprint) echo '{"version": "1.2.3"}' ;;
create) mkdir -p "$DHV_VOLUMES_DIR/$DHV_VOLUME_ID-own"
  echo "{\\"path\\": \\"$DHV_VOLUMES_DIR/$DHV_VOLUME_ID-own\\", \\"bytes\\": 4096}" ;;
delete) rmdir "$DHV_CREATED_PATH" ;;
esac
"""


class Volumes:
    """The volumes of a node, whose agent may be started again."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "plugins").mkdir()
        self.settings = ClientSettings(
            state_dir="",
            alloc_dir="",
            host_volumes_dir=str(root / "volumes"),
            host_volume_plugin_dir=str(root / "plugins"),
            host_volumes={"static": HostVolume(name="static", path="/srv")},
        )
        self.db = StateDb(root / "state")
        self.changes = 0
        self.volumes = self.started()

    def started(self) -> HostVolumes:
        return HostVolumes(self.settings, self.db, a_node(), self._changed)

    def _changed(self) -> None:
        self.changes += 1


def facts_of(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid


def is_there(path: Path) -> bool:
    return path.exists()


def lines_of(path: Path) -> list[str]:
    return path.read_text().splitlines()


@pytest.fixture
async def made(tmp_path: Path) -> Volumes:
    return Volumes(tmp_path)


async def test_mkdir_makes_a_directory_as_it_is_told(made: Volumes) -> None:
    asked = msgspec.structs.replace(ASKED, parameters={"mode": "0750", "uid": "65534", "gid": "65534"})
    path = Path((await made.volumes.create(asked)).path)

    assert facts_of(path) == (0o750, 65534, 65534)
    assert made.volumes.offered["data"] == HostVolume(name="data", path=str(path), id="v1")
    assert "static" in made.volumes.offered
    (path / "file").write_text("kept")
    await made.volumes.create(asked)
    assert is_there(path / "file"), "making it again finds it"

    await made.volumes.delete("v1")
    assert not is_there(path)
    assert list(made.volumes.offered) == ["static"]
    await made.volumes.delete("v1")


async def test_volumes_outlive_their_agent(made: Volumes) -> None:
    await made.volumes.create(ASKED)
    again = made.started()
    await again.restore()

    assert again.offered["data"].id == "v1"


async def test_an_operators_plugin_is_asked_as_agreed(made: Volumes) -> None:
    plugin = made.root / "plugins/own"
    plugin.write_text(PLUGIN)
    plugin.chmod(0o755)
    asked = msgspec.structs.replace(
        ASKED, plugin_id="own", capacity_min_bytes=1000, parameters={"kind": "fast"}
    )
    answer = await made.volumes.create(asked)
    await made.volumes.delete("v1")

    assert answer.bytes == 4096
    assert lines_of(Path(f"{plugin}.log")) == [
        'create create data 1000 {"kind":"fast"} ',
        f'delete delete data 1000 {{"kind":"fast"}} {answer.path}',
    ]
    assert not is_there(Path(answer.path))


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        pytest.param("echo no space >&2; exit 3", "no space", id="it fails"),
        pytest.param("echo what?", "cannot be read", id="no answer"),
        pytest.param("""echo '{"path": "here"}'""", "not absolute", id="a path from nowhere"),
    ],
)
async def test_a_plugin_that_fails_leaves_no_volume(made: Volumes, script: str, problem: str) -> None:
    plugin = made.root / "plugins/own"
    plugin.write_text(f"#!/bin/sh\n{script}\n")
    plugin.chmod(0o755)

    with pytest.raises(VolumeFailed, match=problem):
        await made.volumes.create(msgspec.structs.replace(ASKED, plugin_id="own"))
    assert list(made.volumes.offered) == ["static"]


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param(msgspec.structs.replace(ASKED, name="static"), id="a name that is taken"),
        pytest.param(msgspec.structs.replace(ASKED, plugin_id="../sh"), id="a plugin from elsewhere"),
        pytest.param(msgspec.structs.replace(ASKED, parameters={"mode": "rwx"}), id="a mode that is none"),
        pytest.param(
            msgspec.structs.replace(ASKED, plugin_id="", host_path="/no/such"), id="no directory to register"
        ),
    ],
)
async def test_what_cannot_be_made_is_refused(made: Volumes, asked: MakeVolume) -> None:
    with pytest.raises(VolumeFailed):
        await made.volumes.create(asked)
    assert made.changes == 0


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RealAgent, str]]:
    """A server with a node, and the id of a node elsewhere."""
    first, second = tmp_path_factory.mktemp("volumes-1"), tmp_path_factory.mktemp("volumes-2")
    with running_agent(first) as server, client_node(second, server) as node_id:
        yield server, node_id


def test_a_task_on_another_node_uses_a_volume_made_there(cluster: tuple[RealAgent, str]) -> None:
    server, node_id = cluster
    wanted = {"Name": "elsewhere", "PluginID": "mkdir", "NodeID": node_id, "Parameters": {"mode": "0777"}}
    created = server.call("PUT", "/v1/volume/host/create", {"Volume": wanted})
    assert created.status == 200, created.text
    volume = created.json["Volume"]
    server.wait_for(f"/v1/volume/host/{volume['ID']}", lambda body: body["State"] == "ready")

    task = {
        "Name": "t",
        "Driver": "exec",
        "Config": {"command": "/bin/sh", "args": ["-c", "echo hello > /data/said"]},
        "VolumeMounts": [{"Volume": "v", "Destination": "/data"}],
        "Resources": {"CPU": 50, "MemoryMB": 32},
    }
    group = {"Name": "g", "Tasks": [task], "Volumes": {"v": {"Type": "host", "Source": "elsewhere"}}}
    job = {"ID": "uses", "Type": "batch", "Datacenters": ["dc1"], "TaskGroups": [group]}
    assert server.call("PUT", "/v1/jobs", {"Job": job}).status == 200
    allocs = server.wait_for(
        "/v1/job/uses/allocations", lambda allocs: [a for a in allocs if a["ClientStatus"] == "complete"]
    )

    assert allocs[0]["NodeID"] == node_id
    assert Path(volume["HostPath"], "said").read_text() == "hello\n"
    assert server.call("DELETE", f"/v1/volume/host/{volume['ID']}").status == 200
    assert not Path(volume["HostPath"]).exists()
    assert server.call("GET", "/v1/volumes?type=host").json == []


def test_the_command_line_makes_lists_and_deletes_volumes(
    cluster: tuple[RealAgent, str], tmp_path: Path
) -> None:
    server, _ = cluster
    spec = tmp_path / "volume.hcl"
    spec.write_text('type = "host"\nname = "by-hand"\nplugin_id = "mkdir"\n')
    yurt = [str(Path(sys.executable).parent / "yurt"), "volume"]

    def run(*arguments: str) -> str:
        command = [*yurt, arguments[0], f"-address={server.address}", *arguments[1:]]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("create", str(spec))
    [volume] = server.call("GET", "/v1/volumes?type=host").json
    assert volume["Name"] == "by-hand"
    assert "by-hand" in run("status", "-type=host")
    run("delete", "-type=host", volume["ID"])
    assert server.call("GET", "/v1/volumes?type=host").json == []


def test_a_sticky_volume_is_claimed_until_the_claim_is_deleted(cluster: tuple[RealAgent, str]) -> None:
    server, node_id = cluster
    wanted = {"Name": "kept", "PluginID": "mkdir", "NodeID": node_id}
    volume = server.call("PUT", "/v1/volume/host/create", {"Volume": wanted}).json["Volume"]
    server.wait_for(f"/v1/volume/host/{volume['ID']}", lambda body: body["State"] == "ready")
    task = {"Name": "t", "Driver": "exec", "Config": {"command": "true"}}
    volumes = {"v": {"Type": "host", "Source": "kept", "Sticky": True}}
    group = {"Name": "g", "Tasks": [task], "Volumes": volumes}
    job = {"ID": "claims", "Type": "batch", "Datacenters": ["dc1"], "TaskGroups": [group]}
    assert server.call("PUT", "/v1/jobs", {"Job": job}).status == 200

    [claim] = server.wait_for("/v1/volumes/claims?job_id=claims", lambda claims: claims)
    [alloc] = server.call("GET", "/v1/job/claims/allocations").json
    indexes = {name: claim.pop(name) for name in ("CreateIndex", "ModifyIndex")}
    assert indexes["CreateIndex"] == indexes["ModifyIndex"] > 0
    claim_id = claim.pop("ID")
    assert claim == {
        "Namespace": "default",
        "JobID": "claims",
        "TaskGroupName": "g",
        "AllocID": alloc["ID"],
        "VolumeID": volume["ID"],
        "VolumeName": "kept",
    }
    assert server.call("GET", "/v1/volumes/claims?volume_name=other").json == []
    assert server.call("DELETE", f"/v1/volumes/claim/{claim_id}").status == 200
    assert server.call("GET", "/v1/volumes/claims").json == []
    gone = server.call("DELETE", f"/v1/volumes/claim/{claim_id}")
    assert (gone.status, gone.text) == (500, "task group volume claim does not exist")
