"""Tasks that reserve no cores run on those that nobody has reserved."""

from __future__ import annotations

from pathlib import Path

import pytest

from yurt.agent.drivers.cgroups import CgroupTree
from yurt.agent.shared_cores import SharedCores


@pytest.fixture
def cpus(tmp_path: Path) -> Path:
    file = tmp_path / "nomad.slice" / "share.slice" / "cpuset.cpus"
    file.parent.mkdir(parents=True)
    file.touch()
    return file


def tree(mount: Path, *, version: int = 2, controllers: tuple[str, ...] = ("cpuset", "memory")) -> CgroupTree:
    return CgroupTree(version=version, mount=str(mount), parent="nomad.slice", controllers=controllers)


@pytest.mark.parametrize(
    ("reserved", "shared"),
    [
        pytest.param(frozenset(), "0-7", id="nothing is reserved"),
        pytest.param(frozenset({0, 1, 5}), "2-4,6-7", id="the others are shared"),
        pytest.param(frozenset(range(8)), "0-7", id="somewhere they have to run"),
        pytest.param(frozenset({9}), "0-7", id="a core that is not usable"),
    ],
)
def test_the_rest_is_shared(tmp_path: Path, cpus: Path, reserved: frozenset[int], shared: str) -> None:
    SharedCores(tree(tmp_path), range(8)).leave_out(reserved)

    assert cpus.read_text() == shared


def test_released_cores_are_shared_again(tmp_path: Path, cpus: Path) -> None:
    cores = SharedCores(tree(tmp_path), range(4))
    cores.leave_out(frozenset({1}))
    cores.leave_out(frozenset())

    assert cpus.read_text() == "0-3"


@pytest.mark.parametrize(
    "cgroups",
    [
        pytest.param(None, id="no control groups"),
        pytest.param({"version": 1}, id="version 1"),
        pytest.param({"controllers": ("memory",)}, id="no cpusets"),
    ],
)
def test_where_cores_cannot_be_given_nothing_is_written(
    tmp_path: Path, cpus: Path, cgroups: dict[str, object] | None
) -> None:
    found = tree(tmp_path, **cgroups) if cgroups is not None else None  # type: ignore[arg-type]
    SharedCores(found, range(4)).leave_out(frozenset({1}))

    assert cpus.read_text() == ""


def test_a_kernel_that_refuses_is_asked_again(tmp_path: Path, cpus: Path) -> None:
    cores = SharedCores(tree(tmp_path), range(4))
    cpus.unlink()
    cpus.mkdir()
    cores.leave_out(frozenset({1}))
    cpus.rmdir()
    cores.leave_out(frozenset({1}))

    assert cpus.read_text() == "0,2-3"
