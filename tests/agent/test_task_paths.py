"""Paths of job files lead to the task's own directories, and nowhere else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from yurt.agent.access.confined import PathEscapes, open_dir_below, read_below, write_below
from yurt.agent.alloc_dir import TaskDir
from yurt.agent.task_env import TaskEnv
from yurt.agent.task_paths import PathOutside, Place, destination, seen_by_task, source

DIRECTORY = TaskDir("/allocs/a1/t", "/allocs/a1/alloc")
ISOLATED = TaskEnv(
    {"NOMAD_ALLOC_DIR": "/alloc", "NOMAD_TASK_DIR": "/local", "NOMAD_SECRETS_DIR": "/secrets", "X": "x"}, {}
)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("local/x", Place(DIRECTORY.path, "local/x")),
        ("${NOMAD_TASK_DIR}/${X}", Place(DIRECTORY.path, "local/x")),
        ("${NOMAD_SECRETS_DIR}/x", Place(DIRECTORY.path, "secrets/x")),
        ("${NOMAD_ALLOC_DIR}/data", Place(DIRECTORY.shared, "data")),
        ("../alloc/data", Place(DIRECTORY.shared, "data")),
        ("/etc/x", Place(DIRECTORY.path, "etc/x")),
        ("local/../x", Place(DIRECTORY.path, "x")),
        ("", Place(DIRECTORY.path, ".")),
    ],
)
def test_destinations(path: str, expected: Place) -> None:
    assert destination(path, ISOLATED, DIRECTORY) == expected


@pytest.mark.parametrize("path", ["../x", "../other/local", "local/../../../etc", "/allocs/a1/other/x"])
def test_destinations_outside(path: str) -> None:
    with pytest.raises(PathOutside):
        destination(path, ISOLATED, DIRECTORY)


def test_sources_are_not_taken_from_elsewhere() -> None:
    assert source("local/x", ISOLATED, DIRECTORY) == Place(DIRECTORY.path, "local/x")
    with pytest.raises(PathOutside):
        source("/etc/passwd", ISOLATED, DIRECTORY)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/local/x", Place(DIRECTORY.path, "local/x")),
        ("/alloc/data/x", Place(DIRECTORY.shared, "data/x")),
        ("/secrets/x", Place(DIRECTORY.path, "secrets/x")),
        ("/other", Place(DIRECTORY.path, "other")),
    ],
)
def test_paths_that_a_task_with_its_own_root_sees(path: str, expected: Place) -> None:
    assert seen_by_task(path, ISOLATED, DIRECTORY) == expected


def test_writing_makes_parents_and_replaces_at_once(tmp_path: Path) -> None:
    write_below(str(tmp_path), "a/b/c", b"one", mode=0o640)
    write_below(str(tmp_path), "a/b/c", b"two", mode=0o600)

    assert (tmp_path / "a/b/c").read_bytes() == b"two"
    assert (tmp_path / "a/b/c").stat().st_mode & 0o7777 == 0o600
    assert os.listdir(tmp_path / "a/b") == ["c"]


def test_links_are_followed_inside_only(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    for made in (root / "real", outside):
        made.mkdir(parents=True)
    (root / "inside").symlink_to("real")
    (root / "up").symlink_to("../outside")
    (root / "far").symlink_to(outside)
    (root / "round").symlink_to("round")
    write_below(str(root), "inside/x", b"x", mode=0o600)
    assert read_below(str(root), "real/x", bytes_max=1) == b"x"

    for path in ("up/x", "far/x", "../outside/x", "up"):
        with pytest.raises((PathEscapes, OSError)):
            write_below(str(root), f"{path}/y", b"", mode=0o600)
        with pytest.raises(PathEscapes):
            open_dir_below(str(root), path, make_mode=0o755)
    with pytest.raises(OSError, match="Too many levels"):
        write_below(str(root), "round/x", b"", mode=0o600)
    assert list(outside.iterdir()) == []


def test_reading_has_a_limit_and_wants_a_file(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"12345")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="too large"):
        read_below(str(tmp_path), "f", bytes_max=4)
    for name in ("pipe", "."):
        with pytest.raises(OSError, match=r"regular file|Is a directory"):
            read_below(str(tmp_path), name, bytes_max=4)
    with pytest.raises(FileNotFoundError):
        read_below(str(tmp_path), "none", bytes_max=4)


def test_a_directory_in_the_place_of_a_file_stays(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    with pytest.raises(IsADirectoryError):
        write_below(str(tmp_path), "d", b"", mode=0o600)
    assert os.listdir(tmp_path) == ["d"]
