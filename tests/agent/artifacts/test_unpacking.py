"""Archives are unpacked as they are, and stay where they are put."""

from __future__ import annotations

import bz2
import gzip
import lzma
import stat
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.agent.artifacts.archives import a_tar, a_zip, a_zip_entry, file, special
from yurt.agent.artifacts.errors import FetchFailed
from yurt.agent.artifacts.placing import inspect, place_file, place_tree, single_file
from yurt.agent.artifacts.unpacking import UnpackLimits, check_links, unpack
from yurt.agent.task_paths import Place

SYM, HARD = tarfile.SYMTYPE, tarfile.LNKTYPE


def label(value: object) -> str | None:
    """Archives hold times, so they cannot be in the names of tests."""
    return "archive" if isinstance(value, bytes) else None


@pytest.fixture
def target(tmp_path: Path) -> Path:
    made = tmp_path / "target"
    made.mkdir()
    return made


def unpacked(content: bytes, kind: str, target: Path, **limits: int) -> dict[str, bytes]:
    archive = target.parent / f"archive.{kind}"
    archive.write_bytes(content)
    unpack(str(archive), kind, str(target), name=f"name.txt.{kind}", limits=UnpackLimits(**limits))
    inspect(str(target))
    return {str(p.relative_to(target)): p.read_bytes() for p in target.rglob("*") if p.is_file()}


@pytest.mark.parametrize(
    ("kind", "mode"),
    [("tar", "w"), ("tar.gz", "w:gz"), ("tgz", "w:gz"), ("tar.bz2", "w:bz2"), ("tbz2", "w:bz2"),
     ("tar.xz", "w:xz"), ("txz", "w:xz")],
)  # fmt: skip
def test_tar_files(target: Path, kind: str, mode: str) -> None:
    content = a_tar(
        file("./a.txt"),
        special("d", tarfile.DIRTYPE),
        file("d/e/run.sh", b"#!", 0o4755),
        special("d/link", SYM, "../a.txt"),
        special("hard", HARD, "a.txt"),
        mode=mode,
    )

    assert unpacked(content, kind, target) == {
        "a.txt": b"hello",
        "d/e/run.sh": b"#!",
        "d/link": b"hello",
        "hard": b"hello",
    }
    assert stat.S_IMODE((target / "d/e/run.sh").stat().st_mode) == 0o755
    assert stat.S_IMODE((target / "a.txt").stat().st_mode) == 0o644


@pytest.mark.parametrize(
    ("kind", "compress"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)]
)
def test_single_files(target: Path, kind: str, compress: Callable[[bytes], bytes]) -> None:
    assert unpacked(compress(b"hello"), kind, target) == {"name.txt": b"hello"}


def test_zip_files(target: Path) -> None:
    assert unpacked(a_zip(**{"a.txt": b"1", "d/b.txt": b"2"}), "zip", target) == {
        "a.txt": b"1",
        "d/b.txt": b"2",
    }
    unpacked(a_zip_entry("run.sh", b"#!", stat.S_IFREG | 0o6755), "zip", target)
    assert stat.S_IMODE((target / "run.sh").stat().st_mode) == 0o755


@pytest.mark.parametrize(
    ("content", "kind", "problem"),
    [
        (a_tar(file("../x")), "tar", "leads out"),
        (a_tar(file("d/../../x")), "tar", "leads out"),
        (a_tar(file("/etc/x")), "tar", "leads out"),
        (a_tar(special("l", SYM, "../x")), "tar", "leads out"),
        (a_tar(special("l", SYM, "/etc/passwd")), "tar", "leads out"),
        (a_tar(special("d/l", SYM, "../../x")), "tar", "leads out"),
        (a_tar(special("l", SYM, "l")), "tar", "leads out"),
        (a_tar(special("s/up", SYM, ".."), special("s/out", SYM, "up/../x")), "tar", "leads out"),
        (a_tar(special("l", SYM, "d"), file("l/x")), "tar", "twice"),
        (a_tar(special("h", HARD, "../x")), "tar", "leads out"),
        (a_tar(special("h", HARD, "none")), "tar", "no file of it"),
        (a_tar(special("dev", tarfile.CHRTYPE)), "tar", "neither file"),
        (a_tar(special("dev", tarfile.BLKTYPE)), "tar", "neither file"),
        (a_tar(special("pipe", tarfile.FIFOTYPE)), "tar", "neither file"),
        (a_tar(file("a" * 5000)), "tar", "too long a path"),
        (a_tar(file("/".join("d" * 200))), "tar", "too long a path"),
        (a_zip(**{"../x": b""}), "zip", "leads out"),
        (a_zip(**{"/etc/x": b""}), "zip", "leads out"),
        (a_zip_entry("l", b"/etc/passwd", stat.S_IFLNK | 0o777), "zip", "leads out"),
        (a_zip_entry("p", b"", stat.S_IFIFO | 0o777), "zip", "neither file"),
        (b"no archive", "tar", "cannot be read"),
        (b"no archive", "tar.gz", "cannot be read"),
        (b"no archive", "zip", "cannot be read"),
        (gzip.compress(b"x" * 1000)[:-20], "gz", "cannot be read"),
        (b"", "zst", "zst archives cannot be unpacked"),
        (b"", "tzst", "zst archives cannot be unpacked"),
    ],
    ids=label,
)
def test_bad_archives(target: Path, content: bytes, kind: str, problem: str) -> None:
    with pytest.raises(FetchFailed, match=problem):
        unpacked(content, kind, target)
    assert [path.name for path in target.parent.iterdir()] in (
        ["target", f"archive.{kind}"],
        [f"archive.{kind}", "target"],
    )


