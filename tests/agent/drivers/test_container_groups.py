"""How containers get into their control groups, and what their description says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.agent.drivers.specs import a_spec
from yurt.agent.drivers import TaskMount, TaskResources
from yurt.agent.drivers.cgroups import CgroupTree
from yurt.agent.drivers.exec.bundle import Container, oci_config
from yurt.agent.drivers.exec.groups import container_groups
from yurt.agent.drivers.exec.root import Bind
from yurt.agent.drivers.exec.runtime import Bundle, Runtime
from yurt.agent.launcher import Identity

CRUN, RUNC = Runtime("crun", "/usr/bin/crun"), Runtime("runc", "/usr/sbin/runc")
ALLOC = "5b0c1a2d-0000-4000-8000-000000000001"


def version_1(mount: Path) -> CgroupTree:
    for name in ("cpu", "memory", "pids", "devices", "freezer"):
        (mount / name).mkdir()
    return CgroupTree(version=1, mount=str(mount), parent="nomad", controllers=("cpu", "memory"))


def test_crun_is_started_inside_the_groups_of_version_1(tmp_path: Path) -> None:
    spec = a_spec(tmp_path, {}, resources=TaskResources(cpu_shares=100, memory_mb=64))

    groups = container_groups(version_1(tmp_path), CRUN, spec, pids_max=50)

    names = ("cpu", "memory", "pids", "devices")
    assert groups.cgroups.make == tuple(f"{tmp_path}/{name}/nomad/{ALLOC}.t" for name in names)
    assert groups.cgroups.join == groups.cgroups.make
    assert groups.path == ""
    writes = dict(groups.cgroups.write)
    assert writes[f"{tmp_path}/pids/nomad/{ALLOC}.t/pids.max"] == "50"
    assert writes[f"{tmp_path}/devices/nomad/{ALLOC}.t/devices.deny"] == "a"


def test_devices_are_denied_before_the_harmless_ones_are_allowed(tmp_path: Path) -> None:
    groups = container_groups(version_1(tmp_path), CRUN, a_spec(tmp_path, {}), pids_max=0)

    files = [path.rpartition("/")[2] for path, _ in groups.cgroups.write if "devices" in path]
    assert files[0] == "devices.deny"
    assert set(files[1:]) == {"devices.allow"}


def test_crun_does_not_see_version_2_beside_version_1(tmp_path: Path) -> None:
    tree = version_1(tmp_path)
    (tmp_path / "unified").mkdir()
    (tmp_path / "unified" / "cgroup.controllers").touch()

    assert container_groups(tree, CRUN, a_spec(tmp_path, {}), pids_max=0).hidden == (f"{tmp_path}/unified",)


def test_runc_moves_the_container_into_groups_that_all_go_with_it(tmp_path: Path) -> None:
    spec = a_spec(tmp_path, {}, resources=TaskResources(memory_mb=64, cores=(0, 3)))

    groups = container_groups(version_1(tmp_path), RUNC, spec, pids_max=0)

    assert (groups.path, groups.cpus) == (f"/nomad/{ALLOC}.t", "0,3")
    assert groups.cgroups.join == ()
    assert f"{tmp_path}/freezer/nomad/{ALLOC}.t" in groups.cgroups.make


@pytest.mark.parametrize("runtime", [CRUN, RUNC])
def test_in_version_2_the_container_is_moved_to_its_scope(tmp_path: Path, runtime: Runtime) -> None:
    tree = CgroupTree(version=2, mount="/cg", parent="nomad.slice", controllers=("cpu", "memory", "pids"))
    spec = a_spec(tmp_path, {}, resources=TaskResources(memory_mb=64))

    groups = container_groups(tree, runtime, spec, pids_max=50)

    assert groups.path == f"/nomad.slice/share.slice/{ALLOC}.t.scope"
    assert groups.cgroups.join == ()
    assert dict(groups.cgroups.write)[f"/cg{groups.path}/pids.max"] == "50"


def described(**changes: Any) -> dict[str, Any]:
    container = Container(
        root="/alloc/a/t",
        args=("/bin/sh", "-c", "true"),
        env={"A": "1"},
        work_dir="/",
        identity=Identity(uid=65534, gid=0),
        capabilities=frozenset({"kill", "chown"}),
        binds=(Bind("/etc", "/etc"),),
    )
    return dict(json.loads(oci_config(msgspec.structs.replace(container, **changes))))


def test_a_container_has_its_own_mounts_pids_and_ipc() -> None:
    kinds = [namespace["type"] for namespace in described()["linux"]["namespaces"]]

    assert kinds == ["mount", "pid", "ipc"]


def test_namespaces_are_shared_when_asked_for() -> None:
    config = described(own_pids=False, own_ipc=False, network_namespace="/run/netns/a")

    assert config["linux"]["namespaces"] == [{"type": "mount"}, {"type": "network", "path": "/run/netns/a"}]


def test_capabilities_are_the_same_in_every_set() -> None:
    sets = described()["process"]["capabilities"]

    assert set(sets) == {"bounding", "effective", "permitted", "inheritable", "ambient"}
    assert all(names == ["CAP_CHOWN", "CAP_KILL"] for names in sets.values())


def test_the_hosts_directories_are_read_only_and_volumes_as_asked() -> None:
    config = described(
        mounts=(
            TaskMount(source="/srv/a", target="/a"),
            TaskMount(source="/srv/b", target="/b", readonly=True),
        )
    )

    options = {mount["destination"]: mount["options"] for mount in config["mounts"]}
    assert (options["/etc"], options["/a"], options["/b"]) == (
        ["rbind", "rro"],
        ["rbind", "rw"],
        ["rbind", "ro"],
    )


def test_an_old_kernel_makes_only_the_top_read_only() -> None:
    mounts = described(binds_recursively_readonly=False)["mounts"]

    assert next(m for m in mounts if m["destination"] == "/etc")["options"] == ["rbind", "ro"]


def test_a_runtimes_complaint_is_its_last_error(tmp_path: Path) -> None:
    bundle = Bundle(str(tmp_path))
    lines = [{"level": "error", "msg": "first"}, {"level": "error", "msg": "second"}, {"level": "info"}]
    (tmp_path / "log").write_text("\n".join([*map(json.dumps, lines), "not json"]))

    assert bundle.failure() == "second"


def test_a_runtime_that_said_nothing_gives_no_reason(tmp_path: Path) -> None:
    assert Bundle(str(tmp_path)).failure() == ""
