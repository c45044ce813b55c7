"""Archives made to fill a disk, or to put something where it does not belong."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.agent.artifacts.archives import a_tar, a_zip, a_zip_entry, file, special
from yurt.agent.artifacts.errors import FetchFailed
from yurt.agent.artifacts.unpacking import UnpackLimits, unpack
from yurt.cli.agent_flags import AgentFlags
from yurt.config import load
from yurt.config.client_settings import client_settings

SMALL = UnpackLimits(files_max=100, bytes_max=1_000_000)
ZEROS = b"\0" * 50_000_000


def _overlapping_zip() -> bytes:
    """Many entries that all claim the same compressed bytes."""
    made = io.BytesIO(a_zip(a=b"\0" * 900_000))
    with zipfile.ZipFile(made, "a") as archive:
        (first,) = archive.infolist()
        for number in range(50):
            twin = zipfile.ZipInfo(f"b{number}")
            twin.header_offset, twin.compress_type = first.header_offset, first.compress_type
            twin.compress_size, twin.file_size, twin.CRC = first.compress_size, first.file_size, first.CRC
            archive.filelist.append(twin)
            archive.NameToInfo[twin.filename] = twin
        archive._didModify = True  # type: ignore[attr-defined] # so that the list is written
    return made.getvalue()


def _sparse(archive: tarfile.TarFile) -> None:
    info = tarfile.TarInfo("sparse")
    info.size = 0
    info.pax_headers = {
        "GNU.sparse.major": "1",
        "GNU.sparse.minor": "0",
        "GNU.sparse.name": "sparse",
        "GNU.sparse.realsize": "99999999999",
    }
    archive.addfile(info, io.BytesIO(b""))


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        pytest.param(lambda: gzip.compress(ZEROS), "gz", id="gzip"),
        pytest.param(lambda: bz2.compress(ZEROS), "bz2", id="bzip2"),
        pytest.param(lambda: lzma.compress(ZEROS, preset=0), "xz", id="xz"),
        pytest.param(lambda: a_tar(file("a", ZEROS), mode="w:gz"), "tgz", id="tar"),
        pytest.param(lambda: a_zip(a=ZEROS), "zip", id="zip"),
        pytest.param(_overlapping_zip, "zip", id="zip that counts the same bytes again and again"),
        pytest.param(lambda: a_tar(*(file(str(n), b"") for n in range(200))), "tar", id="many files"),
        pytest.param(
            lambda: a_tar(*(special(str(n), tarfile.DIRTYPE) for n in range(200))),
            "tar",
            id="many directories",
        ),
        pytest.param(lambda: a_tar(file("/".join(["d"] * 1500))), "tar", id="deep directories"),
        pytest.param(lambda: a_zip(**{"/".join(["d"] * 1500): b""}), "zip", id="deep directories in a zip"),
        pytest.param(lambda: gzip.compress(gzip.compress(ZEROS))[:-20], "gz", id="cut off"),
    ],
)
def test_what_would_fill_the_disk_is_refused(make: Callable[[], bytes], kind: str, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    archive = tmp_path / f"archive.{kind}"
    archive.write_bytes(make())
    with pytest.raises(FetchFailed):
        unpack(str(archive), kind, str(target), name=f"archive.{kind}", limits=SMALL)
    written = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
    assert written <= SMALL.bytes_max


def test_a_sparse_file_takes_no_more_than_it_has(tmp_path: Path) -> None:
    archive = tmp_path / "a.tar"
    with tarfile.open(archive, "w", format=tarfile.PAX_FORMAT) as made:
        _sparse(made)
    target = tmp_path / "target"
    target.mkdir()
    with contextlib.suppress(FetchFailed):  # to refuse it is fine, too
        unpack(str(archive), "tar", str(target), name="a.tar", limits=SMALL)
    assert sum(path.stat().st_size for path in target.rglob("*") if path.is_file()) <= SMALL.bytes_max


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        pytest.param(a_tar(file("../out")), "tar", id="dots"),
        pytest.param(a_tar(file("/tmp/out")), "tar", id="absolute"),
        pytest.param(
            a_tar(special("l", tarfile.SYMTYPE, "/"), file("l/tmp/out")), "tar", id="through a link"
        ),
        pytest.param(a_tar(special("l", tarfile.SYMTYPE, "../..")), "tar", id="link that leads out"),
        pytest.param(a_tar(special("h", tarfile.LNKTYPE, "/etc/passwd")), "tar", id="hard link"),
        pytest.param(a_tar(special("d", tarfile.CHRTYPE)), "tar", id="device"),
        pytest.param(a_tar(special("p", tarfile.FIFOTYPE)), "tar", id="pipe"),
        pytest.param(a_zip(**{"../out": b"x"}), "zip", id="dots in a zip"),
        pytest.param(a_zip(**{"a/../../out": b"x"}), "zip", id="dots within a zip's path"),
        pytest.param(
            a_zip_entry("l", b"/etc", stat.S_IFLNK | 0o777), "zip", id="link that leads out of a zip"
        ),
    ],
)
def test_nothing_is_put_outside(content: bytes, kind: str, tmp_path: Path) -> None:
    target = tmp_path / "a" / "target"
    target.mkdir(parents=True)
    archive = tmp_path / f"archive.{kind}"
    archive.write_bytes(content)
    with pytest.raises(FetchFailed):
        unpack(str(archive), kind, str(target), name=f"archive.{kind}", limits=SMALL)
    outside = [path.name for path in tmp_path.rglob("*") if target not in path.parents]
    assert sorted(outside) == ["a", f"archive.{kind}", "target"]
    assert not Path("/tmp/out").exists()


@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_no_file_is_more_than_its_owners(kind: str, tmp_path: Path) -> None:
    """What an archive says of set-user-id programs is not believed."""
    content = (
        a_tar(file("a", mode=0o6777)) if kind == "tar" else a_zip_entry("a", b"x", stat.S_IFREG | 0o6777)
    )
    (tmp_path / "a.bin").write_bytes(content)
    target = tmp_path / "target"
    target.mkdir()
    unpack(str(tmp_path / "a.bin"), kind, str(target), name="a.bin", limits=SMALL)
    assert (target / "a").stat().st_mode & 0o6000 == 0


def test_the_operator_sets_the_limits(tmp_path: Path) -> None:
    config = tmp_path / "client.hcl"
    config.write_text(
        'client {\n enabled = true\n artifact {\n decompression_size_limit = "1MB"\n'
        ' decompression_file_count_limit = 10\n http_max_size = "2MB"\n }\n}'
    )
    settings = client_settings(load(AgentFlags(config=(str(config),), data_dir=str(tmp_path), client=True)))
    artifact = settings.artifact
    assert (artifact.unpacked_bytes_max, artifact.unpacked_files_max) == (1_000_000, 10)
    assert artifact.http_max_bytes == 2_000_000