@pytest.mark.parametrize(
    ("content", "kind", "limits", "problem"),
    [
        (a_tar(file("a"), file("b"), file("c")), "tar", {"files_max": 2}, "more than 2 files"),
        (a_zip(a=b"", b=b"", c=b""), "zip", {"files_max": 2}, "more than 2 files"),
        (a_tar(file("a", b"x" * 100), mode="w:gz"), "tgz", {"bytes_max": 99}, "more than 99 bytes"),
        (a_zip(a=b"x" * 10_000_000), "zip", {"bytes_max": 10_000}, "more than 10000 bytes"),
        (gzip.compress(b"x" * 10_000_000), "gz", {"bytes_max": 10_000}, "more than 10000 bytes"),
    ],
    ids=label,
)
def test_archives_have_limits(
    target: Path, content: bytes, kind: str, limits: dict[str, int], problem: str
) -> None:
    with pytest.raises(FetchFailed, match=problem):
        unpacked(content, kind, target, **limits)


def test_headers_of_tar_files_have_a_limit(target: Path) -> None:
    header = tarfile.TarInfo("././@PaxHeader")
    header.type, header.size = tarfile.XHDTYPE, 50_000_000
    content = gzip.compress(header.tobuf() + b"\0" * 50_000_000)

    with pytest.raises(FetchFailed, match="has a header of 50000384 bytes"):
        unpacked(content, "tgz", target)


def test_unpacking_can_be_stopped(target: Path) -> None:
    archive = target.parent / "a.tar"
    archive.write_bytes(a_tar(file("a")))
    with pytest.raises(FetchFailed, match="nobody wants"):
        unpack(str(archive), "tar", str(target), name="a", limits=UnpackLimits(), stop=lambda: True)


PARTS = st.sampled_from(["..", ".", "a", "b", "l", "m"])
PATHS = st.lists(PARTS, min_size=1, max_size=4).map("/".join)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(links=st.dictionaries(st.sampled_from(["l", "m", "a/l", "a/b/m"]), PATHS, max_size=4))
def test_links_that_pass_lead_nowhere_else(
    tmp_path_factory: pytest.TempPathFactory, links: dict[str, str]
) -> None:
    """The system itself agrees where links lead."""
    try:
        check_links(links)
    except FetchFailed:
        return
    tree = tmp_path_factory.mktemp("tree")
    (tree / "a/b").mkdir(parents=True)
    for path, to in links.items():
        (tree / path).symlink_to(to)
    for path in links:
        assert (tree / path).resolve(strict=False).is_relative_to(tree.resolve())


def test_trees_are_moved_over_what_is_there(tmp_path: Path) -> None:
    tree, root = tmp_path / "tree", tmp_path / "root"
    for path, text in (("a", "new"), ("d/b", "new"), ("d/e/c", "new")):
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)
    (root / "local/d").mkdir(parents=True)
    (root / "local/d/b").write_text("old")
    (root / "local/d/kept").write_text("old")
    outside = tmp_path / "outside"
    outside.write_text("outside")
    (root / "local/a").symlink_to(outside)

    place_tree(str(tree), Place(str(root), "local"), owner=None)

    found = {str(p.relative_to(root)): p.read_text() for p in root.rglob("*") if p.is_file()}
    assert found == {"local/a": "new", "local/d/b": "new", "local/d/kept": "old", "local/d/e/c": "new"}
    assert outside.read_text() == "outside"


def test_files_are_placed_once_they_are_alone(tmp_path: Path) -> None:
    tree, root = tmp_path / "tree", tmp_path / "root"
    (tree / "d").mkdir(parents=True)
    root.mkdir()
    (tree / "d/x").write_text("x")
    place_file(single_file(str(tree)), Place(str(root), "local/deep/y"), owner=None)
    assert (root / "local/deep/y").read_text() == "x"
    with pytest.raises(FetchFailed, match="holds 0"):
        single_file(str(tree))
    with pytest.raises(FetchFailed, match="is a directory"):
        place_file(str(tree / "d/x"), Place(str(root), "."), owner=None)
