"""Ended allocations go when disk, inodes or their number run out; running ones never do."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent.test_node_agent import Cluster, brief, lasting, until
from tests.support.real_agent import running_agent
from yurt.agent.garbage import DiskUsage, EndedAlloc, disk_usage, is_over_limit, oldest
from yurt.agent.settings import GcSettings
from yurt.model.wire import AllocID

SETTINGS = GcSettings()


@pytest.mark.parametrize(
    ("disk", "inodes", "allocs", "is_over"),
    [
        pytest.param(80.0, 70.0, 50, False, id="at every limit"),
        pytest.param(80.1, 0.0, 0, True, id="too full"),
        pytest.param(0.0, 70.1, 0, True, id="too many files"),
        pytest.param(0.0, 0.0, 51, True, id="too many allocations"),
    ],
)
def test_one_limit_that_is_passed_is_enough(disk: float, inodes: float, allocs: int, is_over: bool) -> None:
    assert is_over_limit(SETTINGS, DiskUsage(disk, inodes), allocs=allocs) is is_over


def test_the_first_to_end_is_the_first_to_go() -> None:
    ended = [EndedAlloc(AllocID("b"), 5), EndedAlloc(AllocID("a"), 7), EndedAlloc(AllocID("c"), 5)]
    assert oldest(ended) == "b"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MiB and 2000 files."""
    path = tmp_path / "disk"
    path.mkdir()
    options = "size=4m,nr_inodes=2000"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(path)], check=True)
    yield path
    subprocess.run(["umount", "-R", "-l", str(path)], check=True)


def test_a_file_system_tells_how_full_it_is(small_disk: Path) -> None:
    before = disk_usage(str(small_disk))
    (small_disk / "big").write_bytes(bytes(3 << 20))
    for number in range(999):
        (small_disk / str(number)).touch()
    after = disk_usage(str(small_disk))

    assert (before.used_percent, round(after.used_percent)) == (0.0, 75)
    assert round(after.inodes_used_percent) == 50


@pytest.mark.parametrize("cause", ["disk", "inodes"])
async def test_a_full_disk_costs_ended_allocations_only(tmp_path: Path, small_disk: Path, cause: str) -> None:
    cluster = Cluster(tmp_path)
    gc = GcSettings(
        disk_usage_percent_max=50 if cause == "disk" else 100,
        inode_usage_percent_max=60 if cause == "inodes" else 100,
    )
    async with cluster.running(alloc_dir=str(small_disk / "alloc"), gc=gc):
        await cluster.place(lasting(1))
        await cluster.place(brief(2), "complete")
        assert AllocID("a2") in cluster.agent.allocs
        if cause == "disk":
            (small_disk / "ballast").write_bytes(bytes(3 << 20))
        else:
            for number in range(1300):
                (small_disk / f"ballast{number}").touch()
        await cluster.clock.advance(61)  # the next look is due
        await until(lambda: AllocID("a2") not in cluster.agent.allocs)

        assert list(cluster.agent.allocs) == ["a1"]
        assert not (small_disk / "alloc/a2").exists()


def test_people_can_collect_one_or_all(tmp_path: Path) -> None:
    task = {"Name": "t", "Driver": "raw_exec", "Config": {"command": "/bin/true"}}
    with running_agent(tmp_path) as agent:
        for name in ("one", "two", "three"):
            job = {"ID": name, "Type": "batch", "TaskGroups": [{"Name": "g", "Tasks": [task]}]}
            agent.call("PUT", "/v1/jobs", {"Job": job})
        ids = {}
        for name in ("one", "two", "three"):
            done = agent.wait_for(
                f"/v1/job/{name}/allocations",
                lambda allocs: allocs and allocs[0]["ClientStatus"] == "complete",
            )
            ids[name] = done[0]["ID"]

        def collected(path: str) -> bool:
            return agent.call("PUT", path).status == 200

        def left() -> set[str]:
            return {path.name for path in (tmp_path / "data/alloc").iterdir()} & set(ids.values())

        assert collected(f"/v1/client/allocation/{ids['one']}/gc")
        assert left() == {ids["two"], ids["three"]}
        assert agent.call("PUT", f"/v1/client/allocation/{ids['one']}/gc").status == 500
        assert collected("/v1/client/gc")
        assert left() == set()
