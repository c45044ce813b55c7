"""Allocation directories have the recorded layout, come fast, and go away whole."""

from __future__ import annotations

import errno
import grp
import os
import pwd
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent.alloc_harness import destroy_all
from yurt.agent.alloc_dir import MOUNT_MARK, AllocDirFailed, AllocDirs
from yurt.agent.spare_dirs import SPARES_KEPT
from yurt.model.wire import AllocID

RECORDING = Path(__file__).parents[1] / "recordings/nomad/client/alloc-dir.txt"
ID = AllocID("a1")
IS_ROOT = os.geteuid() == 0


@pytest.fixture
def dirs(tmp_path: Path) -> Iterator[AllocDirs]:
    made = AllocDirs(tmp_path / "alloc")
    made.open()
    yield made
    destroy_all(tmp_path / "alloc")


def layout(base: Path) -> dict[str, tuple[str, str]]:
    """Path → (mode, owner) of every directory."""
    found = {}
    for path in (base, *base.rglob("*")):
        if path.is_dir():
            info = path.stat()
            mode = f"{stat.S_IMODE(info.st_mode):o}"
            owner = f"{pwd.getpwuid(info.st_uid).pw_name}:{grp.getgrgid(info.st_gid).gr_name}"
            found[str(path.relative_to(base))] = (mode, owner)
    return found


def recorded_layout() -> dict[str, tuple[str, str]]:
    """The recorded directories of the allocation and of its task `raw`, less what templates made."""
    found = {}
    for line in RECORDING.read_text().splitlines():
        path, kind, *rest = line.split()
        name = path.removeprefix("./")
        if kind == "d" and name.split("/")[0] in (".", "alloc", "raw") and "<id>" not in name:
            found[name] = (rest[0], rest[1])
    # One is made by the exec driver, the other by a template.
    return {name: found[name] for name in found if name not in ("alloc/container", "raw/etc")}


@pytest.mark.parametrize("from_spares", [False, True], ids=["made at once", "from spares"])
def test_layout_as_recorded(dirs: AllocDirs, from_spares: bool) -> None:
    if from_spares:
        dirs.refill()
    dirs.create(ID, {"raw": 0})
    expected = recorded_layout()
    made = layout(dirs.path(ID))

    if IS_ROOT:
        assert made == expected
    else:
        assert {name: mode for name, (mode, _) in made.items()} == {
            name: mode for name, (mode, _) in expected.items()
        }


def test_paths_of_a_task(dirs: AllocDirs) -> None:
    task = dirs.task_dir(ID, "web")

    assert task.local == f"{dirs.path(ID)}/web/local"
    assert task.logs == f"{dirs.path(ID)}/alloc/logs"
    assert task.paths.secrets_dir == task.secrets


def test_creating_again_keeps_what_is_there(dirs: AllocDirs) -> None:
    dirs.create(ID, {"web": 0})
    secret = Path(dirs.task_dir(ID, "web").secrets) / "token"
    secret.write_text("s")
    dirs.create(ID, {"web": 0, "side": 0})

    assert secret.read_text() == "s"
    assert Path(dirs.task_dir(ID, "side").local).is_dir()


@pytest.mark.skipif(not IS_ROOT, reason="mounting takes root")
def test_secrets_are_in_memory_and_bounded(dirs: AllocDirs) -> None:
    dirs.create(ID, {"web": 2})
    task = dirs.task_dir(ID, "web")
    if not Path(task.secrets, MOUNT_MARK).exists():
        pytest.skip("this container does not allow mounts")

    assert Path(task.secrets).is_mount()
    assert Path(task.private).is_mount()
    usage = os.statvfs(task.secrets)
    assert usage.f_blocks * usage.f_frsize == 2 << 20
    dirs.destroy(ID)
    assert str(dirs.path(ID)) not in Path("/proc/self/mounts").read_text()


def test_destroying_leaves_nothing(dirs: AllocDirs) -> None:
    dirs.create(ID, {"web": 0})
    (Path(dirs.task_dir(ID, "web").local) / "file").write_text("x")
    dirs.destroy(ID)

    assert not dirs.exists(ID)
    dirs.destroy(ID)


@pytest.mark.parametrize("name", ["../x", "a/b", "..", ".", "", "alloc", "a\0b"])
def test_a_task_name_that_is_no_directory_name_is_refused(dirs: AllocDirs, name: str) -> None:
    with pytest.raises(AllocDirFailed, match="rename the task"):
        dirs.create(ID, {name: 0})


def test_an_empty_stock_wants_a_refill(dirs: AllocDirs) -> None:
    assert dirs.wants_refill


def test_spares_are_taken_over_and_used_up(dirs: AllocDirs, tmp_path: Path) -> None:
    dirs.refill()
    spare = tmp_path / "alloc" / ".spare"
    assert len(list(spare.iterdir())) == 2 * SPARES_KEPT
    (spare / "unfinished-1-1").mkdir()

    later = AllocDirs(tmp_path / "alloc")
    later.open()
    assert not later.wants_refill
    assert not (spare / "unfinished-1-1").exists()
    for number in range(SPARES_KEPT + 1):
        later.create(AllocID(f"a{number}"), {"web": 0})
    assert later.exists(AllocID(f"a{SPARES_KEPT}"))
    for number in range(SPARES_KEPT + 1):
        later.destroy(AllocID(f"a{number}"))


def test_directories_that_were_half_made_are_made_whole_by_the_next(
    dirs: AllocDirs, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = os.mkdir
    made: list[str] = []

    def make_some(path: str, mode: int = 0o777) -> None:
        if len(made) == 7:
            raise OSError(errno.ENOSPC, "no space left", path)
        make(path, mode)
        made.append(path)

    with monkeypatch.context() as patched:
        patched.setattr(os, "mkdir", make_some)
        with pytest.raises(AllocDirFailed, match="no space left"):
            dirs.create(ID, {"web": 0})
    dirs.create(ID, {"web": 0})

    task = dirs.task_dir(ID, "web")
    assert all(Path(path).is_dir() for path in (task.logs, task.local, task.secrets, task.private))


def test_a_spare_that_was_tidied_away_is_no_obstacle(dirs: AllocDirs, tmp_path: Path) -> None:
    dirs.refill()
    dirs.remove_spares()
    dirs.create(ID, {"web": 0})

    assert Path(dirs.task_dir(ID, "web").local).is_dir()


def test_data_moves_to_the_successor(dirs: AllocDirs) -> None:
    new = AllocID("a2")
    dirs.create(ID, {"web": 0, "gone": 0})
    dirs.create(new, {"web": 0, "fresh": 0})
    (Path(dirs.task_dir(ID, "web").local) / "state").write_text("1")
    (dirs.path(ID) / "alloc/data/db").write_text("2")
    dirs.move_data(ID, new, frozenset({"web", "fresh"}))

    assert (Path(dirs.task_dir(new, "web").local) / "state").read_text() == "1"
    assert (dirs.path(new) / "alloc/data/db").read_text() == "2"


def test_a_full_place_is_reported(dirs: AllocDirs) -> None:
    new = AllocID("a2")
    dirs.create(ID, {})
    dirs.create(new, {})
    (dirs.path(new) / "alloc/data/in-the-way").write_text("x")

    with pytest.raises(AllocDirFailed, match="Failed to move data"):
        dirs.move_data(ID, new, frozenset())
